package agent

import (
	"embed"
	"strings"
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
