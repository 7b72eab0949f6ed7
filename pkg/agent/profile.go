package agent

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"kagent/pkg/message"
	"kagent/pkg/session"
	"kagent/pkg/userfile"
)

// ParseProfile reads an agent that nodes of a task graph may be given to:
// Markdown with front matter (name, description, tools, model), the body is its
// system prompt. This is the form that other agents' users have; their names of
// tools are understood. Fields that are not known are passed over. file is the
// name where the front matter gives none. Warnings tell what was left out.
func ParseProfile(file string, text []byte) (p session.Profile, warnings []string, err error) {
	head, body, ok := frontMatter(text)
	if !ok {
		return p, nil, errors.New("it does not begin with front matter between two lines of ---")
	}
	var f struct {
		Name        string    `yaml:"name"`
		Description string    `yaml:"description"`
		Tools       yaml.Node `yaml:"tools"`
		Model       string    `yaml:"model"`
	}
	if err := userfile.YAML(head, &f, false); err != nil {
		return p, nil, fmt.Errorf("front matter: %w", err)
	}
	p = session.Profile{
		Name: strings.TrimSpace(f.Name), Description: flat(message.Clean(f.Description)),
		Model: strings.TrimSpace(f.Model), System: strings.TrimSpace(message.Clean(string(body))),
	}
	if p.Name == "" {
		p.Name = file
	}
	switch {
	case !session.LegalNodeID(p.Name):
		return p, nil, fmt.Errorf("the name %q is not valid: want 1 to 64 letters, digits, - and _", p.Name)
	case p.System == "":
		return p, nil, errors.New("there is no system prompt below the front matter")
	}
	p.Tools, warnings, err = profileTools(&f.Tools)
	return p, warnings, err
}

// frontMatter cuts a text at its two lines of dashes.
func frontMatter(text []byte) (head, body []byte, ok bool) {
	text = bytes.TrimPrefix(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\uFEFF"))
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return nil, nil, false
	}
	head, body, ok = bytes.Cut(append([]byte("\n"), rest...), []byte("\n---\n"))
	if !ok {
		head, ok = bytes.CutSuffix(append([]byte("\n"), bytes.TrimRight(rest, "\n")...), []byte("\n---"))
	}
	return head, body, ok
}

// profileTools reads a list, or names between commas; nil stands for all.
func profileTools(n *yaml.Node) (tools, warnings []string, err error) {
	var names []string
	switch {
	case n.IsZero() || n.Tag == "!!null":
		return nil, nil, nil
	case n.Kind == yaml.ScalarNode:
		names = strings.Split(n.Value, ",")
	case n.Decode(&names) != nil:
		return nil, nil, fmt.Errorf("front matter: line %d: tools: want a list of names", n.Line)
	}
	tools = []string{}
	for _, name := range names {
		name, _, _ = strings.Cut(strings.TrimSpace(name), "(") // what follows are patterns of others
		switch known := theirTools(name); {
		case name == "":
		case name == "*":
			return nil, nil, nil
		case known != "":
			tools = append(tools, known)
		default:
			warnings = append(warnings, fmt.Sprintf("there is no tool %q: it is left out", name))
		}
	}
	return tools, warnings, nil
}

// theirTools returns our name of a tool, by ours or by what others call it.
func theirTools(name string) string {
	switch strings.ToLower(name) {
	case "read", "read_file", "notebookread":
		return "read_file"
	case "ls", "list", "list_files":
		return "list_files"
	case "glob", "glob_search":
		return "glob"
	case "grep", "grep_search", "search":
		return "grep"
	case "write", "write_file":
		return "write_file"
	case "apply_patch", "applypatch", "patch":
		return "apply_patch"
	case "edit", "multiedit", "edit_file":
		return "edit_file"
	case "bash", "shell", "execute":
		return "shell"
	}
	return ""
}
