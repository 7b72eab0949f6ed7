package checkpoint

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// damages change a log around line i, from 1.
var damages = map[string]change{
	"flipped": flipMiddle, "first byte": flipFirst, "crc": flipCRC, "newline": flipNewline,
	"NULs": zeroMiddle, "all NULs": zeroWhole, "dropped": drop, "doubled": double,
	"another history": foreign, "garbage": garbage,
	"a rival": func(lines [][]byte, i int) [][]byte {
		return slices.Insert(lines, i-1, foreign(slices.Clone(lines), i)[i-1])
	},
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
	if name != "swapped" && name != "newline" && len(out.Lost) == 0 {
		t.Fatalf("line %d: nothing is said to be lost", i)
	}
	if name == "a rival" && (len(out.Lost) != 1 || out.Lost[0].Why != fmt.Sprintf("another event %d", i)) {
		t.Fatalf("line %d: lost %v", i, out.Lost)
	}
	if name == "swapped" && i < len(r.lines) || name == "newline" || name == "a rival" || name == "doubled" {
		if name != "a rival" && name != "doubled" && len(out.Lost) > 0 || len(said) != len(r.said) {
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
	if len(keys) != 5 || slices.Contains(keys, "") {
		t.Errorf("keys %q", keys)
	}
}

// A summary that was taken up, or was of no use, has left the state, but not the
// log: a repair copies it, and looks for no calls in it.
func TestASessionThatWasSummarisedIsRepaired(t *testing.T) {
	for _, conclude := range []session.Data{
		&session.CompactFailed{Error: &session.Failure{Kind: session.FailureTooLong}, From: "summarise-1"},
		&session.ContextCompacted{Turns: 1, Before: 3, Summary: "so far", From: "summarise-1"},
	} {
		s, _ := newTestStore(t.TempDir())
		finished(t, s, "s")
		j, _, err := s.Open("s")
		check(t, err)
		check(t, j.Append("summarise-1", &session.ChildCreated{Task: "sum up", System: "be", Tools: []string{}}, &session.TurnStart{Turn: 1},
			&session.AssistantMessage{Parts: []message.Part{message.Text("so far")}, Stop: message.StopEnd},
			&session.TurnEnd{Turn: 1, Status: session.Completed}))
		check(t, j.Append("", conclude))
		check(t, j.Commit())
		before := j.State().Main().Cut
		check(t, j.Close())
		out, err := s.Repair("s", "")
		check(t, err)
		v, err := s.Read(out.SessionID)
		check(t, err)
		if len(out.InDoubt) > 0 || v.State.Main().Cut.Summary != before.Summary {
			t.Errorf("%+v, %+v", out, v.State.Main().Cut)
		}
	}
}
