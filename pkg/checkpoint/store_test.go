package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kagent/pkg/session"
)

func TestIDs(t *testing.T) {
	for _, id := range []string{"a", "0", "_", "nightly", "A-b_9", "3f2a9c01-1111-4222-8333-444455556666", "com", "com10", "lpt", strings.Repeat("x", 128)} {
		if err := CheckID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	s, _ := newTestStore(t.TempDir())
	for _, id := range []string{
		"", ".", "..", "-", "-rf", "../x", "a/b", `a\b`, "a.b", ".hidden", "a b", "a\n", "a\x00", "é", "读", "a\u202e", "ａ", "~", "$HOME", "*", "a:b",
		strings.Repeat("x", 129), "con", "CON", "prn", "aux", "nul", "com1", "LPT9", "all", "last", "none", "lock", "events", "checkpoint", "--last",
	} {
		_, err := s.Create(id, task)
		if e := wantError[*IDError](t, err); e.ID != id || e.Why == "" {
			t.Errorf("%q: %v", id, err)
		}
	}
	if entries, _ := os.ReadDir(s.Dir()); len(entries) != 0 {
		t.Errorf("made %v", entries)
	}
}

func TestIDsThatDifferOnlyInCaseAreRefused(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "Nightly")
	for _, id := range []string{"nightly", "NIGHTLY"} {
		_, err := s.Create(id, task)
		if e := wantError[*IDError](t, err); !strings.Contains(e.Error(), "Nightly") {
			t.Errorf("%v", e)
		}
	}
	if _, err := s.Create("Nightly", task); !errors.Is(err, ErrExists) {
		t.Errorf("the same id: %v", err)
	}
}

func TestCreateIsDurableBeforeItReturns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "sessions")
	s, fsys := newTestStore(dir)
	j, err := s.Create("s", task)
	check(t, err)
	defer j.Close()
	var order []string
	for _, c := range fsys.trace {
		if strings.HasPrefix(c, "mkdir") || strings.HasPrefix(c, "sync") || c == "write events.jsonl" {
			order = append(order, c)
		}
	}
	parent := filepath.Base(filepath.Dir(filepath.Dir(dir)))
	want := []string{
		"mkdir new", "syncdir " + parent, "mkdir sessions", "syncdir new", "syncdir new", "sync .gitignore", "syncdir sessions",
		"mkdir s", "write events.jsonl", "sync events.jsonl", "syncdir s", "syncdir sessions",
	}
	if !slices.Equal(order, want) {
		t.Errorf("order %v\nwant  %v", order, want)
	}
	if got := types(t, s, "s", 1); !slices.Equal(got, []session.Type{"session/created", "session/opened"}) {
		t.Errorf("the log begins with %v", got)
	}
	if st := j.State(); st.ID != "s" || st.Schema != session.Schema || st.Task != task.Task || st.Epoch != 1 || st.Attempts != 1 {
		t.Errorf("state %+v", st)
	}
}

// Git is kept away from a directory of sessions, also where its maker died
// before it was told; files of others are not hidden.
func TestGitignore(t *testing.T) {
	for _, c := range []struct {
		name  string
		there map[string]string // nil: no directory
		want  string
	}{
		{"new", nil, "*\n"},
		{"empty", map[string]string{}, "*\n"},
		{"cut short", map[string]string{".gitignore": "*"}, "*\n"},
		{"somebody's own", map[string]string{".gitignore": "*.tmp\n"}, "*.tmp\n"},
		{"files of others", map[string]string{"main.go": "package main"}, ""},
	} {
		dir := filepath.Join(t.TempDir(), "sessions")
		if c.there != nil {
			check(t, os.Mkdir(dir, dirMode))
		}
		for name, text := range c.there {
			write(t, filepath.Join(dir, name), []byte(text))
		}
		s, _ := newTestStore(dir)
		finished(t, s, "s")
		if b, _ := os.ReadFile(filepath.Join(dir, ".gitignore")); string(b) != c.want {
			t.Errorf("%s: .gitignore holds %q", c.name, b)
		}
	}
}

