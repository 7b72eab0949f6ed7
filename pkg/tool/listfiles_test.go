package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// F099: links are shown and not followed, so that cycles don't matter.
func TestListFilesShowsEveryKind(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "b.txt", "12345")
	put(t, ws, "a/inner/deep", "")
	put(t, ws, "中文.md", "x")
	put(t, ws, "🙂", "")
	put(t, ws, ".hidden", "")
	put(t, ws, "new\nline", "")
	put(t, ws, "bad\xff", "")
	fifo(t, ws, "fifo")
	link(t, ws, "..", "a/up")
	link(t, ws, "/proc", "p")
	if err := os.Mkdir(filepath.Join(ws.Dir(), "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		".hidden\t0", "a/", "a/inner/", "a/up -> ..", "b.txt\t5", `"bad\xff"` + "\t0", "empty/",
		"fifo\t(named pipe)", `"new\nline"` + "\t0", "p -> /proc", "中文.md\t1", "🙂\t0", "",
	}, "\n")
	if r := run(t, ListFiles(ws), obj{"path": ".", "depth": 2}); r.Outcome != OK || r.Text != want {
		t.Errorf("%s\n%s\nwant\n%s", r.Outcome, r.Text, want)
	}
	if r := run(t, ListFiles(ws), obj{"path": "a"}); r.Text != "inner/\nup -> ..\n" {
		t.Errorf("depth 1: %q", r.Text)
	}
	if r := run(t, ListFiles(ws), obj{"path": "a/up/a/inner"}); r.Text != "deep\t0\n" {
		t.Errorf("through a link: %q", r.Text)
	}
	if r := run(t, ListFiles(ws), obj{"path": "empty"}); r.Text != "[the directory is empty]" {
		t.Errorf("empty: %q", r.Text)
	}
}

func TestListFilesHidesTheSessions(t *testing.T) {
	ws, _ := sandbox(t)
	r := run(t, ListFiles(ws), obj{"path": ".", "depth": 5})
	wantOutcome(t, r, OK)
	wantText(t, r.Text, "sub/deep/file\t4\n", "ses -> .kagent-sessions\n")
	for _, line := range strings.Split(r.Text, "\n") {
		if strings.HasPrefix(line, ".kagent-sessions") || strings.Contains(line, "s1.json") {
			t.Errorf("shows %q", line)
		}
	}
}

func TestListFilesIsBounded(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "zz/last", "")
	for i := range 20_000 {
		if err := os.WriteFile(filepath.Join(ws.Dir(), "zz", fmt.Sprintf("f%05d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, ListFiles(ws), obj{"path": "zz"})
	wantOutcome(t, r, OK)
	lines := strings.Split(strings.TrimSpace(r.Text), "\n")
	if len(lines) != maxShown+1 || lines[0] != "f00000\t0" || lines[maxShown-1] != "f00999\t0" {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[0], lines[len(lines)-2])
	}
	wantText(t, lines[len(lines)-1], "cut at 1000 entries")

	// A large directory deep down does not push out its neighbours.
	put(t, ws, "a/b/c", "")
	put(t, ws, "zzz", "")
	r = run(t, ListFiles(ws), obj{"path": ".", "depth": 3})
	wantText(t, r.Text, "a/b/\n", "zz/\n", "zzz\t0\n", "zz/f00000\t0\n", "cut at 1000 entries")
}

func TestListFilesGoesOnAfterAnUnreadableDirectory(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	ws := workspace(t)
	put(t, ws, "a/x", "")
	put(t, ws, "b/y", "")
	locked := filepath.Join(ws.Dir(), "a")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o755) })
	r := run(t, ListFiles(ws), obj{"path": ".", "depth": 2})
	if want := "a/\t(permission denied)\nb/\nb/y\t0\n"; r.Outcome != OK || r.Text != want {
		t.Errorf("%s %q, want %q", r.Outcome, r.Text, want)
	}
	wantText(t, run(t, ListFiles(ws), obj{"path": "a"}).Text, "a: permission denied")
}

func TestListFilesRefuses(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "f", "")
	for path, want := range map[string]string{"f": "not a directory", "none": "does not exist"} {
		r := run(t, ListFiles(ws), obj{"path": path})
		wantOutcome(t, r, Failed)
		wantText(t, r.Text, want)
	}
	wantText(t, run(t, ListFiles(ws), obj{"path": ".", "depth": 0}).Text, "depth", "minimum")
	wantText(t, run(t, ListFiles(ws), obj{}).Text, `"path" is missing`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantOutcome(t, ListFiles(ws).Run(ctx, Call{Args: []byte(`{"path":"."}`)}), Stopped)
}
