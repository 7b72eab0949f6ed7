package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func gone(t *testing.T, s *Store, id string) {
	t.Helper()
	_, err := s.Read(id)
	wantError[*NotFoundError](t, err)
	entries, err := os.ReadDir(s.Dir())
	check(t, err)
	for _, e := range entries {
		if e.Name() != ".gitignore" {
			t.Errorf("left: %s", e.Name())
		}
	}
}

func TestRemove(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	finished(t, s, "s")
	fsys.reset()
	check(t, s.Remove("s", false))
	gone(t, s, "s")
	var order []string
	for _, c := range fsys.trace {
		switch c {
		case "sync events.jsonl", "remove s.json", "rename .removed-s-0", "removeall .removed-s-0":
			order = append(order, c)
		}
	}
	if len(order) != 4 || order[0] != "sync events.jsonl" || order[1] != "remove s.json" || order[2] != "rename .removed-s-0" {
		t.Errorf("order %v", order)
	}
	wantError[*NotFoundError](t, s.Remove("s", false))
	wantError[*NotFoundError](t, s.Remove("s", true))
	finished(t, s, "s") // the id is free again
}

// Killed anywhere, a removal leaves the session whole or hidden, hides no other,
// and can be ended.
func TestRemoveSurvivesItsOwnCrash(t *testing.T) {
	hiddenAt := -1
	for n := 0; ; n++ {
		s, fsys := newTestStore(t.TempDir())
		finished(t, s, "s")
		fsys.half = true
		fsys.killAt(n)
		err := s.Remove("s", false)
		fsys.heal()
		if err == nil {
			if hiddenAt < 0 || n < hiddenAt+5 {
				t.Errorf("%d calls tried, hidden from %d on", n, hiddenAt)
			}
			gone(t, s, "s")
			return
		}
		wantError[*StorageError](t, err)
		v, rerr := s.Read("s")
		l := list(t, s)
		var missing *NotFoundError
		switch {
		case rerr == nil && hiddenAt < 0:
			if len(l) != 1 || len(v.State.Main().Entries) != 3 {
				t.Fatalf("killed at call %d: a part is left: %+v", n, l)
			}
		case errors.As(rerr, &missing):
			if hiddenAt < 0 {
				hiddenAt = n
			}
			if len(l) != 0 {
				t.Fatalf("killed at call %d: not hidden from the list", n)
			}
			_, _, err := s.Open("s")
			wantError[*NotFoundError](t, err)
		default:
			t.Fatalf("killed at call %d: readers say %v", n, rerr)
		}
		check(t, s.Remove("s", false))
		gone(t, s, "s")
	}
}

func TestRemovingOneEndsTheRemovalOfOthers(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	finished(t, s, "a-1")
	finished(t, s, "a")
	fsys.failOn("removeall", 1, syscall.EIO)
	wantError[*StorageError](t, s.Remove("a-1", false))
	fsys.heal()
	check(t, s.Remove("a", false))
	gone(t, s, "a-1")
	check(t, os.Mkdir(filepath.Join(s.Dir(), ".removed-not by us"), dirMode))
	finished(t, s, "b")
	check(t, s.Remove("b", false))
	if _, err := os.Lstat(filepath.Join(s.Dir(), ".removed-not by us")); err != nil {
		t.Error("something foreign was removed")
	}
}

func TestDamagedSessionIsRemovedOnlyWithForce(t *testing.T) {
	for name, harm := range map[string]func(p paths){
		"log":      func(p paths) { b := slurp(t, p.log); b[100] ^= 1; write(t, p.log, b) },
		"log lost": func(p paths) { check(t, os.Remove(p.log)) },
		"all lost": func(p paths) { check(t, os.RemoveAll(p.dir)) },
		"directory is a link": func(p paths) {
			check(t, os.Rename(p.dir, filepath.Join(t.TempDir(), "target")))
			check(t, os.Symlink(t.TempDir(), p.dir))
		},
	} {
		s, _ := newTestStore(t.TempDir())
		finished(t, s, "s")
		harm(pathsOf(s.Dir(), "s"))
		before := snapshot(t, s.Dir())
		wantError[*DamagedError](t, s.Remove("s", false))
		if snapshot(t, s.Dir()) != before {
			t.Errorf("%s: something was changed", name)
		}
		check(t, s.Remove("s", true))
		gone(t, s, "s")
	}
}

// F156: what a link in a session points to stays.
func TestRemoveFollowsNoLink(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	other := t.TempDir()
	victim := filepath.Join(other, "victim")
	write(t, victim, []byte("precious"))
	p := pathsOf(s.Dir(), "s")
	check(t, os.Symlink(other, filepath.Join(p.dir, "artifacts")))
	check(t, os.Remove(p.checkpoint))
	check(t, os.Symlink(victim, p.checkpoint))
	check(t, s.Remove("s", false))
	gone(t, s, "s")
	if b := slurp(t, victim); string(b) != "precious" {
		t.Errorf("victim holds %q", b)
	}
}

func TestTornSessionIsRemoved(t *testing.T) {
	s, _, _, _ := torn(t, t.TempDir())
	check(t, s.Remove("s", false))
	gone(t, s, "s")
}
