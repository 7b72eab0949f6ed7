package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"kagent/pkg/session"
)

// whole is a snapshot with the lock file, which a fork must not touch either.
func whole(t tb, s *Store, id string) string {
	t.Helper()
	p := pathsOf(s.dir, id)
	return snapshot(t, p.dir) + string(slurp(t, p.checkpoint)) + string(slurp(t, p.lock))
}

func fork(t tb, s *Store, as string, o ForkOptions) Fork {
	t.Helper()
	before := whole(t, s, "s")
	f, err := s.Fork("s", as, o)
	check(t, err)
	if whole(t, s, "s") != before {
		t.Fatalf("the source was changed")
	}
	sane(t, s, as)
	return f
}

// sane checks what must be true of every session that was made whole.
func sane(t tb, s *Store, id string) *session.State {
	t.Helper()
	report, err := s.Verify(id)
	check(t, err)
	if len(report.Problems) > 0 {
		t.Fatalf("%s: %+v", id, report.Problems)
	}
	v, err := s.Read(id)
	check(t, err)
	if !v.Saved || v.State.ID != id {
		t.Fatalf("%s: saved %v, id %q", id, v.Saved, v.State.ID)
	}
	return v.State
}

// events reads a whole log.
func events(t tb, s *Store, id string) (out []session.Event) {
	t.Helper()
	check(t, s.Events(context.Background(), id, false, func(e session.Event) { out = append(out, e) }))
	return out
}

// samePast compares the past that is shared: all but the session's id.
func samePast(t tb, a, b []session.Event) {
	t.Helper()
	for i := range a {
		x, y := a[i], b[i]
		if c, ok := x.Data.(*session.Created); ok {
			d := *c
			d.ID = y.Data.(*session.Created).ID
			x.Data = &d
		}
		if !reflect.DeepEqual(x, y) {
			t.Fatalf("event %d is\n%+v %+v, was\n%+v %+v", i+1, y, y.Data, x, x.Data)
		}
	}
}

func turns(n int) ForkOptions { return ForkOptions{Turns: &n} }

func TestAForkHasTheSamePastAndItsOwnFuture(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	r := twoTurns(t, s, true)
	f := fork(t, s, "f", ForkOptions{})
	if f.From != "s" || f.At != int64(len(r.lines)) || f.State.ID != "f" || len(f.Missing) > 0 {
		t.Errorf("%+v", f)
	}
	old, forked := events(t, s, "s"), events(t, s, "f")
	samePast(t, old, forked)
	rest := forked[len(old):]
	if len(rest) != 3 || rest[1].Data.(*session.Forked).From != "s" || rest[1].Data.(*session.Forked).At != f.At {
		t.Fatalf("%+v", rest)
	}
	for i, e := range rest {
		if e.Epoch != old[len(old)-1].Epoch+1 {
			t.Errorf("event %d behind the past has the epoch %d", i, e.Epoch)
		}
	}
	if status, reason := f.State.Status(); status != session.Interrupted || reason != session.ReasonForked {
		t.Errorf("it is %s: %s", status, reason)
	}
	// What was under way is in doubt there, under its keys.
	v, err := s.Read("s")
	check(t, err)
	was, is := v.State.Main().Pending(), f.State.Main().Pending()
	if len(is) != 2 || !is[0].InDoubt() || is[0].Key != was[0].Key || is[1].ID != was[1].ID {
		t.Errorf("in doubt %+v, were %+v", is, was)
	}
	// Each goes on alone.
	for _, id := range []string{"f", "s"} {
		j, _ := reopen(t, s, id)
		check(t, j.Append("", &session.TurnStart{Turn: 2, Continues: 2}))
		settle(t, j, "done by "+id)
		answer(t, j, "I am "+id)
		check(t, j.Close())
	}
	for _, id := range []string{"f", "s"} {
		if a := sane(t, s, id).Main().Answer(); a != "I am "+id {
			t.Errorf("%s answers %q", id, a)
		}
	}
}

func TestAForkOfASessionThatRunsDisturbsNobody(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	toolStep(t, j, "I look.", "a.go", 1)
	ask(t, j, "I run it.", 1)
	begin(t, j)
	fork(t, s, "f", ForkOptions{})
	n := j.State().Seq
	// A line that is being written is none yet.
	log, err := os.OpenFile(j.paths.log, os.O_WRONLY|os.O_APPEND, 0)
	check(t, err)
	_, err = log.WriteString(`{"crc":"`)
	check(t, errors.Join(err, log.Close()))
	f, err := s.Fork("s", "g", ForkOptions{})
	check(t, err)
	if f.At != n {
		t.Errorf("it was cut at %d, want %d", f.At, n)
	}
	sane(t, s, "g")
	check(t, os.Truncate(j.paths.log, j.end))
	settle(t, j, "done")
	answer(t, j, "ended")
	check(t, j.Close())
}

