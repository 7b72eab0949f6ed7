package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// As root, who could: what another user wrote is not run as root.
func TestAnotherUsersSessionIsNotGoneOnWith(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const other = 12345
	for name, give := range map[string]func(p paths) error{
		"its directory":  func(p paths) error { return os.Chown(p.dir, other, -1) },
		"its log":        func(p paths) error { return os.Chown(p.log, other, -1) },
		"its checkpoint": func(p paths) error { return os.Chown(p.checkpoint, other, -1) },
		"its artifacts":  func(p paths) error { return os.Chown(filepath.Join(p.dir, artifactsDir), other, -1) },
		"its inbox":      func(p paths) error { return os.Chown(filepath.Join(p.dir, "inbox"), other, -1) },
	} {
		s, fsys := newTestStore(t.TempDir())
		check(t, give(lettered(t, s)))
		before := snapshot(t, s.dir)
		fsys.reset()
		_, _, err := s.Open("s")
		if e := wantError[*UserError](t, err); e.UID != other || e.ID != "s" {
			t.Errorf("%s: %v", name, err)
		}
		if snapshot(t, s.dir) != before || fsys.count("write") > 0 {
			t.Errorf("%s: it was changed: %v", name, fsys.trace)
		}
		if l := list(t, s); len(l) != 1 || l[0].Status == Damaged {
			t.Errorf("%s: list %+v", name, l)
		}
		report, err := s.Verify("s")
		if check(t, err); report.OK || report.Damaged() {
			t.Errorf("%s: verified %+v", name, report)
		}
		trusting, _ := newTestStore(s.dir)
		trusting.trusted = []int{other}
		j, _, err := trusting.Open("s")
		check(t, err)
		check(t, j.Close())
		check(t, s.Remove("s", false))
	}
}

// writtenByAnybody are the ways in which a session lies open to every user.
var writtenByAnybody = map[string]func(p paths) []string{
	"its directory":  func(p paths) []string { return []string{p.dir} },
	"its log":        func(p paths) []string { return []string{p.log} },
	"its artifacts":  func(p paths) []string { return []string{filepath.Join(p.dir, artifactsDir)} },
	"a letter":       func(p paths) []string { l, _ := filepath.Glob(filepath.Join(p.dir, "inbox", "*")); return l },
	"its checkpoint": func(p paths) []string { return []string{p.checkpoint} },
}

// lettered is a finished session that has artifacts and a letter.
func lettered(t *testing.T, s *Store) paths {
	t.Helper()
	finished(t, s, "s")
	p := pathsOf(s.dir, "s")
	check(t, os.Mkdir(filepath.Join(p.dir, artifactsDir), dirMode))
	inbox, err := s.Inbox("s")
	check(t, err)
	_, err = inbox.Send("more")
	check(t, err)
	return p
}

// chmod -R a+w, and whoever else is on the machine has the word.
func TestASessionThatAnybodyMayWriteIsNotGoneOnWith(t *testing.T) {
	for name, what := range writtenByAnybody {
		for _, wide := range []os.FileMode{0o666, 0o602, 0o777 | os.ModeSticky} {
			s, fsys := newTestStore(t.TempDir())
			p := lettered(t, s)
			for _, path := range what(p) {
				info, err := os.Stat(path)
				check(t, err)
				check(t, os.Chmod(path, info.Mode()|wide))
			}
			before := snapshot(t, s.dir)
			fsys.reset()
			_, _, err := s.Open("s")
			if e := wantError[*UserError](t, err); e.Mode&0o002 == 0 || len(e.All) != 2 {
				t.Errorf("%s %v: %v", name, wide, err)
			}
			if snapshot(t, s.dir) != before || fsys.count("write") > 0 {
				t.Errorf("%s: it was changed: %v", name, fsys.trace)
			}
			if l := list(t, s); len(l) != 1 || l[0].Status == Damaged {
				t.Errorf("%s: list %+v", name, l)
			}
			_, err = s.Fork("s", "f", ForkOptions{})
			check(t, err)
			check(t, s.Remove("s", false))
		}
	}
}

// What git and tar bring along, and what a group was given, opens as ever.
func TestASessionThatOnlyAGroupMayWriteIsWarnedOf(t *testing.T) {
	for mode, warned := range map[os.FileMode]bool{0o644: false, 0o660: true, 0o664: true} {
		s, _ := newTestStore(t.TempDir())
		p := lettered(t, s)
		check(t, os.Chmod(p.log, mode))
		j, rec := reopen(t, s, "s")
		check(t, j.Close())
		if (len(rec.Warnings) == 1 && strings.Contains(rec.Warnings[0], "chmod -R g-w")) != warned || len(rec.Warnings) > 1 {
			t.Errorf("%v: %q", mode, rec.Warnings)
		}
	}
}

// mounted is a file system where every file is one that anybody may write, as
// mounts of other systems are.
type mounted struct{ OS }

func (m mounted) Open(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := m.OS.Open(name, flag, perm)
	if err == nil {
		err = os.Chmod(name, 0o777)
	}
	return f, err
}

func (m mounted) Mkdir(name string, perm fs.FileMode) error {
	return errors.Join(m.OS.Mkdir(name, perm), os.Chmod(name, 0o777))
}

func TestAFileSystemWithoutModesRefusesNoSession(t *testing.T) {
	s := NewStore(t.TempDir(), Options{FS: mounted{}})
	finished(t, s, "s")
	j, rec := reopen(t, s, "s")
	check(t, j.Close())
	if left, _ := filepath.Glob(filepath.Join(s.dir, "*", modesTemp)); len(rec.Warnings) > 0 || len(left) > 0 {
		t.Errorf("warned %q, left %q", rec.Warnings, left)
	}
}

// A letter that waits where a session is to begin would speak in it.
func TestNoSessionBeginsInADirectoryThatAnybodyMayWrite(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	p := pathsOf(s.dir, "s")
	check(t, os.Mkdir(p.dir, dirMode))
	check(t, os.Chmod(p.dir, 0o777))
	_, err := s.Create("s", task)
	wantError[*UserError](t, err)
}
