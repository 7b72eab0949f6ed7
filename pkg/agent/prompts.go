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

// A brief is what a child is told: headed sections, of which the empty ones are
// left out and the long ones cut in the middle.
type brief struct{ b strings.Builder }

func (b *brief) section(title, text string, limit int) *brief {
	if text = strings.TrimSpace(text); text != "" {
		if b.b.Len() > 0 {
			b.b.WriteString("\n\n")
		}
		b.b.WriteString("# " + title + "\n\n" + shorten(text, limit))
	}
	return b
}

func (b *brief) String() string { return b.b.String() }
