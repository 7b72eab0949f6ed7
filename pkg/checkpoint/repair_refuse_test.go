package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/session"

	"pgregory.net/rapid"
)

func TestWhatCannotBeRepairedIsLeftAlone(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	r := twoTurns(t, s, false)
	rewrite := func(line []byte, data session.Data) []byte {
		rec, err := decodeLine(line)
		check(t, err)
		rec.Type, rec.Data = data.Type(), data
		return encode(t, rec)
	}
	without1 := bytes.Join(r.lines[1:], nil)
	for name, c := range map[string]struct {
		log, checkpoint []byte
		harm            func(p paths)
		ask             string
		want            func(err error) bool
	}{
		"no checkpoint, and what created it is lost": {log: without1, want: beyondRepair},
		"a bad checkpoint, too":                      {log: without1, checkpoint: r.checkpoint[:100], want: beyondRepair},
		"a checkpoint that is cut at its end":        {log: without1, checkpoint: r.checkpoint[:len(r.checkpoint)-9], want: beyondRepair},
		"only a bad checkpoint":                      {checkpoint: []byte("{"), want: beyondRepair},
		"a log that is a link": {log: r.log, checkpoint: r.checkpoint, want: beyondRepair, harm: func(p paths) {
			check(t, os.Rename(p.log, p.log+".moved"))
			check(t, os.Symlink(p.log+".moved", p.log))
		}},
		"nothing":                     {want: as[*NotFoundError]},
		"a log without one good line": {log: []byte("hello\n"), want: as[*NotFoundError]},
		"a tombstone": {
			log: append(bytes.Clone(r.log), rewrite(r.lines[len(r.lines)-1], &session.Removed{})...), checkpoint: r.checkpoint, want: as[*NotFoundError],
		},
		"an unknown kind behind the damage": {
			log:        append(bytes.Join(drop(slices.Clone(r.lines), 3), nil), rewrite(r.lines[5], session.Unknown{Kind: "new/kind"})...),
			checkpoint: r.checkpoint, want: as[*VersionError],
		},
		"another format":                  {log: rewrite(r.lines[0], &session.Created{Schema: "kagent/event/v2", Version: "v9"}), want: as[*VersionError]},
		"its own id":                      {log: r.log, checkpoint: r.checkpoint, ask: "s", want: func(err error) bool { return errors.Is(err, ErrExists) }},
		"an id in use":                    {log: r.log, checkpoint: r.checkpoint, ask: "other", want: func(err error) bool { return errors.Is(err, ErrExists) }},
		"a bad id":                        {log: r.log, checkpoint: r.checkpoint, ask: "a/b", want: as[*IDError]},
		"an id that differs in case only": {log: r.log, checkpoint: r.checkpoint, ask: "OTHER", want: as[*IDError]},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, p := r.place(t, dir, c.log, c.checkpoint)
			finished(t, s, "other")
			if c.harm != nil {
				c.harm(p)
			}
			before := snapshot(t, dir)
			if _, err := s.Repair("s", c.ask); !c.want(err) {
				t.Errorf("error %T %v", err, err)
			}
			if snapshot(t, dir) != before {
				t.Error("something was changed")
			}
		})
	}
}

func beyondRepair(err error) bool { return errors.Is(err, ErrBeyondRepair) && as[*DamagedError](err) }

func TestASessionInUseIsNotRepaired(t *testing.T) {
	dir := t.TempDir()
	s, _ := newTestStore(dir)
	j := create(t, s, "s")
	before := snapshot(t, dir)
	_, err := s.Repair("s", "")
	if e := wantError[*InUseError](t, err); e.Tools || e.Holder.PID != os.Getpid() {
		t.Errorf("%+v", e)
	}
	// The process is gone, and a tool that it had started is not.
	tools, err := OS{}.Open(pathsOf(dir, "s").tools, os.O_RDWR, 0)
	check(t, err)
	defer tools.Close()
	check(t, j.Close())
	if ok, err := tryLock(tools); err != nil || !ok {
		t.Fatal(ok, err)
	}
	_, err = s.Repair("s", "")
	if e := wantError[*InUseError](t, err); !e.Tools {
		t.Errorf("%+v", e)
	}
	if snapshot(t, dir) != before {
		t.Error("something was changed")
	}
}

