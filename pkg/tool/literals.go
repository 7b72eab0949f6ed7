package tool

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// possible reports whether a line may match at all.
func (x *expression) possible(line []byte) bool {
	if x.needs == nil {
		return true
	}
	if x.fold {
		x.small = appendSmall(x.small[:0], line)
		line = x.small
	}
	return slices.ContainsFunc(x.needs, func(need []byte) bool { return bytes.Contains(line, need) })
}

// literals returns texts of which one is in everything that re matches, or
// nothing when that can't be said. Looking for them is many times faster than
// matching.
func (x *expression) literals(re *syntax.Regexp) [][]byte {
	switch re.Op {
	case syntax.OpLiteral:
		return x.literal(re)
	case syntax.OpCapture, syntax.OpPlus:
		return x.literals(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return x.literals(re.Sub[0])
		}
	case syntax.OpConcat:
		var best [][]byte
		for _, sub := range re.Sub {
			if l := x.literals(sub); shortest(l) > shortest(best) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all [][]byte
		for _, sub := range re.Sub {
			l := x.literals(sub)
			if l == nil || len(all)+len(l) > 8 {
				return nil
			}
			all = append(all, l...)
		}
		return all
	}
	return nil
}

// literal returns the longest part of a literal that has but one spelling, case
// of ASCII letters aside. K and S have more, as the Kelvin sign shows; U+FFFD
// is matched by every invalid byte.
func (x *expression) literal(re *syntax.Regexp) [][]byte {
	folded := re.Flags&syntax.FoldCase != 0
	x.fold = x.fold || folded
	parts := strings.FieldsFunc(string(re.Rune), func(r rune) bool {
		return r == utf8.RuneError || folded && (r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r))
	})
	if len(parts) == 0 {
		return nil
	}
	return [][]byte{[]byte(slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) }))}
}

// appendSmall appends text with its ASCII letters made small.
func appendSmall(to, text []byte) []byte {
	for _, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

func shortest(texts [][]byte) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b []byte) int { return len(a) - len(b) }))
}
