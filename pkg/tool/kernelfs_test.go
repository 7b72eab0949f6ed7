//go:build linux

package tool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The environment of this process, with the provider's key, is a file in /proc;
// other files there never end a read.
func TestKernelFileSystemsAreNotEntered(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc here:", err)
	}
	ws, err := NewWorkspace("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"proc/self/environ", "/proc/kmsg", "proc", "sys/kernel", "dev/../proc/version"} {
		args, err := json.Marshal(map[string]any{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range []Tool{ReadFile(ws, nil), ListFiles(ws), WriteFile(ws)} {
			raw := args
			if tool.Spec().Name == "write_file" {
				raw = json.RawMessage(strings.TrimSuffix(string(args), "}") + `,"content":"x"}`)
			}
			if res := tool.Run(t.Context(), Call{Args: raw}); res.Outcome != Failed || !strings.Contains(res.Text, "of the kernel") {
				t.Errorf("%s %s: %+v", tool.Spec().Name, path, res)
			}
		}
	}
	if _, err := NewWorkspace("/proc"); err == nil {
		t.Error("/proc is taken as a work directory")
	}
}

// A hook would run with the next commit, of whoever makes it.
func TestGitsOwnFilesAreNotChanged(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "config"), []byte("[core]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".git", filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	ws, err := NewWorkspace(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{".git/hooks/pre-commit", "alias/hooks/x", "sub/../.git/new", "new/.GIT/config"} {
		res := WriteFile(ws).Run(t.Context(), Call{Args: json.RawMessage(`{"path":"` + path + `","content":"x"}`)})
		if res.Outcome != Failed {
			t.Errorf("write_file %s: %+v", path, res)
		}
	}
	res := EditFile(ws).Run(t.Context(), Call{Args: json.RawMessage(`{"path":".git/config","edits":[{"old":"core","new":"x"}]}`)})
	if res.Outcome != Failed || !strings.Contains(res.Text, "belongs to git") {
		t.Errorf("edit_file: %+v", res)
	}
	if res := ReadFile(ws, nil).Run(t.Context(), Call{Args: json.RawMessage(`{"path":".git/config"}`)}); res.Outcome != OK {
		t.Errorf("reading is allowed: %+v", res)
	}
}

// max-steps: 1 in .kagent.yaml would throttle every later run, and a profile is
// a system prompt.
func TestWhatSetsUpKagentIsNotChangedByTools(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".kagent", "agents"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".kagent.yaml"), []byte("max-steps: 9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".kagent", filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	ws, err := NewWorkspace(dir)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(tool Tool, args obj) {
		t.Helper()
		if r := run(t, tool, args); r.Outcome != Failed || !strings.Contains(r.Text, "sets up kagent") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	for _, path := range []string{".kagent.yaml", ".kagent/agents/a.md", "alias/agents/a.md", ".kagent/../.kagent/x", "new/.KAGENT.yaml"} {
		refused(WriteFile(ws), obj{"path": path, "content": "x"})
		refused(ApplyPatch(ws), obj{"patch": "--- /dev/null\n+++ b/" + path + "\n@@ -0,0 +1 @@\n+x\n"})
	}
	refused(EditFile(ws), obj{"path": ".kagent.yaml", "edits": []obj{{"old": "9", "new": "1"}}})
	refused(ApplyPatch(ws), obj{"patch": "--- a/.kagent.yaml\n+++ /dev/null\n@@ -1 +0,0 @@\n-max-steps: 9\n"})
	if r := run(t, ReadFile(ws, nil), obj{"path": ".kagent.yaml"}); r.Outcome != OK {
		t.Errorf("reading is allowed: %+v", r)
	}
	if r := run(t, WriteFile(ws), obj{"path": ".kagent.yml", "content": "x"}); r.Outcome != OK {
		t.Errorf("another name: %+v", r)
	}
}
