package checkpoint

import (
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

func TestSyncsOfAStepWithAnEffect(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	for _, calls := range []int{1, 1, 8} {
		fsys.reset()
		toolStep(t, j, "I look.", "a", calls)
		log, checkpoint, dirs := fsys.count("sync events.jsonl"), fsys.count("sync checkpoint.tmp"), fsys.count("syncdir")
		if log > 2 || checkpoint > 1 || dirs > 1 || fsys.count("sync ") != log+checkpoint {
			t.Errorf("%d calls: %d syncs of the log, %d of the checkpoint, %d of directories", calls, log, checkpoint, dirs)
		}
	}
	fsys.reset()
	answer(t, j, "Done.")
	if n := fsys.count("sync "); n > 2 {
		t.Errorf("the answer took %d syncs", n)
	}
}

// payload is what an event has to say, without names of fields and the like.
func payload(t tb, d session.Data) int {
	t.Helper()
	text := func(s string) int {
		b, err := encodeJSON(s)
		check(t, err)
		return len(b)
	}
	switch d := d.(type) {
	case *session.UserMessage:
		return text(d.Text)
	case *session.AssistantChunk:
		return text(d.Text)
	case *session.ToolResult:
		return text(d.Text)
	case *session.AssistantMessage:
		n := 0
		for _, p := range d.Parts {
			n += text(p.Text)
			if p.Call != nil {
				n += text(p.Call.ID) + text(p.Call.Name) + text(p.Call.Arguments)
			}
		}
		return n
	case *session.Created:
		return text(d.Task) + text(d.Settings.System)
	}
	return 0
}

// The log grows by what is new, whatever there is already.
func TestBytesOfTheLog(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	for _, text := range []string{"", "a\nb", "<html>&amp;", "读取文件", strings.Repeat("\x1b[31m", 100), strings.Repeat("0123456789", 20_000)} {
		toolStep(t, j, text, text, 2)
		check(t, j.Append("", &session.AssistantChunk{Text: text}))
	}
	answer(t, j, "Done.")
	fresh, events := 0, 0
	err := s.Events(t.Context(), "s", false, func(e session.Event) { fresh += payload(t, e.Data); events++ })
	check(t, err)
	got := fsys.written["events.jsonl"]
	if limit := fresh*11/10 + 400*events; int(got) > limit {
		t.Errorf("%d bytes written for %d new ones in %d events, limit %d", got, fresh, events, limit)
	}
	if size := len(slurp(t, j.paths.log)); int(got) != size {
		t.Errorf("%d bytes written for a log of %d", got, size)
	}
}

// request is what an OpenAI service would be sent for the session.
func request(t tb, s *session.State) int {
	t.Helper()
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	type msg struct {
		Role       message.Role `json:"role"`
		ToolCallID string       `json:"tool_call_id,omitempty"`
		Content    string       `json:"content"`
		ToolCalls  []call       `json:"tool_calls,omitempty"`
	}
	msgs := []msg{{Role: "system", Content: s.Settings.System}}
	for _, m := range s.Main().Messages() {
		out := msg{Role: m.Role, Content: m.Text()}
		for _, c := range m.Calls() {
			out.ToolCalls = append(out.ToolCalls, call{c.ID, "function", function{c.Name, c.Arguments}})
		}
		if m.Role == message.Tool {
			r := m.Parts[0].Result
			out.ToolCallID, out.Content = r.ID, r.Text
		}
		msgs = append(msgs, out)
	}
	b, err := encodeJSON(msgs)
	check(t, err)
	return len(b)
}

// The checkpoint holds what the model is sent, once.
func TestBytesOfTheCheckpoint(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	for n := range 20 {
		text := strings.Repeat("I look <here>. ", n*100)
		ask(t, j, text, 3)
		begin(t, j)
		check(t, j.Append("", &session.ToolResult{Call: j.State().Main().Pending()[0].ID, Outcome: session.OutcomeOK, Text: "first"}))
		check(t, j.Commit()) // two calls in doubt
		settle(t, j, strings.Repeat("a.go\n", n*50))
		if got, limit := len(slurp(t, j.paths.checkpoint)), request(t, j.State())+4<<10; got > limit {
			t.Errorf("step %d: the checkpoint has %d bytes, limit %d", n+1, got, limit)
		}
	}
	last := strings.Repeat("All is well. ", 1000)
	fsys.reset()
	answer(t, j, last)
	if got, limit := len(slurp(t, j.paths.checkpoint)), request(t, j.State())+4<<10+len(last); got > limit {
		t.Errorf("at the end the checkpoint has %d bytes, limit %d", got, limit)
	}
	if n := fsys.count("write checkpoint.tmp"); n != 1 {
		t.Errorf("the checkpoint was written %d times", n)
	}
}

func TestOneReadOfTheLogPerOpen(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "s")
	toolStep(t, j, "I look.", strings.Repeat("0123456789", 20_000), 3)
	check(t, j.Close())
	size := int64(len(slurp(t, j.paths.log)))
	fsys.reset()
	j, _ = reopen(t, s, "s")
	check(t, j.Close())
	if n := fsys.read["events.jsonl"]; n > size+1024 {
		t.Errorf("open read %d bytes of a log of %d", n, size)
	}
	fsys.reset()
	_, err := s.Read("s")
	check(t, err)
	if n, size := fsys.read["events.jsonl"], int64(len(slurp(t, j.paths.log))); n != size {
		t.Errorf("a reader read %d bytes of a log of %d", n, size)
	}
	if _, err := s.Create("s", task); err != ErrExists {
		t.Fatalf("%v", err)
	}
}

// Appending costs the same at the beginning and at the end of a long session.
func TestAppendReadsNothing(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	toolStep(t, j, "I look.", strings.Repeat("x", 1<<20), 1)
	fsys.reset()
	check(t, j.Append("", said("hello")))
	if n := fsys.count("read"); n != 0 {
		t.Errorf("%d reads", n)
	}
	if n := fsys.written["events.jsonl"]; n > 400 || fsys.count("write") != 1 {
		t.Errorf("%d bytes in %d writes", n, fsys.count("write"))
	}
}
