package checkpoint

import (
	"bytes"
	"context"
	"os"
	"slices"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// ruin is a session that is to be damaged: its files as they were.
type ruin struct {
	log, checkpoint []byte
	lines           [][]byte
	promised        int64
	begun           []string // ids, as the model gave them, of the calls that began
	said            []string // texts of the messages, in order
}

// ruinOf reads a session that was closed.
func ruinOf(t tb, s *Store, id string) ruin {
	t.Helper()
	p := pathsOf(s.dir, id)
	r := ruin{log: slurp(t, p.log), checkpoint: slurp(t, p.checkpoint)}
	r.lines = slices.Collect(bytes.Lines(r.log))
	h, err := parseHead(r.checkpoint)
	check(t, err)
	r.promised = h.Log.Seq
	asked := map[session.CallID]string{}
	for _, line := range r.lines {
		rec, err := decodeLine(line)
		check(t, err)
		switch d := rec.Data.(type) {
		case *session.AssistantMessage:
			for i, c := range (message.Message{Parts: d.Parts}).Calls() {
				asked[session.CallID{Reply: rec.Seq, Index: i}] = c.ID
			}
			r.said = append(r.said, message.Message{Parts: d.Parts}.Text())
		case *session.UserMessage:
			r.said = append(r.said, d.Text)
		case *session.ToolCall:
			r.begun = append(r.begun, asked[d.Call])
		}
	}
	return r
}

// place puts a damaged session into a store.
func (r ruin) place(t tb, dir string, log, checkpoint []byte) (*Store, paths) {
	t.Helper()
	s, _ := newTestStore(dir)
	p := pathsOf(dir, "s")
	check(t, os.Mkdir(p.dir, dirMode))
	if log != nil {
		write(t, p.log, log)
	}
	if checkpoint != nil {
		write(t, p.checkpoint, checkpoint)
	}
	return s, p
}

// twoTurns is a session with everything in it. Open leaves its last call in
// doubt.
func twoTurns(t tb, s *Store, open bool) ruin {
	t.Helper()
	j := create(t, s, "s")
	toolStep(t, j, "I look.", "a.go", 2)
	toolStep(t, j, "I look again.", "b.go", 1)
	answer(t, j, "Two files.")
	check(t, j.Append("", &session.UserMessage{Source: session.FromUser, Text: "and now?"}))
	check(t, j.Append("", &session.TurnStart{Turn: 2}))
	ask(t, j, "I run it.", 2)
	begin(t, j)
	if !open {
		settle(t, j, "done")
		answer(t, j, "It ran.")
	}
	check(t, j.Commit())
	check(t, j.Close())
	return ruinOf(t, s, "s")
}

// texts are what was said in a session, the note of a repair left out.
func texts(sc *session.Scope) (said []string, told bool) {
	for _, e := range sc.Entries {
		switch {
		case e.Reply != nil:
			said = append(said, e.Reply.Text())
		case e.User.Source == session.FromTask:
			said = append(said, "")
		case e.User.Source == session.FromAgent:
			told = true
		default:
			said = append(said, e.User.Text)
		}
	}
	return said, told
}

// sound checks what must be true of every repaired session.
func (r ruin) sound(t tb, s *Store, out Repair) {
	t.Helper()
	report, err := s.Verify(out.SessionID)
	check(t, err)
	if len(report.Problems) > 0 {
		t.Fatalf("the new session: %+v", report.Problems)
	}
	v, err := s.Read(out.SessionID)
	check(t, err)
	if !v.Saved || v.State.ID != out.SessionID || v.State.Task != task.Task {
		t.Fatalf("saved %v, id %q, task %q", v.Saved, v.State.ID, v.State.Task)
	}
	paired(t, v.State.Main())
	r.neverTwice(t, s, out.SessionID, v.State.Main())
	j, rec, err := s.Open(out.SessionID)
	check(t, err)
	if rec.Torn != nil || rec.Crashed || len(rec.Warnings) > 0 {
		t.Fatalf("opening it recovers %+v", rec)
	}
	check(t, j.Close())
}

// paired checks that each call is followed by its result, in order, unless it
// waits.
func paired(t tb, sc *session.Scope) {
	t.Helper()
	var open []string
	waiting := 0
	for i, m := range sc.Messages() {
		for _, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			at := slices.Index(open, p.Result.ID)
			if at < 0 {
				t.Fatalf("message %d is the result of %s, waiting are %v", i, p.Result.ID, open)
			}
			waiting += at
			open = open[at+1:]
		}
		if m.Role != message.Tool && waiting+len(open) > 0 {
			t.Fatalf("message %d comes before all results are there", i)
		}
		for _, c := range m.Calls() {
			open = append(open, c.ID)
		}
	}
	if waiting+len(open) != len(sc.Pending()) {
		t.Fatalf("no results of %d calls, %d are pending", waiting+len(open), len(sc.Pending()))
	}
}

// neverTwice checks that each call which had begun has a result, or is in
// doubt, or that the model is told of what it can't see.
func (r ruin) neverTwice(t tb, s *Store, id string, sc *session.Scope) {
	t.Helper()
	calls := map[string]*session.Call{}
	for _, e := range sc.Entries {
		if e.Reply != nil {
			for _, c := range e.Reply.Calls {
				calls[c.Wire.ID] = c
			}
		}
	}
	_, told := texts(sc)
	check(t, s.Events(context.Background(), id, false, func(e session.Event) {
		if d, ok := e.Data.(*session.Repaired); ok && d.Note != "" {
			told = true // now, or when the calls have their results
		}
	}))
	for _, id := range r.begun {
		switch c := calls[id]; {
		case c == nil && !told:
			t.Fatalf("call %s is gone and the model is not told", id)
		case c != nil && c.Result == nil && (!c.InDoubt() || c.Verdict != nil):
			t.Fatalf("call %s had begun and would run as if it had not", id)
		}
	}
}
