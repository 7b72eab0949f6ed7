package checkpoint_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// What the fault lab found on the built binary.

func newSession(t *testing.T, dir string) (*checkpoint.Store, *checkpoint.Journal) {
	t.Helper()
	s := checkpoint.NewStore(dir, checkpoint.Options{})
	j, err := s.Create("s1", session.Created{Task: "x", Settings: session.Settings{Agent: "react"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return s, j
}

func ignoreFile(dir, text string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o600)
}

// A run that was killed right after it had made the directory, or while it
// wrote .gitignore, left the sessions of all later runs to git.
func TestGitIgnoreIsMadeUpForAfterAKill(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"no directory":    func(string) error { return nil },
		"empty directory": func(dir string) error { return os.Mkdir(dir, 0o700) },
		"empty file":      func(dir string) error { return ignoreFile(dir, "") },
		"kept by git": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, ".gitkeep"), nil, 0o600))
		},
		"zeros": func(dir string) error { return ignoreFile(dir, "\x00\x00") },
	} {
		dir := filepath.Join(t.TempDir(), "sessions")
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
		newSession(t, dir)
		if b, err := os.ReadFile(filepath.Join(dir, ".gitignore")); string(b) != "*\n" {
			t.Errorf("%s: .gitignore holds %q: %v", name, b, err)
		}
	}
}

// A directory that holds anything else is somebody's, perhaps a project's root.
func TestGitIgnoreIsNotForcedOnAUsedDirectory(t *testing.T) {
	for name, text := range map[string]string{"README.md": "mine", ".gitignore": "*.tmp\n"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		newSession(t, dir)
		want := ""
		if name == ".gitignore" {
			want = text
		}
		if b, _ := os.ReadFile(filepath.Join(dir, ".gitignore")); string(b) != want {
			t.Errorf("beside %s: .gitignore holds %q, want %q", name, b, want)
		}
	}
}

// syncs is the real file system; it notes which directories are made durable.
type syncs struct {
	checkpoint.OS
	dirs []string
}

func (s *syncs) SyncDir(name string) error {
	s.dirs = append(s.dirs, filepath.Base(name))
	return s.OS.SyncDir(name)
}

// A run that was killed between its first line and the syncs of the directories
// leaves a session that a resume can read and a power cut can take away: whoever
// opens it makes its names durable before anything is reported.
func TestOpenMakesTheNamesOfTheSessionDurable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	_, j := newSession(t, dir)
	j.Close()
	fsys := &syncs{}
	j, _, err := checkpoint.NewStore(dir, checkpoint.Options{FS: fsys}).Open("s1")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, name := range []string{"s1", "sessions"} {
		if !slices.Contains(fsys.dirs, name) {
			t.Errorf("%s was not synced, only %v", name, fsys.dirs)
		}
	}
}

// The directory of the sessions may have been made by a run that was killed
// before it was durable in its parent.
func TestFirstSessionMakesTheirDirectoryDurable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	fsys := &syncs{}
	j, err := checkpoint.NewStore(dir, checkpoint.Options{FS: fsys}).Create("s1", session.Created{Task: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if parent := filepath.Base(filepath.Dir(dir)); !slices.Contains(fsys.dirs, parent) {
		t.Errorf("the parent %s was not synced, only %v", parent, fsys.dirs)
	}
}

// A log that its owner had no time to show in the checkpoint may not be durable
// either: its answer must not be given out.
func TestSavedMeansThatTheCheckpointShowsTheLog(t *testing.T) {
	s, j := newSession(t, t.TempDir())
	saved := func() bool {
		v, err := s.Read("s1")
		if err != nil {
			t.Fatal(err)
		}
		return v.Saved
	}
	if saved() {
		t.Error("saved without a checkpoint")
	}
	if err := j.Commit(); err != nil {
		t.Fatal(err)
	}
	if !saved() {
		t.Error("not saved after a commit")
	}
	if err := j.Append("", &session.TurnStart{Turn: 1}); err != nil {
		t.Fatal(err)
	}
	if saved() {
		t.Error("saved, and the log is longer")
	}
}
