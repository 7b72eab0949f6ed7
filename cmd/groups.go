package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// groups folds the lines of a step together where a CI service shows them.
type groups struct {
	out     io.Writer
	service string // github, gitlab or none
	now     func() time.Time
	open    string
	opened  int
}

// ciService tells whose log stderr ends up in.
func ciService() string {
	switch {
	case os.Getenv("GITHUB_ACTIONS") == "true":
		return "github"
	case os.Getenv("GITLAB_CI") == "true":
		return "gitlab"
	}
	return ""
}

// begin closes the group before and opens one.
func (g *groups) begin(title string) {
	g.end()
	g.opened++
	g.open = fmt.Sprintf("kagent_%d_%d", os.Getpid(), g.opened)
	switch g.service {
	case "github":
		fmt.Fprintf(g.out, "::group::%s\n", title)
	case "gitlab":
		fmt.Fprintf(g.out, "\x1b[0Ksection_start:%d:%s\r\x1b[0K%s\n", g.now().Unix(), g.open, title)
	}
}

func (g *groups) end() {
	if g.open == "" {
		return
	}
	switch g.service {
	case "github":
		fmt.Fprint(g.out, "::endgroup::\n")
	case "gitlab":
		fmt.Fprintf(g.out, "\x1b[0Ksection_end:%d:%s\r\x1b[0K\n", g.now().Unix(), g.open)
	}
	g.open = ""
}

// harmless takes from a text what GitHub would take for a command to it: what is
// said may come from anywhere.
func harmless(service, text string) string {
	if service != "github" {
		return text
	}
	text = strings.ReplaceAll(text, "##[", "## [")
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " \t"); strings.HasPrefix(rest, "::") {
			line = ": " + rest[1:]
		}
		b.WriteString(line)
	}
	return b.String()
}
