package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sandbox is a work directory in a parent that also holds a secret, with
// sessions inside and links in all directions.
func sandbox(t *testing.T) (ws *Workspace, parent string) {
	t.Helper()
	parent = t.TempDir()
	dir := filepath.Join(parent, "work")
	sessions := filepath.Join(dir, ".kagent-sessions")
	for _, d := range []string{filepath.Join(sessions, "s1"), filepath.Join(dir, "sub", "deep"), filepath.Join(parent, "work2")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := NewWorkspace(dir, sessions)
	if err != nil {
		t.Fatal(err)
	}
	put(t, ws, "../secret", "SECRET")
	put(t, ws, "../work2/x", "SECRET")
	put(t, ws, ".kagent-sessions/s1.json", "SECRET")
	put(t, ws, ".kagent-sessions/s1/events.jsonl", "SECRET")
	put(t, ws, "plain", "PLAIN")
	put(t, ws, "sub/deep/file", "DEEP")
	link(t, ws, "../secret", "out")
	link(t, ws, "..", "up")
	link(t, ws, filepath.Join(parent, "secret"), "absout")
	link(t, ws, filepath.Join(dir, "plain"), "absin")
	link(t, ws, ".kagent-sessions", "ses")
	link(t, ws, ".kagent-sessions/s1", "ses1")
	link(t, ws, "ses", "ses2")
	link(t, ws, "sub/deep", "short")
	link(t, ws, "loop", "loop")
	return ws, parent
}

// badPaths are paths that no file tool may touch.
func badPaths(ws *Workspace, parent string) map[string]string {
	return map[string]string{
		"../secret":                       "outside",
		"sub/../../secret":                "outside",
		"sub/deep/../../../secret":        "outside",
		"./././../secret":                 "outside",
		"..":                              "outside",
		"../work/plain":                   "outside",
		parent + "/secret":                "outside",
		parent + "/work2/x":               "outside",
		ws.Dir() + "/../secret":           "outside",
		"/etc/passwd":                     "outside",
		"/":                               "outside",
		"/proc/self/environ":              "outside",
		"out":                             "outside",
		"up/secret":                       "outside",
		"up/work/plain":                   "outside",
		"absout":                          "outside",
		"short/../../../secret":           "outside",
		".kagent-sessions/s1.json":        "sessions",
		"./.kagent-sessions//s1.json":     "sessions",
		"sub/../.kagent-sessions/s1.json": "sessions",
		ws.Dir() + "/.kagent-sessions/s1/events.jsonl": "sessions",
		"ses/s1.json":                          "sessions",
		"ses2/s1/events.jsonl":                 "sessions",
		"ses1/../s1.json":                      "sessions",
		"ses1/events.jsonl":                    "sessions",
		"short/../../.kagent-sessions/s1.json": "sessions",
		".kagent-sessions/new":                 "sessions",
		"ses/new/newer":                        "sessions",
		".kagent-sessions":                     "sessions",
		"ses1":                                 "sessions",
		"loop":                                 "too many links",
		"plain/x":                              "not a directory",
		"plain/":                               "not a directory",
		"nul\x00":                              "NUL",
		strings.Repeat("a/", 3000):             "longer than",
		strings.Repeat("名", 300):               "name too long",
		"none/../plain":                        "not exist",
	}
}

// F101: every file tool applies the same rules.
func TestNoToolLeavesTheWorkDirectory(t *testing.T) {
	ws, parent := sandbox(t)
	before := tree(t, parent)
	tools := map[string]func(path string) Result{
		"read_file":  func(p string) Result { return run(t, ReadFile(ws, nil), obj{"path": p}) },
		"list_files": func(p string) Result { return run(t, ListFiles(ws), obj{"path": p}) },
		"write_file": func(p string) Result { return run(t, WriteFile(ws), obj{"path": p, "content": "BAD"}) },
		"edit_file": func(p string) Result {
			return run(t, EditFile(ws), obj{"path": p, "edits": []obj{{"old": "SECRET", "new": "BAD"}}})
		},
		"glob":         func(p string) Result { return run(t, Glob(ws), obj{"pattern": "*", "path": p}) },
		"glob pattern": func(p string) Result { return run(t, Glob(ws), obj{"pattern": p + "/**"}) },
		"grep":         func(p string) Result { return run(t, Grep(ws), obj{"pattern": "SECRET", "path": p}) },
		"shell": func(p string) Result {
			return run(t, Shell(ws, ShellOptions{}), obj{"command": "echo BAD >bad", "cwd": p})
		},
		"change": func(p string) Result {
			if _, err := WriteFile(ws).Change([]byte(`{"path":` + quoted(p) + `,"content":""}`)); err != nil {
				return Fail(err.Error())
			}
			return Success("")
		},
		"edit change": func(p string) Result {
			if _, err := EditFile(ws).Change([]byte(`{"path":` + quoted(p) + `,"edits":[{"old":"SECRET","new":""}]}`)); err != nil {
				return Fail(err.Error())
			}
			return Success("")
		},
		"hash": func(p string) Result {
			if _, err := WriteFile(ws).Hash(p); err != nil {
				return Fail(err.Error())
			}
			return Success("")
		},
	}
	for name, call := range tools {
		for path, want := range badPaths(ws, parent) {
			r := call(path)
			if r.Outcome != Failed || !strings.Contains(r.Text, want) {
				t.Errorf("%s(%.60q): %s %.200q, want a failure about %q", name, path, r.Outcome, r.Text, want)
			}
			if strings.Contains(r.Text, "SECRET") {
				t.Errorf("%s(%.60q) shows the secret", name, path)
			}
		}
	}
	if after := tree(t, parent); after != before {
		t.Errorf("files changed:\n%s\nwere:\n%s", after, before)
	}
}

// tree lists all names and contents below a directory.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b.WriteString(path + "=" + mustRead(t, path) + "\n")
		} else {
			b.WriteString(path + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPathsInsideAreFound(t *testing.T) {
	ws, _ := sandbox(t)
	for path, want := range map[string]string{
		"plain":                    "PLAIN",
		"./sub/../plain":           "PLAIN",
		"sub//deep/./file":         "DEEP",
		ws.Dir() + "/plain":        "PLAIN",
		ws.Dir() + "/sub/../plain": "PLAIN",
		"absin":                    "PLAIN",
		"short/file":               "DEEP",
		"short/../../plain":        "PLAIN",
	} {
		r := run(t, ReadFile(ws, nil), obj{"path": path})
		if r.Outcome != OK || r.Text != want {
			t.Errorf("%q gives %s %q, want %q", path, r.Outcome, r.Text, want)
		}
	}
}

func TestHiddenDirectoryIsKnownByIdentity(t *testing.T) {
	dir := t.TempDir()
	sessions := filepath.Join(dir, "S")
	ws, err := NewWorkspace(dir, sessions) // does not exist yet
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"S/x", "S", "s/x", "S/x/y"} {
		wantText(t, run(t, WriteFile(ws), obj{"path": p, "content": "BAD"}).Text, "sessions")
	}
	if _, err := os.Lstat(sessions); err == nil {
		t.Error("a write created the hidden directory")
	}
	put(t, ws, "S/x", "SECRET")
	wantText(t, run(t, ReadFile(ws, nil), obj{"path": "S/x"}).Text, "sessions")

	again, err := NewWorkspace(dir, sessions)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(sessions, filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	wantText(t, run(t, ReadFile(again, nil), obj{"path": "moved/x"}).Text, "sessions")
	if r := run(t, ListFiles(again), obj{"path": "."}); strings.Contains(r.Text, "moved") {
		t.Errorf("the moved hidden directory is listed: %s", r.Text)
	}
}

func TestNewWorkspaceRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, dir, hidden, want string
	}{
		{"a missing directory", filepath.Join(dir, "none"), file, "no such file"},
		{"a file", file, file, "not a directory"},
		{"the hidden directory", inner, inner, "sessions"},
		{"what is inside it", inner, dir, "sessions"},
	} {
		if _, err := NewWorkspace(tt.dir, tt.hidden); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error is %v, want one about %q", tt.name, err, tt.want)
		}
	}
}

