package tool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

type obj = map[string]any

// run calls a tool as an agent does: the arguments are checked first, and a
// problem counts as a failed result.
func run(t *testing.T, tool Tool, args obj) Result {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	set, err := NewSet(tool)
	if err != nil {
		t.Fatal(err)
	}
	checked, problem := set.Check(tool.Spec().Name, string(raw))
	if problem != nil {
		return Fail(problem.Text)
	}
	r := tool.Run(t.Context(), Call{Args: checked, Key: "key-1"})
	if !utf8.ValidString(r.Text) || strings.ContainsRune(r.Text, 0) {
		t.Errorf("the result is not clean text: %q", r.Text)
	}
	return r
}

func workspace(t *testing.T, hidden ...string) *Workspace {
	t.Helper()
	ws, err := NewWorkspace(t.TempDir(), hidden...)
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

// put writes a file below the work directory, parents included.
func put(t *testing.T, ws *Workspace, name, content string) string {
	t.Helper()
	path := filepath.Join(ws.Dir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func link(t *testing.T, ws *Workspace, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(ws.Dir(), name)); err != nil {
		t.Fatal(err)
	}
}

func fifo(t *testing.T, ws *Workspace, name string) string {
	t.Helper()
	path := filepath.Join(ws.Dir(), name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// await returns when someone has written to a fifo.
func await(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Error(err)
		return
	}
	if _, err := f.Read(make([]byte, 1)); err != nil {
		t.Errorf("nothing was written to %s: %v", path, err)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func wantOutcome(t *testing.T, r Result, want Outcome) {
	t.Helper()
	if r.Outcome != want {
		t.Fatalf("outcome is %q, want %q; text: %.500s", r.Outcome, want, r.Text)
	}
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("text lacks %q: %.500s", p, text)
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string can always be marshalled
	return string(b)
}
