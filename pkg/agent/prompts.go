package agent

import (
	"embed"
	"strings"

	"kagent/pkg/session"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// prompt returns an embedded prompt; the files are part of the program, so a
// missing one is a mistake that every test would show.
func prompt(name string) string {
	b, err := promptFiles.ReadFile("prompts/" + name + ".md")
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(b))
}

// promptWith returns an embedded prompt with what it is about below it.
func promptWith(name, text string) string { return prompt(name) + "\n\n" + text }

// DefaultSystem is the system prompt of a session that is given none.
func DefaultSystem() string { return prompt("system") }

// GivenSystem is the part of a scope's system prompt that a person has given: the
// session's own, or a profile's. It is "" where all of it is built in.
func GivenSystem(s *session.State, sc *session.Scope) string {
	given := s.Settings.System
	switch {
	case sc == nil || sc.Child == nil:
	case s.Asks(sc): // a question of ours
		return ""
	case sc.Child.Profile != "":
		if given = ""; s.Settings.Profile(sc.Child.Profile) != nil {
			given = s.Settings.Profile(sc.Child.Profile).System
		}
	}
	if given == DefaultSystem() {
		return ""
	}
	return given
}
