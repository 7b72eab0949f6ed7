package secret

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// minLooks is the least length of what looks like a secret, in characters.
const minLooks = 8

// Looks reports whether a value can be a secret, if its name says that it is one.
// What is a word, a number, a path or an address is none: to mask it would destroy
// ordinary text. If the name is not sure the value must look random.
func Looks(value string, sure bool) bool {
	value = strings.TrimSpace(value)
	switch {
	case strings.Contains(value, "://") || isReference(value):
		return false
	case isPathLike(value) && !tooPlain(value):
		return 3*Turns(value) >= len(value)
	case !sure:
		return len(value) >= 16 && Turns(value) >= 4 && !tooPlain(value)
	}
	return LooksKey(value)
}

// LooksKey reports whether a key that a service is sent can be a secret. Servers
// without keys are given some word, "lm-studio" or "not-needed", which stands in
// any text. A key may well begin as a path does.
func LooksKey(value string) bool {
	value = strings.TrimSpace(value)
	switch {
	case tooPlain(value) || isReference(value):
		return false
	case only(value, isDigit, ".:,-+/ TZ"):
		return len(value) >= 16
	case only(value, isLetter, "-_./:, "):
		return len(value) >= 20 || Turns(value) >= 2 || strings.Count(value, " ") >= 2
	}
	return true
}

// tooPlain reports whether a value is too short or too monotonous for a secret, or
// says itself that it is none.
func tooPlain(value string) bool {
	small := strings.ToLower(value)
	return utf8.RuneCountInString(value) < minLooks || variety(value) < 4 ||
		slices.ContainsFunc([]string{"your-", "your_", "your ", "changeme", "change-", "change_", "example", "placeholder", "dummy"},
			func(s string) bool { return strings.HasPrefix(small, s) })
}

// isReference reports whether something else was meant to be put in place of s.
func isReference(s string) bool {
	name, ok := strings.CutPrefix(s, "$")
	return ok && only(name, isUpper, "_") ||
		strings.HasPrefix(s, "${") && strings.HasSuffix(s, "}") || strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") ||
		strings.HasPrefix(s, "{{") && strings.HasSuffix(s, "}}")
}

// variety counts different characters, up to four.
func variety(s string) int {
	var seen []rune
	for _, r := range s {
		if !slices.Contains(seen, r) {
			if seen = append(seen, r); len(seen) == 4 {
				break
			}
		}
	}
	return len(seen)
}

func isPathLike(s string) bool {
	return slices.ContainsFunc([]string{"/", "./", "../", "~", `\\`, "unix:"}, func(p string) bool { return strings.HasPrefix(s, p) }) ||
		len(s) > 3 && isAlnum(s[0]) && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// Turns counts the places where a letter and a digit meet, and where a capital
// follows a small letter. Random text is full of them, words have few.
func Turns(s string) int {
	n := 0
	for i := 1; i < len(s); i++ {
		a, b := s[i-1], s[i]
		if isAlnum(a) && isAlnum(b) && (isDigit(a) != isDigit(b) || isLower(a) && isUpper(b)) {
			n++
		}
	}
	return n
}

// only reports whether s has nothing but bytes of a class and some further ones.
func only(s string, class func(byte) bool, more string) bool {
	for i := range len(s) {
		if !class(s[i]) && strings.IndexByte(more, s[i]) < 0 {
			return false
		}
	}
	return true
}

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return isLower(c) || isUpper(c) }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
