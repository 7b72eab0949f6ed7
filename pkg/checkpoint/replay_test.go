package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// losing repairs a session without the events that are chosen, and returns the
// state of what comes out.
func (r ruin) losing(t *testing.T, lose func(rec record) bool) (*session.State, Repair) {
	t.Helper()
	var kept [][]byte
	lost := 0
	for _, line := range r.lines {
		rec, err := decodeLine(line)
		check(t, err)
		if lose(rec) {
			lost++
		} else {
			kept = append(kept, line)
		}
	}
	if lost == 0 {
		t.Fatal("nothing to lose")
	}
	s, _ := r.place(t, t.TempDir(), bytes.Join(kept, nil), r.checkpoint)
	out, err := s.Repair("s", "")
	check(t, err)
	r.sound(t, s, out)
	v, err := s.Read(out.SessionID)
	check(t, err)
	return v.State, out
}

// nth chooses the nth event, from 1, of a kind.
func nth(kind session.Type, n int) func(record) bool {
	return func(rec record) bool {
		if rec.Type == kind {
			n--
		}
		return rec.Type == kind && n == 0
	}
}

func TestWhatTheLossOfAnEventMeans(t *testing.T) {
	store, _ := newTestStore(t.TempDir())
	open := twoTurns(t, store, true)
	store, _ = newTestStore(t.TempDir())
	done := twoTurns(t, store, false)
	call := func(s *session.State, entry, i int) *session.Call { return s.Main().Entries[entry].Reply.Calls[i] }
	for _, c := range []struct {
		name  string
		of    ruin
		lose  func(record) bool
		check func(s *session.State, out Repair) bool
	}{
		{"a call that began", open, nth("tool/call", 5), func(s *session.State, out Repair) bool {
			c := s.Main().Pending()[1]
			return c.InDoubt() && c.Key == "" && len(out.InDoubt) == 2 && out.InDoubt[1] == Doubt{Call: c.ID, Tool: "shell"}
		}},
		{"a call that has its result", done, nth("tool/call", 5), func(s *session.State, out Repair) bool {
			return len(out.InDoubt) == 0 && s.ToolCalls == 5 && s.Main().Answer() == "It ran."
		}},
		{"a result before the model was asked again", done, nth("tool/result", 3), func(s *session.State, out Repair) bool {
			r := call(s, 2, 0).Result
			return r.Outcome == session.OutcomeUnknown && len(out.InDoubt) == 1 && out.InDoubt[0].Told
		}},
		{"a reply with its calls", done, nth("assistant/message", 2), func(s *session.State, out Repair) bool {
			return len(out.Lost) == 3 && s.Iterations == 4 && strings.Contains(s.Main().Entries[len(s.Main().Entries)-1].User.Text, "shell among them")
		}},
		{"the task's message", done, nth("user/message", 1), func(s *session.State, _ Repair) bool {
			return s.Main().Entries[0].User.Text == task.Task && s.Main().Answer() == "It ran."
		}},
		{"a later prompt", done, nth("user/message", 2), func(s *session.State, _ Repair) bool {
			return s.Main().Turn.N == 2 && s.Main().Answer() == "It ran."
		}},
		{"the beginning of a turn", done, nth("turn/start", 2), func(s *session.State, _ Repair) bool {
			status, _ := s.Status()
			return s.Main().Turn.N == 2 && status == session.Completed && s.Main().Answer() == "It ran."
		}},
		{"the end of a turn", done, nth("turn/end", 1), func(s *session.State, _ Repair) bool {
			return s.Main().Turn.N == 2 && s.Main().Answer() == "It ran."
		}},
		{"the end", done, nth("turn/end", 2), func(s *session.State, _ Repair) bool {
			status, reason := s.Status()
			return status == session.Interrupted && reason == session.ReasonCrash
		}},
		{"a whole turn but its end", done, func(rec record) bool { return rec.Seq > 25 && rec.Type != "turn/end" }, func(s *session.State, out Repair) bool {
			status, _ := s.Status()
			return len(out.Lost) == 2 && s.Main().Turn.N == 2 && status == session.Interrupted
		}},
		{"everything but what created it", done, func(rec record) bool { return rec.Seq > 1 }, func(s *session.State, _ Repair) bool {
			return s.Main().Entries[0].User.Text == task.Task
		}},
		{"what created it", done, nth("session/created", 1), func(s *session.State, _ Repair) bool {
			set := s.Settings
			return set.Model == "demo" && set.Workdir == "/w" && set.Agent == "react" && set.System == "You are an agent." &&
				slices.Equal(set.Tools, []string{"shell"}) && set.OnUnknown == "tell" && s.Main().Answer() == "It ran."
		}},
		{"everything", done, func(record) bool { return true }, func(s *session.State, out Repair) bool {
			return len(s.Main().Entries) == 2 && len(out.Lost) == 1 && out.Lost[0].Last == done.promised
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, out := c.of.losing(t, c.lose)
			if len(out.Lost) == 0 || !c.check(s, out) {
				t.Errorf("lost %v, in doubt %v, turn %+v", out.Lost, out.InDoubt, s.Main().Turn)
				for _, m := range s.Main().Messages() {
					t.Errorf("%s %s %v", m.Role, m.Text(), m.Calls())
				}
			}
		})
	}
}

