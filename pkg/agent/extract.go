package agent

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"kagent/pkg/message"
)

// objects returns the JSON objects and arrays that stand in a text, in order:
// models put them between fences, prose and thoughts, and leave commas behind
// the last element. What stands inside of one is no other.
func objects(text string) []json.RawMessage {
	if raw := whole(text); raw != nil {
		return []json.RawMessage{raw}
	}
	var found []json.RawMessage
	for _, p := range pieces(thoughts.ReplaceAllString(text, "")) {
		found = append(found, p.raw)
	}
	return found
}

// whole is a text that is one object or array, whatever its texts hold; nil of
// another.
func whole(text string) json.RawMessage {
	text = unfenced(text)
	if !json.Valid([]byte(text)) || !strings.ContainsRune("{[", rune(text[0])) {
		return nil
	}
	return json.RawMessage(text)
}

// A piece is JSON that stands in a text.
type piece struct {
	from, to int // its place
	raw      json.RawMessage
}

// pieces returns those of a text that is without thoughts.
func pieces(text string) (found []piece) {
	for i, looked := 0, 0; i < len(text) && looked < maxLooked; i++ {
		if text[i] != '{' && text[i] != '[' {
			continue
		}
		n, closed := balanced(text[i:])
		if looked += n; !closed {
			continue
		}
		if raw := repaired(text[i : i+n]); raw != nil {
			found = append(found, piece{i, i + n, raw})
			i += n - 1
		}
	}
	return found
}

// unfenced is what stands between the fences of a text that is nothing else, or
// all of it.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	inner, fenced := strings.CutPrefix(text, "```")
	inner, closed := strings.CutSuffix(inner, "```")
	if !fenced || !closed {
		return text
	}
	_, inner, _ = strings.Cut(inner, "\n") // its language
	return strings.TrimSpace(inner)
}

// maxLooked bounds how many bytes are looked at: a text of nothing but opened
// brackets would take hours.
const maxLooked = 16 << 20

// thoughts are what some models say before they answer; one that is not closed
// takes in all that follows.
var thoughts = regexp.MustCompile(`(?s)<think(?:ing)?>.*?(?:</think(?:ing)?>|\z)`)

// balanced is the length of the bracketed text that s begins with, or of what
// was looked at if it is not closed.
func balanced(s string) (n int, closed bool) {
	for i, level := range message.Levels(s) {
		if level == 0 {
			return i + 1, true
		}
	}
	return len(s), false
}

// repaired returns s if it is JSON, maybe without its trailing commas, or with
// the quotes and words of another language.
func repaired(s string) json.RawMessage {
	for _, s := range []string{s, withoutCommas(s), withoutCommas(requoted(s))} {
		if json.Valid([]byte(s)) {
			return json.RawMessage(s)
		}
	}
	return nil
}

// requoted turns single quotes around texts into double ones, and the words of
// Python into those of JSON.
func requoted(s string) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == '\\' && i+1 < len(s):
			if i++; s[i] != '\'' {
				b.WriteByte(c)
			}
			b.WriteByte(s[i])
		case quote == 0 && (c == '"' || c == '\''), quote == c:
			quote ^= c
			b.WriteByte('"')
		case quote == '\'' && c == '"':
			b.WriteString(`\"`)
		case quote == 0 && (c == 'T' || c == 'F' || c == 'N'):
			word, n := pythons(s[i:])
			b.WriteString(word)
			i += n - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// pythons is what JSON has for the word of Python that s begins with, and how
// long that is; of another text its first byte.
func pythons(s string) (string, int) {
	for python, word := range map[string]string{"True": "true", "False": "false", "None": "null"} {
		if strings.HasPrefix(s, python) {
			return word, len(python)
		}
	}
	return s[:1], 1
}

func withoutCommas(s string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quoted && c == '\\' && i+1 < len(s):
			b.WriteByte(c)
			i++
			c = s[i]
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted && closes(s[i+1:]):
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func closes(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return rest != "" && (rest[0] == '}' || rest[0] == ']')
}

// maxNesting bounds what is kept of a vendor's data: readers of our files give
// up, jq at 256 levels and encoding/json at 10,000.
const maxNesting = 200

// A record is an object whose keys are known under more than one name.
type record map[string]json.RawMessage

// field returns the first of the names that is there.
func (r record) field(names ...string) json.RawMessage {
	for _, name := range names {
		if v, ok := r[name]; ok {
			return v
		}
	}
	return nil
}

// text returns a field's text, "" if it is none.
func (r record) text(names ...string) string {
	var s string
	_ = json.Unmarshal(r.field(names...), &s)
	return strings.TrimSpace(s)
}

// name returns a field that names something: a text, or a whole number.
func (r record) name(names ...string) string {
	var n int64
	if raw := r.field(names...); json.Unmarshal(raw, &n) == nil && string(raw) != "null" {
		return strconv.FormatInt(n, 10)
	}
	return r.text(names...)
}

// recordOf reads an object, nil if it is none.
func recordOf(raw json.RawMessage) record {
	var r record
	if json.Unmarshal(raw, &r) != nil {
		return nil
	}
	return r
}
