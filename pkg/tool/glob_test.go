package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func lines(r Result) []string { return strings.Split(r.Text, "\n") }

func TestGlobMatchesPaths(t *testing.T) {
	ws := workspace(t)
	for _, name := range []string{
		"main.go", "a/x.go", "a/b/y.go", "a-b/z.go", "a/b/中文.md", "🙂/שלום.txt", ".hidden/.env", "bad\xff.txt", "new\nline", "web/a.js", "web/b.ts", "web/[id].tsx",
	} {
		put(t, ws, name, "")
	}
	for _, tt := range []struct{ pattern, path, want string }{
		{"**/*.go", "", "a-b/z.go a/b/y.go a/x.go main.go"},
		{"*.go", "", "main.go"},
		{"*.go", "a", "a/x.go"},
		{"./**/y.go", "./a/../a", "a/b/y.go"},
		{"b/*", "a", "a/b/y.go a/b/中文.md"},
		{"a/**", "", "a/b/ a/b/y.go a/b/中文.md a/x.go"},
		{"web/*.{js,ts}", "", "web/a.js web/b.ts"},
		{`web/\[id\].*`, "", "web/[id].tsx"},
		{"**/[中🙂]*", "", "a/b/中文.md 🙂/"},
		{"**/ש*.txt", "", "🙂/שלום.txt"},
		{"**/.*", "", ".hidden/ .hidden/.env"},
		{"*/", "", ".hidden/ a-b/ a/ web/ 🙂/"},
		{"main.go", "", "main.go"},
		{"a/x.go", "", "a/x.go"},
		{ws.Dir() + "/a/*.go", "web", "a/x.go"},
		{"*\n*", "", `"new\nline"`},
		{"bad*", "", `"bad\xff.txt"`},
	} {
		args := obj{"pattern": tt.pattern}
		if tt.path != "" {
			args["path"] = tt.path
		}
		if r := run(t, Glob(ws), args); r.Outcome != OK || r.Text != strings.ReplaceAll(tt.want, " ", "\n") {
			t.Errorf("%q in %q: %s %q, want %q", tt.pattern, tt.path, r.Outcome, r.Text, tt.want)
		}
	}
	wantText(t, run(t, Glob(ws), obj{"pattern": "*.rs"}).Text, "[no match among 8 names]")
}

func TestSearchesRespectGitignoreFiles(t *testing.T) {
	ws := workspace(t)
	put(t, ws, ".gitignore", "/build\n*.log\nnode_modules/\n")
	put(t, ws, "a/.gitignore", "!keep.log\n/only-here\n")
	put(t, ws, "a/b/.gitignore", "../c\n*.tmp\n")
	for _, name := range []string{
		"build/x", "a/build/x", "x.log", "a/keep.log", "a/b/keep.log", "keep.log", "a/only-here", "a/b/only-here", "a/b/x.tmp", "a/x.tmp",
		"node_modules/m/x", "a/node_modules/x", ".git/config", "sub/.git", "sub/.git2/x",
	} {
		put(t, ws, name, "needle\n")
	}
	link(t, ws, "../../.gitignore", "sub/.gitignore")
	want := []string{
		"a/b/keep.log", "a/b/only-here", "a/build/x", "a/keep.log", "a/x.tmp", "sub/.git2/x",
	}
	r := run(t, Glob(ws), obj{"pattern": "**/{x*,keep*,only*,config,.git}"})
	if got := lines(r); !slices.Equal(got, want) {
		t.Errorf("glob: %q, want %q", got, want)
	}
	r = run(t, Grep(ws), obj{"pattern": "needle"})
	if got := strings.ReplaceAll(r.Text, ":1:needle", ""); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("grep: %q, want %q", got, want)
	}
	// A path that is named is searched, under the rules of the directories above.
	if r := run(t, Glob(ws), obj{"pattern": "**/x", "path": "node_modules"}); r.Text != "node_modules/m/x" {
		t.Errorf("an ignored directory by name: %q", r.Text)
	}
	if r := run(t, Glob(ws), obj{"pattern": "**", "path": "a/b"}); r.Text != "a/b/.gitignore\na/b/keep.log\na/b/only-here" {
		t.Errorf("from below: %q", r.Text)
	}
	if r := run(t, Grep(ws), obj{"pattern": "needle", "path": "x.log"}); r.Text != "x.log:1:needle\n" {
		t.Errorf("an ignored file by name: %q", r.Text)
	}
	wantText(t, run(t, Glob(ws), obj{"pattern": "build/*/*"}).Text, "no match")
	wantText(t, run(t, Glob(ws), obj{"pattern": "*.log"}).Text, "no match", ".gitignore")
	for _, path := range []string{".git", ".git/config", "sub/.git"} {
		wantText(t, run(t, Grep(ws), obj{"pattern": "needle", "path": path}).Text, "does not enter .git")
		wantText(t, run(t, Glob(ws), obj{"pattern": "*", "path": path}).Text, "does not enter .git")
	}
}

