package demo

import (
	"encoding/json"
	"strconv"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// turn is what has happened since the user spoke last.
type turn struct {
	question string
	note     string
	attached []attachment
	tools    []message.ToolSpec
	done     []outcome
}

// outcome is a call and what it brought.
type outcome struct {
	message.ToolResult
	path     string // out of the call's arguments
	answered bool
}

func lastTurn(req provider.Request) *turn {
	t := &turn{tools: req.Tools, note: req.Note}
	for _, m := range req.Messages {
		switch m.Role {
		case message.User:
			t.done = nil
			t.question, t.attached = divide(m.Text())
		default:
			t.follow(m)
		}
	}
	return t
}

// follow notes calls, and results at the call they belong to.
func (t *turn) follow(m message.Message) {
	for _, c := range m.Calls() {
		var args struct{ Path string }
		_ = json.Unmarshal([]byte(c.Arguments), &args) // no path, then
		t.done = append(t.done, outcome{ToolResult: message.ToolResult{ID: c.ID, Name: c.Name}, path: args.Path})
	}
	for _, p := range m.Parts {
		if p.Type == message.TypeResult && p.Result != nil {
			o := t.open(*p.Result)
			o.ToolResult, o.answered = *p.Result, true
		}
	}
}

// open returns the call that waits for r.
func (t *turn) open(r message.ToolResult) *outcome {
	for i := range t.done {
		if o := &t.done[i]; !o.answered && o.ID == r.ID && o.Name == r.Name {
			return o
		}
	}
	t.done = append(t.done, outcome{})
	return &t.done[len(t.done)-1]
}

// tried reports whether the tool was asked for in this turn.
func (t *turn) tried(tool string) bool { return t.outcome(tool) != nil }

// outcome returns the last call of the tool in this turn.
func (t *turn) outcome(tool string) *outcome {
	for i := len(t.done) - 1; i >= 0; i-- {
		if t.done[i].Name == tool {
			return &t.done[i]
		}
	}
	return nil
}

// attachment is text that came with a question: standard input or a file.
type attachment struct{ name, text string }

// opening is the line before an attachment; "</", its tag and ">" follow it.
var opening = pattern(`(?m)^<((?:stdin|file)(?:-\d+)?)(?: path=(".*"))?>\n`)

// divide tells a user's question from what is attached to it.
func divide(text string) (question string, attached []attachment) {
	for at := opening().FindStringSubmatchIndex(text); at != nil; at = opening().FindStringSubmatchIndex(text) {
		a := attachment{name: "standard input"}
		if at[4] >= 0 {
			a.name = text[at[4]:at[5]]
			if path, err := strconv.Unquote(a.name); err == nil {
				a.name = path
			}
		}
		if len(attached) == 0 {
			question = text[:at[0]]
		}
		a.text, text, _ = strings.Cut(text[at[1]:], "</"+text[at[2]:at[3]]+">")
		attached = append(attached, a)
	}
	if len(attached) == 0 {
		question = text
	}
	return strings.TrimSpace(question), attached
}