// A person had said that a call may run again, and it did: the word must not
// count a second time.
func TestAVerdictThatWasFollowedDoesNotCountAgain(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	ask(t, j, "I run it.", 1)
	begin(t, j)
	c := j.State().Main().Pending()[0]
	check(t, j.Append("", &session.OutcomeSettled{Call: c.ID, Verdict: session.VerdictRerun}))
	check(t, j.Append("", &session.ToolCall{Call: c.ID, Tool: "shell", Attempt: 2, Key: c.Key}))
	check(t, j.Commit())
	check(t, j.Close())
	r := ruinOf(t, s, "s")
	st, _ := r.losing(t, func(rec record) bool { return rec.Seq == r.promised })
	if c := st.Main().Pending()[0]; c.Verdict != nil || c.Attempt != 2 || c.Key == "" {
		t.Errorf("%+v", c)
	}
}

// The last settings that the user had given stay in force: tools that were
// taken away don't come back.
func TestLostSettingsAreTakenFromTheCheckpoint(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	changed := j.State().Settings
	changed.Tools, changed.Retries = []string{}, 7
	check(t, j.Append("", &session.SettingsChanged{Settings: changed}))
	toolStep(t, j, "I look.", "a.go", 1)
	check(t, j.Close())
	st, _ := ruinOf(t, s, "s").losing(t, nth("settings/changed", 1))
	if set := st.Settings; len(set.Tools) != 0 || set.Model != "demo" || set.Retries != 0 {
		t.Errorf("%+v", set)
	}
}

// Bytes that stand before the last event may have been one that came after it.
func TestUnexplainedBytesMayHaveBeenTheEnd(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	ask(t, j, "I run it.", 1)
	begin(t, j)
	check(t, j.Close())
	r := ruinOf(t, s, "s")
	n := len(r.lines)
	log := bytes.Join(swap(flipMiddle(slices.Clone(r.lines), n), n-1), nil)
	s, _ = r.place(t, t.TempDir(), log, r.checkpoint)
	out, err := s.Repair("s", "")
	check(t, err)
	r.sound(t, s, out)
	if len(out.InDoubt) != 1 {
		t.Errorf("%+v", out)
	}
}

func TestASecondResultIsNotTakenOver(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	p := pathsOf(s.dir, "s")
	rewrite(t, p, func(recs []record) []record {
		i := slices.IndexFunc(recs, func(r record) bool { return r.Type == "tool/result" })
		return slices.Insert(recs, i, recs[i])
	})
	check(t, os.Remove(p.checkpoint))
	out, err := s.Repair("s", "")
	check(t, err)
	if r := verify(t, s, out.SessionID); len(r.Problems) > 0 || len(out.Lost) != 1 || !strings.Contains(out.Lost[0].Why, "has a result") {
		t.Errorf("%+v, %+v", out, r)
	}
}

func TestNumbersOfCallsMoveWithTheirReplies(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	r := twoTurns(t, s, true)
	st, out := r.losing(t, nth("step/start", 1))
	c := st.Main().Pending()[0]
	last := st.Main().Entries[len(st.Main().Entries)-1]
	if c.ID.Reply != last.Seq || out.InDoubt[0].Call != c.ID || c.Key == "" {
		t.Errorf("call %+v of reply %d, in doubt %+v", c, last.Seq, out.InDoubt)
	}
}

