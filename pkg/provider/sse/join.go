package sse

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"kagent/pkg/message"
)

// Joiner puts together a text whose pieces are JSON string literals. Servers
// cut at tokens, so a piece may end in half a character: in the first escape
// of a surrogate pair (😀 is \ud83d\ude00), or in some bytes of a UTF-8
// sequence. Such a tail waits for the next piece.
type Joiner struct {
	b    strings.Builder
	tail []byte // raw, as in the literal
}

// Add takes the next literal, quotes included, and returns the text that is
// certain by now.
func (j *Joiner) Add(literal json.RawMessage) string {
	raw := literal[1 : len(literal)-1]
	if len(j.tail) == 0 && plain(raw) {
		j.b.Write(raw)
		return string(raw)
	}
	raw = append(j.tail, raw...)
	cut := len(raw) - halfAtEnd(raw)
	j.tail = append([]byte(nil), raw[cut:]...)
	return j.decode(raw[:cut])
}

// plain reports whether a literal's inside is its text, as most are.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// End returns what the missing half of the tail has become: U+FFFD, or
// nothing if there is no tail.
func (j *Joiner) End() string {
	raw := j.tail
	j.tail = nil
	return j.decode(raw)
}

func (j *Joiner) decode(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	quoted := append(append([]byte{'"'}, raw...), '"')
	if json.Unmarshal(quoted, &s) != nil {
		s = "\uFFFD" // can't happen: the literals were valid
	}
	s = message.Clean(s)
	j.b.WriteString(s)
	return s
}

// String returns what is certain of the text.
func (j *Joiner) String() string { return j.b.String() }

// halfAtEnd returns the length of the half character that raw ends in.
func halfAtEnd(raw []byte) int {
	if n := len(raw) - 6; n >= 0 {
		if u, ok := message.Escape(string(raw[n:])); ok && 0xD800 <= u && u < 0xDC00 && evenBackslashes(raw[:n]) {
			return 6
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(raw); n++ {
		if last := raw[len(raw)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return n
			}
			break
		}
	}
	return 0
}

// evenBackslashes reports whether a backslash after raw begins an escape.
func evenBackslashes(raw []byte) bool {
	n := len(raw)
	for n > 0 && raw[n-1] == '\\' {
		n--
	}
	return (len(raw)-n)%2 == 0
}