func TestNewIDsAreFree(t *testing.T) {
	for _, c := range []struct {
		id   string
		n    int
		want string
	}{
		{"s", 1, "s-repaired"}, {"s", 2, "s-repaired-2"}, {strings.Repeat("x", 128), 12, strings.Repeat("x", 116) + "-repaired-12"},
	} {
		if got := derived(c.id, "-repaired", c.n); got != c.want || CheckID(got) != nil {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	dir := t.TempDir()
	s, _ := newTestStore(dir)
	finished(t, s, "s")
	finished(t, s, "S-repaired-2")
	write(t, filepath.Join(dir, "s-repaired.json"), []byte("{}")) // not ours to replace
	out, err := s.Repair("s", "")
	check(t, err)
	if out.SessionID != "s-repaired-3" {
		t.Errorf("%+v", out)
	}
}

// A log of random turns, damaged at random in up to three places: what comes
// out is a session, or it is said that there can be none.
func TestRandomDamageIsRepaired(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "repair")
		check(t, err)
		defer os.RemoveAll(dir)
		s, _ := newTestStore(filepath.Join(dir, "a"))
		r := randomSession(t, s)
		b := filepath.Join(dir, "b")
		check(t, os.Mkdir(b, dirMode))
		checkpoint := r.checkpoint
		if rapid.IntRange(0, 5).Draw(t, "checkpoint") == 0 {
			checkpoint = checkpoint[:len(checkpoint)/2]
		}
		s, p := r.place(t, b, r.randomDamage(t), checkpoint)
		before := snapshot(t, p.dir)
		_, err = s.Verify("s")
		check(t, err)
		out, err := s.Repair("s", "")
		if snapshot(t, p.dir) != before {
			t.Fatalf("the old session was changed")
		}
		if err != nil {
			if !beyondRepair(err) {
				t.Fatalf("%v", err)
			}
			return
		}
		r.sound(t, s, out)
		again, err := s.Repair(out.SessionID, "again")
		check(t, err)
		if len(again.Lost) > 0 {
			t.Fatalf("repaired twice, lost %v", again.Lost)
		}
		r.sound(t, s, again)
	})
}

func randomSession(t *rapid.T, s *Store) ruin {
	j := create(t, s, "s")
	for range rapid.IntRange(1, 5).Draw(t, "steps") {
		switch rapid.IntRange(0, 5).Draw(t, "step") {
		case 0:
			answer(t, j, "an answer")
			check(t, j.Append("", &session.UserMessage{Source: session.FromUser, Text: "more"}))
			check(t, j.Append("", &session.TurnStart{Turn: j.State().Main().Turn.N + 1}))
		case 1:
			check(t, j.Close())
			j, _ = reopen(t, s, "s")
			if m := j.State().Main(); !m.Turn.Open {
				check(t, j.Append("", &session.TurnStart{Turn: m.Turn.N, Continues: m.Turn.N}))
			}
		default:
			toolStep(t, j, "a step", "a result", rapid.IntRange(1, 3).Draw(t, "calls"))
		}
	}
	end := rapid.IntRange(0, 4).Draw(t, "end")
	if end > 0 {
		ask(t, j, "the last", rapid.IntRange(1, 3).Draw(t, "last calls"))
	}
	if end > 1 {
		check(t, j.Commit())
	}
	if end > 2 {
		begin(t, j)
	}
	if end > 3 {
		settle(t, j, "the last result")
	}
	check(t, j.Close())
	return ruinOf(t, s, "s")
}

// randomDamage never takes away, without a trace, what nobody knows of: the
// last lines, when no checkpoint has seen them.
func (r ruin) randomDamage(t *rapid.T) []byte {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range damages {
			if !yield(name) {
				return
			}
		}
	})
	lines := slices.Clone(r.lines)
	for range rapid.IntRange(1, 3).Draw(t, "damages") {
		name := rapid.SampledFrom(names).Draw(t, "damage")
		i := rapid.IntRange(1, len(lines)).Draw(t, "line")
		rec, err := decodeLine(lines[i-1])
		switch {
		case name == "dropped" && (len(lines) < 2 || err != nil || rec.Seq > r.promised || i == len(lines)):
		case (name == "another history" || name == "a rival") && err != nil:
		default:
			lines = damages[name](lines, i)
		}
	}
	log := bytes.Join(lines, nil)
	if rapid.Bool().Draw(t, "NULs") {
		from := rapid.IntRange(0, len(log)-1).Draw(t, "from")
		clear(log[from:min(len(log), from+rapid.IntRange(1, 3000).Draw(t, "so many"))])
	}
	return log
}