// F102
func TestRemovedWorkDirectoryIsAnObservation(t *testing.T) {
	ws := workspace(t)
	sh := Shell(ws, ShellOptions{})
	wantOutcome(t, run(t, sh, obj{"command": `rm -rf "$PWD"`}), OK)
	calls := func() map[string]Result {
		return map[string]Result{
			"read":  run(t, ReadFile(ws, nil), obj{"path": "a"}),
			"list":  run(t, ListFiles(ws), obj{"path": "."}),
			"write": run(t, WriteFile(ws), obj{"path": "a", "content": ""}),
			"edit":  run(t, EditFile(ws), obj{"path": "a", "edits": []obj{{"old": "a", "new": "b"}}}),
			"glob":  run(t, Glob(ws), obj{"pattern": "**"}),
			"grep":  run(t, Grep(ws), obj{"pattern": "a"}),
			"shell": run(t, sh, obj{"command": "pwd"}),
		}
	}
	for name, r := range calls() {
		if r.Outcome != Failed || !strings.Contains(r.Text, "no longer exists") {
			t.Errorf("%s: %s %q", name, r.Outcome, r.Text)
		}
	}
	if err := os.Symlink("/", ws.Dir()); err != nil {
		t.Fatal(err)
	}
	for name, r := range calls() {
		if r.Outcome != Failed || !strings.Contains(r.Text, "no longer a directory") {
			t.Errorf("through a link, %s: %s %.100q", name, r.Outcome, r.Text)
		}
	}
	if err := os.Remove(ws.Dir()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(ws.Dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, run(t, WriteFile(ws), obj{"path": "a", "content": "new"}), OK)
	wantOutcome(t, run(t, sh, obj{"command": "cat a"}), OK)
}
