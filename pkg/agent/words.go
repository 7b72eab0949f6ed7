package agent

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// anywhere returns the objects of a text, which may be a decision wherever they
// stand. A bare list is often something that is only talked about: it has to end
// the text or stand in a fence.
func anywhere(text string) (said []json.RawMessage) {
	if raw := whole(text); raw != nil {
		return []json.RawMessage{raw}
	}
	text = thoughts.ReplaceAllString(text, "")
	for _, p := range pieces(text) {
		if text[p.from] == '{' || ends(text[p.to:]) || fenced(text[:p.from], text[p.to:]) {
			said = append(said, p.raw)
		}
	}
	return said
}

// conclusion returns the object that ends a text, for decisions that nobody
// looks at again: one that is quoted on the way to another must not count. With
// words before it, it needs all of its fields, each by one of its names; one that
// stands alone is as good as a call, and so is the only one if it comes first, on
// lines of its own: many models explain themselves behind it.
func conclusion(fields ...[]string) func(text string) []json.RawMessage {
	return func(text string) []json.RawMessage {
		if raw := whole(text); raw != nil {
			return []json.RawMessage{raw}
		}
		text = thoughts.ReplaceAllString(text, "")
		all := pieces(text)
		if len(all) == 0 {
			return nil
		}
		last := all[len(all)-1]
		if len(all) == 1 && begins(text[:last.from]) && wordless(text[last.to:]) {
			return []json.RawMessage{last.raw}
		}
		if !ends(text[last.to:]) || !begins(text[:last.from]) && !recordOf(last.raw).has(fields) {
			return nil
		}
		return []json.RawMessage{last.raw}
	}
}

// trailing is what may follow what ends a text. A question mark is none of it.
var trailing = regexp.MustCompile("^(?:[\\s`~*_.,;!)}\\]。！]|</\\w+>|<\\|\\w+\\|>)*$")

func ends(rest string) bool { return trailing.MatchString(rest) }

// leading is what may precede what stands alone: a tag, a fence.
var leading = regexp.MustCompile("^\\s*(?:<\\w+>\\s*)?(?:[`~]+\\w*\\s*)?$")

func begins(start string) bool { return leading.MatchString(start) }

// wordless reports whether the line goes on without words.
func wordless(rest string) bool {
	line, _, _ := strings.Cut(rest, "\n")
	return !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// opened is a line that opens a fence.
var opened = regexp.MustCompile("^[ \t]*(?:```|~~~)[ \t]*\\w*$")

// fenced looks no further back than the line above: there may be a million lists.
func fenced(start, rest string) bool {
	line := strings.TrimSpace(start[max(0, len(start)-100):])
	line = line[strings.LastIndexByte(line, '\n')+1:]
	rest = strings.TrimLeft(rest, " \t\r\n")
	return opened.MatchString(line) && (strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~"))
}

// has reports whether every field is there, by one of its names.
func (r record) has(fields [][]string) bool {
	for _, names := range fields {
		if r.field(names...) == nil {
			return false
		}
	}
	return true
}