// F018: private under any umask, also what is rewritten or repaired.
func TestFilesArePrivate(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o777} {
		dir := filepath.Join(t.TempDir(), "sessions")
		old := syscall.Umask(mask)
		defer syscall.Umask(old)
		s, _, _, _ := torn(t, dir)
		write(t, pathsOf(dir, "s").checkpoint, []byte("bad"))
		j, _ := reopen(t, s, "s")
		toolStep(t, j, "x", "y", 1)
		check(t, j.Close())
		seen := 0
		check(t, filepath.Walk(dir, func(p string, info fs.FileInfo, err error) error {
			want := fs.FileMode(0o600)
			if info.IsDir() {
				want = 0o700
			}
			if seen++; info.Mode().Perm() != want {
				t.Errorf("umask %03o: %s is %v", mask, p, info.Mode())
			}
			return err
		}))
		if seen < 9 { // two directories, .gitignore, checkpoint, log, locks, torn, damaged checkpoint
			t.Errorf("only %d files", seen)
		}
	}
}

// F020: nothing starts where nothing can be stored, and the message says where
// and how to go elsewhere.
func TestReadOnlyDirectoryIsNamed(t *testing.T) {
	for _, at := range []string{"mkdir sessions", "mkdir s"} {
		dir := filepath.Join(t.TempDir(), "sessions")
		s, fsys := newTestStore(dir)
		fsys.failOn(at, 1, syscall.EROFS)
		_, err := s.Create("s", task)
		e := wantError[*StorageError](t, err)
		if !errors.Is(e, syscall.EROFS) || !strings.Contains(e.Error(), dir) || !strings.Contains(e.Error(), "--dir") {
			t.Errorf("%s: %v", at, e)
		}
	}
}

// F016, F044: prefixes, ambiguous ones, and what may have been meant.
func TestResolve(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	_, err := s.Resolve("x")
	wantError[*NotFoundError](t, err)
	for _, id := range []string{"nightly", "nightly-2", "weekly", "3f2a9c01"} {
		finished(t, s, id)
	}
	for prefix, want := range map[string]string{"nightly": "nightly", "nightly-": "nightly-2", "w": "weekly", "3f2a9c01": "3f2a9c01"} {
		if got, err := s.Resolve(prefix); err != nil || got != want {
			t.Errorf("%s: %q %v", prefix, got, err)
		}
	}
	_, err = s.Resolve("night")
	if e := wantError[*AmbiguousError](t, err); !slices.Equal(e.IDs, []string{"nightly", "nightly-2"}) {
		t.Errorf("ambiguous: %v", e.IDs)
	}
	_, err = s.Resolve("nigthly")
	wantError[*NotFoundError](t, err)
	_, err = s.Resolve("nightlyy")
	if e := wantError[*NotFoundError](t, err); !slices.Contains(e.Near, "nightly") {
		t.Errorf("near: %v", e.Near)
	}
	_, err = s.Resolve("")
	wantError[*NotFoundError](t, err)
}

// A hint that names just any session sends people to the wrong one.
func TestOnlyAnIDThatResemblesWhatWasTypedIsSuggested(t *testing.T) {
	ids := []string{"a", "m", "nightly", "report-2026-12-01", "3f2a9c01-77b0"}
	for typed, want := range map[string]string{
		"abcdef": "", "main": "", "1": "", "reptile": "", "Übung": "",
		"nigthly": "nightly", "nightlyy": "nightly", "nihgtly": "nightly", "Nightly": "nightly", "nightly-2": "nightly",
		"report-2026-12-02": "report-2026-12-01", "3f2a9d": "3f2a9c01-77b0",
	} {
		if got := strings.Join(near(typed, ids), " "); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}
