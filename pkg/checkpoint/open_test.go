package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kagent/pkg/session"
)

// types lists the kinds of the events from seq on.
func types(t tb, s *Store, id string, from int64) []session.Type {
	t.Helper()
	var out []session.Type
	err := s.Events(context.Background(), id, false, func(e session.Event) {
		if e.Seq >= from {
			out = append(out, e.Type)
		}
	})
	check(t, err)
	return out
}

func TestOpenOfACleanSessionOnlyAnnouncesItself(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	finished(t, s, "s")
	v, err := s.Read("s")
	check(t, err)
	fsys.reset()
	j, rec := reopen(t, s, "s")
	defer j.Close()
	if !reflect.DeepEqual(rec, Recovery{}) {
		t.Errorf("recovery %+v", rec)
	}
	if got := types(t, s, "s", v.State.Seq+1); !slices.Equal(got, []session.Type{"session/opened"}) {
		t.Errorf("appended %v", got)
	}
	// What follows builds on what was read: it is synced before anything is
	// written, and the opening itself before anything is done.
	log := slices.DeleteFunc(slices.Clone(fsys.trace), func(c string) bool {
		return c != "sync events.jsonl" && c != "write events.jsonl" && !strings.HasPrefix(c, "syncdir")
	})
	if !slices.Equal(log, []string{"sync events.jsonl", "syncdir s", "syncdir " + filepath.Base(s.Dir()), "write events.jsonl", "sync events.jsonl"}) {
		t.Errorf("order %v", log)
	}
	if st := j.State(); st.Epoch != v.State.Epoch+1 || st.Owner.PID != 42 {
		t.Errorf("epoch %d after %d, owner %+v", st.Epoch, v.State.Epoch, st.Owner)
	}
}

func TestCrashClosesTheTurn(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	ask(t, j, "I look.", 1)
	begin(t, j)
	seq := j.State().Seq
	check(t, j.Close())
	j, rec := reopen(t, s, "s")
	defer j.Close()
	status, reason := j.State().Status()
	if !rec.Crashed || status != session.Interrupted || reason != session.ReasonCrash {
		t.Errorf("crashed %v, %s %s", rec.Crashed, status, reason)
	}
	if got := types(t, s, "s", seq+1); !slices.Equal(got, []session.Type{"session/opened", "turn/end"}) {
		t.Errorf("appended %v", got)
	}
	if p := j.State().Main().Pending(); len(p) != 1 || !p[0].InDoubt() {
		t.Error("the call is not in doubt any more")
	}
}

func TestAttemptsCountOpeningsWithoutAStep(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	for want := 2; want <= 4; want++ {
		check(t, j.Close())
		j, _ = reopen(t, s, "s")
		if got := j.State().Owner.Attempt; got != want || j.State().Attempts != want {
			t.Errorf("attempt %d (state: %d), want %d", got, j.State().Attempts, want)
		}
	}
	toolStep(t, j, "I look.", "a", 1)
	check(t, j.Close())
	j, _ = reopen(t, s, "s")
	defer j.Close()
	if got := j.State().Owner.Attempt; got != 1 {
		t.Errorf("attempt %d after a finished step", got)
	}
}

// torn makes a session that died in a step, with half a line at its end.
func torn(t tb, dir string) (s *Store, fsys *seam, good, end []byte) {
	t.Helper()
	s, fsys = newTestStore(dir)
	j := create(t, s, "s")
	toolStep(t, j, "I look.", "a", 1)
	ask(t, j, "And again.", 1)
	check(t, j.Close())
	b := slurp(t, j.paths.log)
	at := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
	good, end = b[:at], b[at:len(b)-20]
	write(t, j.paths.log, slices.Concat(good, end))
	return s, fsys, good, end
}

// F001: a fragment is set aside and cut off, so that nothing is glued to it.
func TestTornEndIsSetAside(t *testing.T) {
	dir := t.TempDir()
	s, _, good, end := torn(t, dir)
	j, rec := reopen(t, s, "s")
	r := rec.Torn
	if r == nil || r.Offset != int64(len(good)) || r.Bytes != int64(len(end)) || r.File != fmt.Sprintf("torn-%d", len(good)) {
		t.Fatalf("torn %+v", r)
	}
	if !bytes.Equal(slurp(t, filepath.Join(dir, "s", r.File)), end) {
		t.Error("the bytes set aside are not those cut off")
	}
	check(t, j.Append("", said("first resume")))
	check(t, j.Commit())
	check(t, j.Close())
	j, rec = reopen(t, s, "s")
	defer j.Close()
	if rec.Torn != nil {
		t.Errorf("torn again: %+v", rec.Torn)
	}
	if e := j.State().Main().Entries; e[len(e)-1].User.Text != "first resume" {
		t.Error("what the first resume said is lost")
	}
	if got := types(t, s, "s", 1); !slices.Contains(got, "log/repaired") {
		t.Error("the repair is not recorded")
	}
}