// F099: links are not followed, and what is no file is not opened.
func TestSearchesFollowNoLinksAndReadOnlyFiles(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "t/x.go", "x\n")
	link(t, ws, "..", "t/up")
	link(t, ws, "/proc", "t/p")
	link(t, ws, "x.go", "t/l.go")
	fifo(t, ws, "t/fifo")
	if r := run(t, Glob(ws), obj{"pattern": "**/*.go"}); r.Text != "t/l.go\nt/x.go" {
		t.Errorf("glob: %q", r.Text)
	}
	if r := run(t, Grep(ws), obj{"pattern": "x"}); r.Text != "t/x.go:1:x\n" {
		t.Errorf("grep: %q", r.Text)
	}
	if r := run(t, Glob(ws), obj{"pattern": "**", "path": "t/up/t"}); r.Text != "t/fifo\nt/l.go\nt/p\nt/up\nt/x.go" {
		t.Errorf("glob through a link: %q", r.Text)
	}
	wantText(t, run(t, Grep(ws), obj{"pattern": "x", "path": "t/fifo"}).Text, "named pipe")
}

func TestSearchesDoNotSeeTheSessions(t *testing.T) {
	ws, _ := sandbox(t)
	r := run(t, Glob(ws), obj{"pattern": "**"})
	if want := "absin\nabsout\nloop\nout\nplain\nses\nses1\nses2\nshort\nsub/\nsub/deep/\nsub/deep/file\nup"; r.Text != want {
		t.Errorf("glob: %q, want %q", r.Text, want)
	}
	wantText(t, run(t, Grep(ws), obj{"pattern": "SECRET|PLAIN"}).Text, "plain:1:PLAIN")
	wantText(t, run(t, Grep(ws), obj{"pattern": "SECRET"}).Text, "no match in 2 files")
}

// F101: the rule is the same for what a pattern says.
func TestGlobPatternsStayInside(t *testing.T) {
	ws, _ := sandbox(t)
	for _, p := range []string{"../**", "..", "*/../../*", "{..,sub}/*", "sub/../../**", "/**", "/etc/*", "up/*", "/"} {
		r := run(t, Glob(ws), obj{"pattern": p})
		if r.Outcome != Failed || !strings.Contains(r.Text, "outside the work directory") {
			t.Errorf("%q: %s %q", p, r.Outcome, r.Text)
		}
	}
	wantText(t, run(t, Grep(ws), obj{"pattern": "x", "glob": "../**"}).Text, "outside the work directory")
	if r := run(t, Glob(ws), obj{"pattern": "sub/../pl*"}); r.Text != "plain" {
		t.Errorf("inside: %q", r.Text)
	}
}

func TestGlobRefuses(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "f", "")
	for pattern, want := range map[string]string{
		"[a": "not closed", "{a,b": "not closed", `a\`: "backslash", "none/*": "none does not exist", "f/*": "not a directory",
		strings.Repeat("{a,b}", 10): "more than 1000 alternatives", strings.Repeat("*", 5000): "longer than", "": "minLength",
	} {
		r := run(t, Glob(ws), obj{"pattern": pattern})
		if r.Outcome != Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%.30q: %s %q, want a failure about %q", pattern, r.Outcome, r.Text, want)
		}
		if !strings.Contains(pattern, "/") {
			wantOutcome(t, run(t, Grep(ws), obj{"pattern": "x", "glob": pattern}), Failed)
		}
	}
}

// F099
func TestSearchesAreBounded(t *testing.T) {
	ws := workspace(t)
	for i := range 3000 {
		put(t, ws, fmt.Sprintf("d%02d/f%04d", i%30, i), "needle\n")
	}
	got := lines(run(t, Glob(ws), obj{"pattern": "**/f*"}))
	if len(got) != maxFound+1 || got[0] != "d00/f0000" || !slices.IsSorted(got[:maxFound]) {
		t.Errorf("%d lines, the first %q", len(got), got[0])
	}
	wantText(t, got[maxFound], "truncated", "first 1000")
	got = lines(run(t, Grep(ws), obj{"pattern": "needle"}))
	if len(got) != maxMatches+1 {
		t.Errorf("%d lines", len(got))
	}
	wantText(t, got[maxMatches], "truncated", "first 1000 matching lines")

	for _, limits := range []searchLimits{{time.Hour, 200}, {0, maxScanned}} {
		for _, tool := range []Tool{glob{ws, limits}, grep{ws, limits}} {
			r := run(t, tool, obj{"pattern": "[f]/[f]"})
			wantOutcome(t, r, OK)
			wantText(t, r.Text, "truncated: the search was cut after")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tool := range []Tool{Glob(ws), Grep(ws)} {
		wantOutcome(t, tool.Run(ctx, Call{Args: []byte(`{"pattern":"x"}`)}), Stopped)
	}
}

func TestSearchesSayWhatTheyCouldNotRead(t *testing.T) {
	ws := workspace(t)
	put(t, ws, strings.Repeat("d/", maxLevels)+"deep", "x")
	put(t, ws, "e", "x")
	for _, r := range []Result{run(t, Glob(ws), obj{"pattern": "**/[e]*"}), run(t, Grep(ws), obj{"pattern": "x"})} {
		wantOutcome(t, r, OK)
		wantText(t, r.Text, "e", "[1 could not be read; the first is d/d/d/", "more than 100 levels deep")
	}
	if os.Getuid() == 0 {
		return // who may read everything
	}
	put(t, ws, "locked/x", "")
	locked := filepath.Join(ws.Dir(), "locked")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o755) })
	wantText(t, run(t, Glob(ws), obj{"pattern": "**"}).Text, "[2 could not be read")
}
