package secret

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A reading is a text without some of its escapes.
type reading struct {
	text string
	at   []int // where each byte of text began, and where the whole ended; nil: where it is
}

// How escapes are read. What is no escape returns 0.
type unescape func(s string) (plain string, n int)

// maxDepth is how often escapes within escapes are taken away.
const maxDepth = 3

// Readings returns s and what it may stand for without its escapes.
func Readings(s string) []string {
	var texts []string
	for _, r := range readings(s) {
		texts = append(texts, r.text)
	}
	return texts
}

// readings returns s and what it may stand for. Each kind of escape is taken away
// alone, since a key may hold what looks like one of another kind, and all together.
func readings(s string) []reading {
	all := []reading{{text: s}}
	if !strings.ContainsAny(s, `\%&`) {
		return all
	}
	kinds := map[byte]unescape{'\\': ofJSON, '%': ofAddress, '&': ofHTML}
	for mark, kind := range kinds {
		if strings.IndexByte(s, mark) >= 0 {
			all = append(all, all[0].plain(map[byte]unescape{mark: kind}))
		}
	}
	last := all[0]
	for range maxDepth {
		next := last.plain(kinds)
		if next.text == last.text {
			break
		}
		all = append(all, next)
		last = next
	}
	return all
}

// plain takes one level of escapes away.
func (r reading) plain(kinds map[byte]unescape) reading {
	var b strings.Builder
	at := make([]int, 0, len(r.text)+1)
	for i := 0; i < len(r.text); {
		plain, n := r.text[i:i+1], 1
		if kind := kinds[r.text[i]]; kind != nil {
			if p, m := kind(r.text[i:]); m > 0 {
				plain, n = p, m
			}
		}
		for range len(plain) {
			at = append(at, r.place(i))
		}
		b.WriteString(plain)
		i += n
	}
	return reading{b.String(), append(at, r.place(len(r.text)))}
}

func (r reading) place(i int) int {
	if r.at == nil {
		return i
	}
	return r.at[i]
}

// find adds the places in the original text where f is in this reading.
func (r reading) find(all []finding, f form) []finding {
	for from := 0; ; {
		i := strings.Index(r.text[from:], f.text)
		if i < 0 {
			return all
		}
		from += i
		if f.word && !isWord(r.text, from, from+len(f.text)) {
			from++
			continue
		}
		all = append(all, finding{r.place(from), r.place(from + len(f.text)), f.name})
		from += len(f.text)
	}
}

// isWord reports whether a part of a text has no letter or digit at either side.
func isWord(s string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return !unicode.In(before, unicode.L, unicode.N) && !unicode.In(after, unicode.L, unicode.N)
}

// ofJSON reads what a string of JSON, or of a language like it, may have.
func ofJSON(s string) (string, int) {
	if len(s) < 2 {
		return "", 0
	}
	switch s[1] {
	case '"', '\\', '/', '\'':
		return s[1:2], 2
	case 'n':
		return "\n", 2
	case 't':
		return "\t", 2
	case 'r':
		return "\r", 2
	case 'x':
		if c, ok := hex(s, 2, 2); ok {
			return string(c), 4
		}
	case 'u':
		c, ok := hex(s, 2, 4)
		if !ok {
			return "", 0
		}
		if low, ok := hex(s, 8, 4); ok && s[6:8] == `\u` && utf16.IsSurrogate(c) {
			if whole := utf16.DecodeRune(c, low); whole != utf8.RuneError {
				return string(whole), 12
			}
		}
		return string(c), 6
	}
	return "", 0
}

// hex reads digits from a place on.
func hex(s string, from, digits int) (rune, bool) {
	if len(s) < from+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(s[from:from+digits], 16, 32)
	return rune(n), err == nil
}

func ofAddress(s string) (string, int) {
	c, ok := hex(s, 1, 2)
	if !ok {
		return "", 0
	}
	return string([]byte{byte(c)}), 3
}

// longestEntity is "&CounterClockwiseContourIntegral;".
const longestEntity = 33

func ofHTML(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), longestEntity)], ';')
	if end < 0 {
		return "", 0
	}
	plain := html.UnescapeString(s[:end+1])
	if plain == s[:end+1] {
		return "", 0
	}
	return plain, end + 1
}