// What is told of the holes comes after the results that are waited for.
func TestTheModelIsToldAfterTheResults(t *testing.T) {
	dir := t.TempDir()
	s, _ := newTestStore(t.TempDir())
	r := twoTurns(t, s, true)
	lines := drop(slices.Clone(r.lines), 7)
	s, _ = r.place(t, dir, bytes.Join(lines, nil), r.checkpoint)
	out, err := s.Repair("s", "")
	check(t, err)
	j, _ := reopen(t, s, out.SessionID)
	defer j.Close()
	if m := j.State().Main().Messages(); m[len(m)-1].Role != message.Assistant {
		t.Fatalf("the last message is of %s", m[len(m)-1].Role)
	}
	settle(t, j, "unknown")
	m := j.State().Main().Messages()
	if end := m[len(m)-1]; end.Role != message.User || !strings.Contains(end.Text(), "was lost") || m[len(m)-2].Role != message.Tool {
		t.Errorf("the last messages are %+v", m[len(m)-2:])
	}
}

func TestArtifactsComeAlong(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	var kept []message.Artifact
	for _, text := range []string{"sound", "damaged", "missing"} {
		a, err := j.Artifacts().Create()
		check(t, err)
		_, err = a.Write([]byte(text))
		check(t, err)
		m, err := a.Keep()
		check(t, err)
		kept = append(kept, m)
		ask(t, j, text, 1)
		begin(t, j)
		check(t, j.Append("", &session.ToolResult{Call: j.State().Main().Pending()[0].ID, Outcome: session.OutcomeOK, Artifact: &m}))
	}
	check(t, j.Commit())
	check(t, j.Close())
	at := func(id string, i int) string { return pathsOf(s.dir, id).dir + "/artifacts/" + kept[i].Ref }
	write(t, at("s", 1), []byte("changed"))
	check(t, os.Remove(at("s", 2)))
	out, err := s.Repair("s", "")
	check(t, err)
	if string(slurp(t, at(out.SessionID, 0))) != "sound" || len(out.Lost) != 2 || !strings.Contains(out.Lost[0].Why, kept[1].Ref) {
		t.Errorf("lost %v", out.Lost)
	}
	for i := 1; i < 3; i++ {
		if _, err := os.Lstat(at(out.SessionID, i)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("artifact %d: %v", i, err)
		}
	}
}

// A repair that is cut leaves no session, or the whole one; never the
// beginning of one, whose calls would seem not to have begun.
func TestARepairIsWholeOrNotThere(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	r := twoTurns(t, s, true)
	log := bytes.Join(drop(slices.Clone(r.lines), 4), nil)
	for n := 0; ; n++ {
		dir := t.TempDir()
		_, p := r.place(t, dir, log, r.checkpoint)
		s, seam := newTestStore(dir)
		before := snapshot(t, p.dir)
		if n%2 == 0 {
			seam.killAt(n / 2)
		} else {
			at := n / 2
			seam.fail = func(string) error {
				if at--; at == -1 {
					return syscall.ENOSPC
				}
				return nil
			}
		}
		out, err := s.Repair("s", "")
		seam.heal()
		if snapshot(t, p.dir) != before {
			t.Fatalf("failed at %d: the old session was changed", n/2)
		}
		if v, rerr := s.Read("s-repaired"); rerr == nil {
			paired(t, v.State.Main())
			r.neverTwice(t, s, v.State.ID, v.State.Main())
		} else {
			wantError[*NotFoundError](t, rerr)
		}
		if err == nil && n%2 == 1 {
			r.sound(t, s, out)
			return
		}
		if err == nil {
			continue
		}
		wantError[*StorageError](t, err)
		out, err = s.Repair("s", "")
		check(t, err)
		r.sound(t, s, out)
	}
}

// A watermark stands where it stood, whatever was lost before it.
func TestWatermarksMoveWithTheEvents(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	for i := range 3 {
		toolStep(t, j, fmt.Sprint("look ", i), strings.Repeat("a.go\n", 100), 1)
	}
	last := j.State().Main().Entries[3]
	check(t, j.Append("", &session.ContextTrimmed{Before: last.Seq, Outputs: last.Seq}))
	toolStep(t, j, "look 3", "b", 1)
	check(t, j.Close())
	r := ruinOf(t, s, "s")
	for _, c := range []struct {
		lost  func(record) bool
		first string
	}{
		{nth("step/start", 1), "look 2"},
		{nth("step/end", 3), "look 2"},
		{nth("assistant/message", 2), "look 2"},
		{nth("assistant/message", 3), "look 1"}, // the last one there was, and so it stays
		{nth("context/trimmed", 1), "look 0"},
		{nth("step/end", 4), "look 2"},
	} {
		st, out := r.losing(t, c.lost)
		es := st.Main().Entries
		if es[0].User == nil || es[1].Reply == nil || es[1].Reply.Text() != c.first {
			t.Errorf("without %v: %+v, %+v", out.Lost, st.Main().Cut, es)
		}
	}
}