// Opening may be killed anywhere, again and again: nothing good is lost, and
// what is torn is kept byte for byte.
func TestOpenSurvivesItsOwnCrash(t *testing.T) {
	for n := 0; ; n++ {
		dir := t.TempDir()
		s, fsys, good, end := torn(t, dir)
		fsys.half = true
		fsys.killAt(n)
		j, _, err := s.Open("s")
		fsys.heal()
		if err == nil {
			check(t, j.Close())
			if n < 20 {
				t.Fatalf("only %d calls were tried", n)
			}
			return
		}
		j, _, err = s.Open("s")
		if err != nil {
			t.Fatalf("killed at call %d: %v", n, err)
		}
		check(t, j.Close())
		if !bytes.HasPrefix(slurp(t, j.paths.log), good) {
			t.Fatalf("killed at call %d: a good line is lost", n)
		}
		names, err := filepath.Glob(filepath.Join(dir, "s", fmt.Sprintf("torn-%d*", len(good))))
		check(t, err)
		if !slices.ContainsFunc(names, func(name string) bool { return bytes.Equal(slurp(t, name), end) }) {
			t.Fatalf("killed at call %d: the torn bytes are lost; there are %v", n, names)
		}
	}
}

func TestOpenThatCannotStoreSaysSoAndGivesTheLockBack(t *testing.T) {
	for _, at := range []string{"sync events.jsonl", "syncdir s", "write events.jsonl", "read events.jsonl", "read s.json", "truncate events.jsonl", "write torn", "open lock", "write lock"} {
		s, fsys, good, _ := torn(t, t.TempDir())
		fsys.failOn(at, 1, syscall.EIO)
		_, _, err := s.Open("s")
		if e := wantError[*StorageError](t, err); !errors.Is(e, syscall.EIO) {
			t.Errorf("%s: %v", at, err)
		}
		fsys.heal()
		j, rec := reopen(t, s, "s")
		if !bytes.HasPrefix(slurp(t, j.paths.log), good) {
			t.Errorf("%s: %+v", at, rec)
		}
		check(t, j.Close())
	}
}

func TestNewerLogsAreReadButNotWritten(t *testing.T) {
	newer := task
	newer.Schema, newer.ID = "kagent/event/v2", "s"
	current := task
	current.Schema, current.ID = session.Schema, "s"
	for name, data := range map[string][]session.Data{
		"schema": {&newer, &session.Opened{Attempt: 1, Version: "v7"}},
		"kind":   {&current, &session.Opened{Attempt: 1, Version: "v7"}, session.Unknown{Kind: "approval/delegated", Raw: []byte(`{"to":["x"]}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := newTestStore(dir)
			var buf bytes.Buffer
			var prev uint32
			for i, d := range data {
				var err error
				prev, err = appendLine(&buf, record{Event: event(int64(i+1), d), prev: prev})
				check(t, err)
			}
			check(t, os.Mkdir(filepath.Join(dir, "s"), dirMode))
			write(t, pathsOf(dir, "s").log, buf.Bytes())
			write(t, pathsOf(dir, "s").checkpoint, []byte("from a newer version, perhaps"))

			_, _, err := s.Open("s")
			if e := wantError[*VersionError](t, err); e.Version != "v7" || !strings.Contains(e.Error(), "v7") {
				t.Errorf("error %v", e)
			}
			if b := slurp(t, pathsOf(dir, "s").log); !bytes.Equal(b, buf.Bytes()) {
				t.Error("the log was changed")
			}
			if _, err := os.Lstat(pathsOf(dir, "s").checkpoint); err != nil {
				t.Error("the checkpoint was moved")
			}
			if got := types(t, s, "s", 1); len(got) != len(data) {
				t.Errorf("a reader sees %v", got)
			}
		})
	}
}
