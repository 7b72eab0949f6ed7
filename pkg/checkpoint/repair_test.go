package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

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

// damages change a log around line i, from 1.
var damages = map[string]change{
	"flipped": flipMiddle, "first byte": flipFirst, "crc": flipCRC, "newline": flipNewline,
	"NULs": zeroMiddle, "all NULs": zeroWhole, "dropped": drop, "doubled": double,
	"another history": foreign, "garbage": garbage,
	"swapped": func(lines [][]byte, i int) [][]byte {
		if i == len(lines) {
			return flipMiddle(lines, i)
		}
		return swap(lines, i)
	},
}

// F002: whatever becomes of one line, it is found where it is; what is sound
// is saved, in order, and nothing is run a second time.
func TestEveryLineMayGoBad(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	r := twoTurns(t, s, true)
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			for i := 1; i <= len(r.lines); i++ {
				lines := damage(slices.Clone(r.lines), i)
				r.damaged(t, name, i, bytes.Join(lines, nil))
			}
		})
	}
}

func (r ruin) damaged(t *testing.T, name string, i int, log []byte) {
	t.Helper()
	dir := t.TempDir()
	s, p := r.place(t, dir, log, r.checkpoint)
	before := snapshot(t, p.dir)
	report, err := s.Verify("s")
	check(t, err)
	at := int64(len(bytes.Join(r.lines[:i-1], nil)))
	if name == "doubled" {
		at += int64(len(r.lines[i-1]))
	}
	switch last := i == len(r.lines); {
	case last && (name == "doubled"): // after all that was promised: torn
		if !report.OK || len(report.Problems) != 1 || report.Problems[0].Kind != KindTorn {
			t.Fatalf("line %d: %+v", i, report.Problems)
		}
	case report.OK || !report.Damaged() || report.Problems[0].Kind != KindLog || report.Problems[0].Offset != at || report.Problems[0].Path != p.log:
		t.Fatalf("line %d, at %d: %+v", i, at, report.Problems)
	}
	out, err := s.Repair("s", "")
	check(t, err)
	if out.SessionID != "s-repaired" || out.From != "s" {
		t.Fatalf("line %d: %+v", i, out)
	}
	if snapshot(t, p.dir) != before || !bytes.Equal(slurp(t, p.checkpoint), r.checkpoint) {
		t.Fatalf("line %d: the old session was changed", i)
	}
	r.sound(t, s, out)
	v, err := s.Read(out.SessionID)
	check(t, err)
	said, _ := texts(v.State.Main())
	if missing := without(r.said, said); len(missing) > 1 || len(missing) > 0 && len(out.Lost) == 0 {
		t.Fatalf("line %d: %q is missing, lost %v", i, missing, out.Lost)
	}
	if name == "swapped" && i < len(r.lines) || name == "newline" {
		if len(out.Lost) > 0 || len(said) != len(r.said) {
			t.Fatalf("line %d: lost %v, said %q", i, out.Lost, said)
		}
	}
}

// without returns what is in a and not, in order, in b.
func without(a, b []string) []string {
	var out []string
	for _, x := range a {
		if len(b) > 0 && b[0] == x {
			b = b[1:]
		} else {
			out = append(out, x)
		}
	}
	return append(out, b...)
}

func TestALogMayEndAtEveryByte(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	toolStep(t, j, "I look.", "a.go", 1)
	ask(t, j, "I run it.", 2)
	begin(t, j)
	check(t, j.Commit())
	check(t, j.Close())
	r := ruinOf(t, s, "s")
	s, p := r.place(t, t.TempDir(), r.log, r.checkpoint)
	for n := len(r.log) - 1; n >= 0; n-- {
		check(t, os.Truncate(p.log, int64(n)))
		start := bytes.LastIndexByte(r.log[:n], '\n') + 1
		report, err := s.Verify("s")
		check(t, err)
		if first := report.Problems[0]; first.Kind != KindLog || first.Offset != int64(start) {
			t.Fatalf("cut at %d: %+v", n, report.Problems)
		}
		ends := r.log[n] == '\n' // all but the newline is there
		if !ends && n != start && (n-start)%150 != 1 {
			continue
		}
		before := snapshot(t, p.dir)
		out, err := s.Repair("s", fmt.Sprintf("cut-%d", n))
		check(t, err)
		if snapshot(t, p.dir) != before {
			t.Fatalf("cut at %d: the old session was changed", n)
		}
		next := int64(bytes.Count(r.log[:n], []byte("\n"))) + 1
		if ends {
			next++
		}
		r.sound(t, s, out)
		if n == len(r.log)-1 {
			continue // only the newline was lost
		}
		if l := out.Lost[len(out.Lost)-1]; l.First != next || l.Last != r.promised || l.Offset+l.Bytes != int64(n) {
			t.Fatalf("cut at %d: lost %v, want from %d to %d", n, out.Lost, next, r.promised)
		}
	}
}

func TestASoundSessionIsCopied(t *testing.T) {
	dir := t.TempDir()
	s, _ := newTestStore(dir)
	r := twoTurns(t, s, false)
	for _, want := range []string{"s-repaired", "s-repaired-2", "s-repaired-3"} {
		out, err := s.Repair("s", "")
		check(t, err)
		if out.SessionID != want || len(out.Lost)+len(out.InDoubt) > 0 || out.Lost == nil || out.InDoubt == nil {
			t.Errorf("%+v", out)
		}
		r.sound(t, s, out)
		a, err := s.Read("s")
		check(t, err)
		b, err := s.Read(want)
		check(t, err)
		if am, bm := a.State.Main().Messages(), b.State.Main().Messages(); !reflect.DeepEqual(am, bm) {
			t.Errorf("messages\n%v\nwere\n%v", bm, am)
		}
		if as, _ := a.Status(); a.State.Usage != b.State.Usage || as != session.Completed || b.State.Main().Answer() != "It ran." {
			t.Errorf("usage %+v, status %s", b.State.Usage, as)
		}
	}
	// What a checkpoint had promised that can't be read, nobody knows.
	write(t, pathsOf(dir, "s").checkpoint, []byte("{"))
	out, err := s.Repair("s", "unread")
	check(t, err)
	if len(out.Lost) != 1 || out.Lost[0].First != int64(len(r.lines)+1) || out.Lost[0].Last != 0 {
		t.Errorf("%+v", out)
	}
	r.sound(t, s, out)
	var keys []string
	check(t, s.Events(t.Context(), "s-repaired", false, func(e session.Event) {
		if d, ok := e.Data.(*session.ToolCall); ok {
			keys = append(keys, d.Key)
		}
	}))
	if len(keys) != 5 || strings.Trim(strings.Join(keys, ""), "3f1c0b52-0000-4000-8000-000000000000") != "" {
		t.Errorf("keys %q", keys)
	}
}