func TestAForkOfSoManyTurns(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	toolStep(t, j, "I look.", "a.go", 1)
	check(t, j.Append("", &session.TurnEnd{Turn: 1, Status: session.Interrupted, Reason: session.ReasonNetwork}))
	check(t, j.Commit())
	check(t, j.Close())
	j, _ = reopen(t, s, "s") // the turn goes on in another process
	check(t, j.Append("", &session.TurnStart{Turn: 1, Continues: 1}))
	answer(t, j, "One file.")
	check(t, j.Append("", &session.SettingsChanged{Settings: session.Settings{Model: "later"}}, said("and now?"), &session.TurnStart{Turn: 2}))
	answer(t, j, "Two files.")
	check(t, j.Append("", said("well?"), &session.TurnStart{Turn: 3}))
	ask(t, j, "I run it.", 1)
	begin(t, j)
	check(t, j.Commit())
	check(t, j.Close())
	for n, want := range []struct {
		answer string
		status session.Status
		model  string
	}{{"", session.Paused, "demo"}, {"One file.", session.Completed, "demo"}, {"Two files.", session.Completed, "later"}, {"", session.Interrupted, "later"}} {
		id := string(rune('a' + n))
		st := fork(t, s, id, turns(n)).State
		if status, _ := st.Status(); status != want.status || st.Main().Turn.N != n || st.Settings.Model != want.model || st.Settings.System != task.Settings.System && n < 2 {
			t.Errorf("%d turns: %s, turn %d, %+v", n, status, st.Main().Turn.N, st.Settings)
		}
		if n == 1 || n == 2 {
			if st.Main().Answer() != want.answer {
				t.Errorf("%d turns end with %q", n, st.Main().Answer())
			}
		}
		if (st.Task == "") != (n == 0) {
			t.Errorf("%d turns have the task %q", n, st.Task)
		}
	}
	for _, n := range []int{-1, 4} {
		_, err := s.Fork("s", "x", turns(n))
		wantError[*CutError](t, err)
	}
}

func TestWhatIsSaidToAForkOfNothingIsItsTask(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	twoTurns(t, s, false)
	st := fork(t, s, "f", turns(0)).State
	if status, reason := st.Status(); status != session.Paused || reason != session.ReasonPrompt || len(st.Main().Messages()) > 0 {
		t.Errorf("it is %s: %s, with %v", status, reason, st.Main().Messages())
	}
	if sum, err := s.Summary("f"); err != nil || sum.Status != session.Paused || sum.Iterations != 0 || sum.Input != "" {
		t.Errorf("%+v, %v", sum, err)
	}
	j, _ := reopen(t, s, "f")
	check(t, j.Append("", &session.UserMessage{Source: session.FromTask}, said("something else"), &session.TurnStart{Turn: 1}))
	answer(t, j, "yes")
	check(t, j.Close())
	if st := sane(t, s, "f"); st.Task != "something else" || len(st.Main().Messages()) != 2 || st.Main().Work.Task != "something else" {
		t.Errorf("task %q, work %q, %v", st.Task, st.Main().Work.Task, st.Main().Messages())
	}
}

// A fork at any event is what the session was after it.
func TestAForkAtEveryEvent(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	twoTurns(t, s, true)
	old := events(t, s, "s")
	for at := int64(1); at <= int64(len(old)); at++ {
		f, err := s.Fork("s", "f", ForkOptions{At: at})
		check(t, err)
		sane(t, s, "f")
		var was session.State
		for _, e := range old[:at] {
			was.Apply(e)
		}
		samePast(t, old[:at], events(t, s, "f"))
		if !reflect.DeepEqual(was.Main().Messages(), f.State.Main().Messages()) || was.Usage != f.State.Usage || f.At != at {
			t.Errorf("at event %d: %+v", at, f)
		}
		j, rec := reopen(t, s, "f")
		if rec.Torn != nil || rec.Crashed || len(rec.Warnings) > 0 {
			t.Errorf("at event %d: opening it recovers %+v", at, rec)
		}
		check(t, j.Close())
		check(t, s.Remove("f", false))
	}
	for _, at := range []int64{-1, int64(len(old)) + 1} {
		_, err := s.Fork("s", "f", ForkOptions{At: at})
		wantError[*CutError](t, err)
	}
}

func TestChildrenAreForkedAsFarAsTheyBelongToThePast(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	check(t, orchestrate(t, s, "s", "do a").Close())
	st := fork(t, s, "f", ForkOptions{}).State
	if a := st.Scope("node/a"); a == nil || a.Answer() != "do a" {
		t.Errorf("the child that is done: %+v", a)
	}
	c := st.Scope("node/b").Pending()
	if len(c) != 1 || !c[0].InDoubt() || c[0].Key != "k" {
		t.Errorf("the child that is at work: %+v", c)
	}
	born := st.Scope("node/b").First
	if st := fork(t, s, "g", ForkOptions{At: born - 1}).State; st.Scope("node/b") != nil || st.Scope("node/a") == nil {
		t.Error("a child that came later is there, or one that came before is not")
	}
}

