package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A directory without a whole first line is no session and is taken over.
func TestHalfMadeSessionIsTakenOver(t *testing.T) {
	lines, _ := logOf(t, 0, 0)
	for name, log := range map[string][]byte{
		"only a directory": nil, "an empty log": {}, "half a line": lines[0][:40], "a hole and a good line": append(make([]byte, len(lines[0])), lines[1]...),
		"NULs": make([]byte, 512), "a line without its end": lines[0][:len(lines[0])-1],
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newTestStore(t.TempDir())
			p := pathsOf(s.Dir(), "s")
			check(t, os.Mkdir(p.dir, dirMode))
			if log != nil {
				write(t, p.log, log)
			}
			_, err := s.Read("s")
			wantError[*NotFoundError](t, err)
			_, _, err = s.Open("s")
			wantError[*NotFoundError](t, err)
			if list, err := s.List(); err != nil || len(list) != 0 {
				t.Errorf("listed: %+v %v", list, err)
			}
			j := create(t, s, "s")
			check(t, j.Close())
			v, err := s.Read("s")
			if err != nil || v.State.Task != task.Task || v.Torn != 0 {
				t.Errorf("after Create: %+v %v", v, err)
			}
			if len(log) > 0 && !bytes.Equal(slurp(t, filepath.Join(p.dir, "torn-0")), log) {
				t.Error("what was there is not kept")
			}
		})
	}
}

// Promise 5: the first line of a session went bad. Create must not take it for
// half-made.
func TestCreateNeverClearsADamagedSession(t *testing.T) {
	flip := func(p paths) { b := slurp(t, p.log); b[50] ^= 1; write(t, p.log, b) }
	for name, harm := range map[string]func(p paths){
		"a bit, with its checkpoint": flip,
		"a bit, without":             func(p paths) { flip(p); check(t, os.Remove(p.checkpoint)) },
		"a cut in the first line":    func(p paths) { check(t, os.Truncate(p.log, 50)) },
		"an empty log":               func(p paths) { check(t, os.Truncate(p.log, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := newTestStore(dir)
			finished(t, s, "s")
			harm(pathsOf(dir, "s"))
			before := snapshot(t, dir)
			_, err := s.Create("s", task)
			wantError[*DamagedError](t, err)
			if snapshot(t, dir) != before {
				t.Error("something was changed")
			}
		})
	}
}

func TestCreateDoesNotTakeAFailingReadForAHalfMadeSession(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	finished(t, s, "s")
	p := pathsOf(s.Dir(), "s")
	log := slurp(t, p.log)
	fsys.fail = func(call string) error {
		if call == "read events.jsonl" {
			return syscall.EIO
		}
		return nil
	}
	_, err := s.Create("s", task)
	wantError[*StorageError](t, err)
	if !bytes.Equal(slurp(t, p.log), log) {
		t.Error("the log was changed")
	}
}

// Killed anywhere, Create leaves a session or none, and can be done again.
func TestCreateSurvivesItsOwnCrash(t *testing.T) {
	for n := 0; ; n++ {
		s, fsys := newTestStore(filepath.Join(t.TempDir(), "sessions"))
		fsys.half = true
		fsys.killAt(n)
		j, err := s.Create("s", task)
		fsys.heal()
		if err == nil {
			check(t, j.Close())
			if n < 20 {
				t.Fatalf("only %d calls were tried", n)
			}
			return
		}
		_, rerr := s.Read("s")
		j, err = s.Create("s", task)
		switch {
		case rerr == nil && !errors.Is(err, ErrExists):
			t.Fatalf("killed at call %d: a session is there, and Create says %v", n, err)
		case rerr != nil && err != nil:
			t.Fatalf("killed at call %d: readers say %v, Create says %v", n, rerr, err)
		}
		if j != nil {
			check(t, j.Close())
		}
		j, _ = reopen(t, s, "s")
		check(t, j.Close())
	}
}
