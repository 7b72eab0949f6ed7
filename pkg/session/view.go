package session

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"kagent/pkg/message"
)

// View is what a model is sent of a conversation.
type View struct {
	System   string
	Messages []message.Message
}

// View returns what the model of a scope is sent.
func (s *State) View(scope string) View {
	sc := s.scopes[scope]
	if sc == nil {
		return View{System: s.Settings.System}
	}
	return View{System: join(s.system(sc), s.Aside(sc)), Messages: sc.Messages()}
}

// system is the prompt that was given.
func (s *State) system(sc *Scope) string {
	if sc.Child != nil {
		return sc.Child.System
	}
	return s.Settings.System
}

// Aside is what the model of a scope is told, after its system prompt, of what
// is no longer sent: the summary, how much is missing, and what the user asked
// for where that is missing too.
func (s *State) Aside(sc *Scope) string { return s.aside(sc, sc.Cut) }

// How much of the user's own words is repeated.
const (
	wordsRepeated = 2000
	startRepeated = 1000
)

func (s *State) aside(sc *Scope, c Cut) string {
	if c == (Cut{}) {
		return ""
	}
	var parts []string
	if c.Summary != "" {
		parts = append(parts, "[Summary of the earlier conversation]\n"+c.Summary)
	}
	if c.Dropped > 0 {
		parts = append(parts, "["+count(c.Dropped, "earlier turn")+" of this conversation left out]")
	}
	if c.Steps > 0 {
		parts = append(parts, "["+count(c.Steps, "earlier step")+" of the work left out]")
	}
	gone := func(seq int64) bool { return sc.gone(seq, c.Before) }
	if words := sc.Work.words(gone); words != "" {
		parts = append(parts, "[What the user asked for, word for word]\n"+shorten(words, wordsRepeated))
	}
	if gone(sc.taskAt) && sc.Work.Task != s.Task {
		parts = append(parts, "[What the user had asked for first]\n"+shorten(s.Task, startRepeated))
	}
	return strings.Join(parts, "\n\n")
}

// gone reports whether an entry has left where those before a number do.
func (sc *Scope) gone(seq, before int64) bool {
	begin := sc.goesOn()
	return seq > 0 && seq < before && (begin >= len(sc.Entries) || seq < sc.Entries[begin].Seq)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func join(text, more string) string {
	if blank(text) || more == "" {
		return text + more
	}
	return text + "\n\n" + more
}

// shorten takes from the middle of a text what is more than limit characters.
func shorten(text string, limit int) string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	runes := []rune(text)
	head := limit * 2 / 3
	return string(runes[:head]) + fmt.Sprintf(" [… %d characters …] ", n-limit) + string(runes[n-limit+head:])
}

// Chars is the size of the view in characters.
func (v View) Chars() int {
	n := utf8.RuneCountInString(v.System)
	for _, m := range v.Messages {
		n += Chars(m)
	}
	return n
}

// Chars is the size of a message in characters: all that the model reads of
// it, and what its service wants back.
func Chars(m message.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += utf8.RuneCountInString(p.Text) + len(p.Opaque)
		if p.Call != nil {
			n += utf8.RuneCountInString(p.Call.Name) + utf8.RuneCountInString(p.Call.Arguments)
		}
		if p.Result != nil {
			n += utf8.RuneCountInString(p.Result.Text)
		}
	}
	return n
}