// twice is a session with an artifact in each of two turns.
func twice(t tb, s *Store) (refs []string) {
	t.Helper()
	j := create(t, s, "s")
	for i, text := range []string{"the first output", "the second output"} {
		ask(t, j, "I look.", 2)
		begin(t, j)
		a := kept(t, j, text)
		refs = append(refs, a.Ref)
		for _, c := range j.State().Main().Pending() {
			check(t, j.Append("", &session.ToolResult{Call: c.ID, Outcome: session.OutcomeOK, Text: "…", Artifact: &a}))
		}
		settle(t, j, "")
		answer(t, j, "seen")
		if i == 0 {
			check(t, j.Append("", said("and?"), &session.TurnStart{Turn: 2}))
		}
	}
	check(t, j.Commit())
	check(t, j.Close())
	return refs
}

func artifactOf(s *Store, id, ref string) string {
	return filepath.Join(pathsOf(s.dir, id).dir, artifactsDir, ref)
}

func TestArtifactsOfAForkAreLinked(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	refs := twice(t, s)
	fork(t, s, "one", turns(1))
	fork(t, s, "every", ForkOptions{})
	if got := in(t, artifactOf(s, "one", "")); !slices.Equal(got, refs[:1]) {
		t.Errorf("the fork of one turn has %q", got)
	}
	a, err := os.Stat(artifactOf(s, "s", refs[0]))
	check(t, err)
	b, err := os.Stat(artifactOf(s, "every", refs[0]))
	check(t, err)
	if !os.SameFile(a, b) {
		t.Error("the artifact was copied")
	}
	check(t, s.Remove("s", false))
	check(t, s.Remove("one", false))
	sane(t, s, "every") // which looks at the artifacts
	if b := slurp(t, artifactOf(s, "every", refs[1])); string(b) != "the second output" {
		t.Errorf("it holds %q", b)
	}
}

func TestArtifactsAreCopiedWhereLinksAreImpossible(t *testing.T) {
	for _, why := range []error{syscall.EXDEV, syscall.EPERM, syscall.EMLINK, syscall.ENOTSUP} {
		s, fsys := newTestStore(t.TempDir())
		refs := twice(t, s)
		fsys.fail = func(call string) error {
			if call == "link "+refs[0] {
				return why
			}
			return nil
		}
		f := fork(t, s, "f", ForkOptions{})
		if b := slurp(t, artifactOf(s, "f", refs[0])); string(b) != "the first output" || len(f.Missing) > 0 {
			t.Errorf("%v: it holds %q, missing %q", why, b, f.Missing)
		}
	}
}

func TestArtifactsThatAreLostAreSaid(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	refs := twice(t, s)
	check(t, os.Remove(artifactOf(s, "s", refs[0])))
	check(t, os.Remove(artifactOf(s, "s", refs[1])))
	check(t, os.Symlink("/etc/passwd", artifactOf(s, "s", refs[1]))) // planted
	f, err := s.Fork("s", "f", ForkOptions{})
	check(t, err)
	if !slices.Equal(f.Missing, refs) || len(in(t, artifactOf(s, "f", ""))) > 0 {
		t.Errorf("missing %q", f.Missing)
	}
}

func TestWhatCannotBeForkedIsLeftAlone(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	r := twoTurns(t, s, false)
	rec, err := decodeLine(r.lines[len(r.lines)-1])
	check(t, err)
	add := func(d session.Data) []byte {
		next := rec
		next.Seq, next.prev, next.Type, next.Data = rec.Seq+1, rec.crc, d.Type(), d
		return append(bytes.Clone(r.log), encode(t, next)...)
	}
	for name, c := range map[string]struct {
		log  []byte
		as   string
		want func(error) bool
	}{
		"damage":                {log: bytes.Join(flipMiddle(slices.Clone(r.lines), 5), nil), want: as[*DamagedError]},
		"an unknown kind":       {log: add(session.Unknown{Kind: "new/kind"}), want: as[*VersionError]},
		"a tombstone":           {log: add(&session.Removed{}), want: as[*NotFoundError]},
		"a log that is gone":    {want: as[*DamagedError]},
		"its own id":            {log: r.log, as: "s", want: func(err error) bool { return errors.Is(err, ErrExists) }},
		"an id that is taken":   {log: r.log, as: "other", want: func(err error) bool { return errors.Is(err, ErrExists) }},
		"an id in another case": {log: r.log, as: "OTHER", want: as[*IDError]},
		"no id":                 {log: r.log, as: "a/b", want: as[*IDError]},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := r.place(t, dir, c.log, r.checkpoint)
			finished(t, s, "other")
			if c.as == "" {
				c.as = "new"
			}
			before := snapshot(t, dir)
			if _, err := s.Fork("s", c.as, ForkOptions{}); !c.want(err) {
				t.Errorf("error %T %v", err, err)
			}
			if snapshot(t, dir) != before {
				t.Error("something was changed")
			}
		})
	}
}
