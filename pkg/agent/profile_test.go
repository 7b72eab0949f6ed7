package agent_test

import (
	"slices"
	"strings"
	"testing"

	"kagent/pkg/agent"
)

func TestProfilesAreReadAsOthersWriteThem(t *testing.T) {
	p, warnings, err := agent.ParseProfile("file", []byte("\uFEFF---\r\nname: 审查\r\ndescription: |\r\n  two\r\n  lines\r\ntools:\r\n  - Read\r\n  - Bash(git diff:*)\r\n  - MultiEdit\r\nmodel: inherit\r\n---\r\n\r\nBe careful.\r\n---\r\nreally\r\n"))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if p.Name != "审查" || p.Description != "two lines" || p.Model != "inherit" || p.System != "Be careful.\n---\nreally" {
		t.Errorf("%+v", p)
	}
	if want := []string{"read_file", "shell", "edit_file"}; !slices.Equal(p.Tools, want) {
		t.Errorf("tools %q, want %q", p.Tools, want)
	}
}

func TestToolsOfAProfile(t *testing.T) {
	for line, want := range map[string][]string{
		"":                  nil, // all that the session allows
		"tools:":            nil,
		"tools: '*'":        nil,
		"tools: []":         {},
		"tools: Frob":       {},
		"tools: Grep, Glob": {"grep", "glob"},
	} {
		p, _, err := agent.ParseProfile("f", []byte("---\nname: f\n"+line+"\n---\nx"))
		if err != nil || (p.Tools == nil) != (want == nil) || !slices.Equal(p.Tools, want) {
			t.Errorf("%q: %q, %v, want %q", line, p.Tools, err, want)
		}
	}
}

func TestWhatIsNoProfileIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "front matter",
		"# a heading":                  "front matter",
		"---\nname: x\nno end":         "front matter",
		"---\nname: [\n---\nx":         "front matter",
		"---\nname: a/b\n---\nx":       "not valid",
		"---\nname: x\n---\n \n":       "no system prompt",
		"---\nname: x\n---":            "no system prompt",
		"---\ntools: {a: b}\n---\nx":   "want a list",
		"---\nname: {a: b}\n---\nx":    "front matter",
		"\xff\xfe---\nname: x\n---\nx": "front matter",
		"---\nname: &a [*a]\n---\nx":   "front matter",
		"---\n" + strings.Repeat("[", 1e5) + "\n---\nx": "front matter",
	} {
		_, _, err := agent.ParseProfile("f", []byte(text))
		ok := err != nil && slices.ContainsFunc(strings.Split(want, "|"), func(w string) bool { return strings.Contains(err.Error(), w) })
		if !ok {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: the error has several lines: %v", text, err)
		}
	}
}
