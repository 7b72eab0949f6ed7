package demo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/demo"
)

// world is a directory: names to contents, with a listing as list_files prints
// it. A nil tools map offers nothing.
type world struct {
	listing string
	files   map[string]string
	tools   []string
	fails   map[string]string // tool or path to error
}

func both() []string { return []string{"list_files", "read_file", "shell"} }

// call runs a tool that the demo asked for.
func (w world) call(t *testing.T, c message.ToolCall) message.Message {
	t.Helper()
	var args map[string]string
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil || len(args) != 1 {
		t.Fatalf("%s: arguments %s: %v", c.Name, c.Arguments, err)
	}
	r := message.ToolResult{ID: c.ID, Name: c.Name}
	text, known := w.files[args["path"]]
	switch {
	case w.fails[c.Name] != "":
		r.Text, r.IsError = w.fails[c.Name], true
	case w.fails[args["path"]] != "":
		r.Text, r.IsError = w.fails[args["path"]], true
	case c.Name == "list_files" && args["path"] == ".":
		r.Text = w.listing
	case c.Name == "read_file" && known:
		r.Text = text
	default:
		t.Fatalf("unexpected call %s %s", c.Name, c.Arguments)
	}
	return message.Message{Role: message.Tool, Parts: []message.Part{message.Result(r)}}
}

// session is a conversation that goes on.
type session struct {
	world
	msgs    []message.Message
	replies int
	calls   []string // what was called, "tool path"
	batches []int    // how many calls each reply had
}

func (s *session) request() provider.Request {
	req := provider.Request{Messages: s.msgs, Label: provider.Label{Ordinal: s.replies + 1, Attempt: 1}}
	for _, name := range s.tools {
		req.Tools = append(req.Tools, message.ToolSpec{Name: name})
	}
	return req
}

// ask adds a question and runs the demo until it answers.
func (s *session) ask(t *testing.T, question string) string {
	t.Helper()
	s.msgs = append(s.msgs, message.Message{Role: message.User, Parts: []message.Part{message.Text(question)}})
	for range 5 {
		var streamed strings.Builder
		reply, err := demo.New().Stream(t.Context(), s.request(), func(e provider.Event) {
			if e.Text == "" {
				t.Errorf("empty piece: %+v", e)
			}
			streamed.WriteString(e.Text)
		})
		if err != nil {
			t.Fatal(err)
		}
		said := message.Message{Role: message.Assistant, Parts: reply.Parts}
		s.replies++
		s.msgs = append(s.msgs, said)
		if said.Text() != streamed.String() {
			t.Errorf("streamed %q, replied %q", streamed.String(), said.Text())
		}
		if len(said.Calls()) == 0 {
			if reply.Stop != message.StopEnd {
				t.Errorf("stop %q", reply.Stop)
			}
			return said.Text()
		}
		if reply.Stop != message.StopCalls {
			t.Errorf("stop %q", reply.Stop)
		}
		s.batches = append(s.batches, len(said.Calls()))
		for _, c := range said.Calls() {
			var args struct{ Path string }
			_ = json.Unmarshal([]byte(c.Arguments), &args)
			s.calls = append(s.calls, c.Name+" "+args.Path)
			s.msgs = append(s.msgs, s.call(t, c))
		}
	}
	t.Fatalf("no answer after %q", s.calls)
	return ""
}

// project is a world that has everything.
func project() world {
	return world{
		tools:   both(),
		listing: ".git/\n.env\t10\ncmd/\ngo.mod\t20\ngo.sum\t9\nlatest -> go.mod\nlogo.png\t999\nmain.go\t30\npipe\t(named pipe)\nREADME.md\t40\n",
		files: map[string]string{
			"README.md": "# Tidepool\n\nText\n\n```sh\n# no heading\n```\n\n## Install\n",
			"go.mod":    "module example.org/tidepool\n\ngo 1.26\n",
			"main.go":   "\n// Command tidepool predicts tides.\npackage main\n",
		},
	}
}

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}
