package message

import (
	"iter"
	"strconv"
	"strings"
)

// CleanEscapes replaces escapes in a JSON text that strict services refuse
// for ever: NUL and lone halves of surrogate pairs become U+FFFD.
func CleanEscapes(s string) string {
	if !strings.Contains(s, `\u`) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		n := strings.IndexByte(s, '\\')
		if n < 0 || n+1 >= len(s) {
			break
		}
		b.WriteString(s[:n])
		s = s[n:]
		u, ok := Escape(s)
		if !ok {
			b.WriteString(s[:2])
			s = s[2:]
			continue
		}
		n = 6
		whole := s[:n]
		switch {
		case u >= 0xD800 && u < 0xDC00:
			if low, ok := Escape(s[6:]); ok && low >= 0xDC00 && low < 0xE000 {
				n = 12
				whole = s[:n]
			} else {
				whole = `\ufffd`
			}
		case u == 0 || u >= 0xDC00 && u < 0xE000:
			whole = `\ufffd`
		}
		b.WriteString(whole)
		s = s[n:]
	}
	b.WriteString(s)
	return b.String()
}

// Escape returns the code unit of the \uXXXX that s begins with.
func Escape(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(u), err == nil
}

// Nesting counts the levels of objects and lists in a JSON text.
func Nesting(raw []byte) (deepest int) {
	for _, level := range Levels(raw) {
		deepest = max(deepest, level)
	}
	return deepest
}

// Levels yields the place of each bracket in a JSON text, and how many are open
// behind it. Brackets in strings don't count, and whether they fit each other is
// for others to say.
func Levels[T ~string | ~[]byte](text T) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		level, quoted := 0, false
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case quoted && c == '\\':
				i++
				continue
			case c == '"':
				quoted = !quoted
				continue
			case quoted:
				continue
			case c == '{' || c == '[':
				level++
			case c == '}' || c == ']':
				level--
			default:
				continue
			}
			if !yield(i, level) {
				return
			}
		}
	}
}
