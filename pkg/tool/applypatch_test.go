package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"pgregory.net/rapid"
)

func patchOf(t *testing.T, ws *Workspace, patch string) Result {
	t.Helper()
	return run(t, ApplyPatch(ws), obj{"patch": patch})
}

func TestApplyPatchDoesWhatThePatchSays(t *testing.T) {
	for name, tt := range map[string]struct{ before, patch, after string }{
		"as git writes it":         {"a\nb\nc\n", "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@ func x\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
		"as diff writes it":        {"a\nb\n", "--- f\t2026-01-01\n+++ f\t2026-01-02\n@@ -2 +2,2 @@\n b\n+c\n", "a\nb\nc\n"},
		"wrong numbers":            {"x\nx\na\nb\n", "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n a\n-b\n+B\n", "x\nx\na\nB\n"},
		"no numbers":               {"a\nb\n", "--- a/f\n+++ b/f\n@@ @@\n-b\n+B\n", "a\nB\n"},
		"in a fence":               {"a\n", "```diff\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n```\n", "b\n"},
		"the nearest place":        {"a\nq\na\nq\na\n", "--- a/f\n+++ b/f\n@@ -3 +3 @@\n-a\n+A\n", "a\nq\nA\nq\na\n"},
		"hunks after each other":   {"a\nb\na\nb\n", "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n+1\n+2\n@@ -3 +4 @@\n-a\n+3\n", "1\n2\nb\n3\nb\n"},
		"CRLF":                     {"a\r\nb\r\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+c\n", "a\r\nB\r\nc\r\n"},
		"no newline at the end":    {"a\nb", "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n", "a\nc"},
		"a newline is added":       {"a", "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n a\n+b\n", "a\nb\n"},
		"an empty line lost blank": {"a\n\nb\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nB\n"},
		"only additions":           {"a\nb\n", "--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+x\n", "a\nx\nb\n"},
		"all kinds of text":        {"你好\n\xff\nשלום\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-你好\n+🙂\n", "🙂\n\xff\nשלום\n"},
		"lines like headers":       {"-- a\n++ b\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n--- a\n ++ b\n", "++ b\n"},
	} {
		ws := workspace(t)
		path := put(t, ws, "f", tt.before)
		r := patchOf(t, ws, tt.patch)
		if got := mustRead(t, path); r.Outcome != OK || got != tt.after {
			t.Errorf("%s: %s %q, want %q; %s", name, r.Outcome, got, tt.after, r.Text)
		}
		noTemp(t, ws)
	}
}

func TestApplyPatchCreatesAndDeletes(t *testing.T) {
	ws := workspace(t)
	gone := put(t, ws, "gone", "a\n")
	r := patchOf(t, ws, "--- /dev/null\n+++ b/new/dir/f\n@@ -0,0 +1,2 @@\n+a\n+b\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
	wantOutcome(t, r, OK)
	wantText(t, r.Text, "created new/dir/f, 4 bytes", "deleted gone")
	if got := mustRead(t, filepath.Join(filepath.Dir(gone), "new", "dir", "f")); got != "a\nb\n" {
		t.Errorf("%q", got)
	}
	if _, err := os.Lstat(gone); !os.IsNotExist(err) {
		t.Error("it is still there")
	}
}

// All of it or nothing: the second file does not fit, the first stays.
func TestAPatchThatDoesNotFitChangesNothing(t *testing.T) {
	ws := workspace(t)
	a, b := put(t, ws, "a", "1\n"), put(t, ws, "b", "2\n")
	r := patchOf(t, ws, "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-3\n+three\n")
	wantOutcome(t, r, Failed)
	wantText(t, r.Text, "b: hunk 1", `at line 1 it wants "3" and there is "2"`, "nothing was changed")
	if mustRead(t, a) != "1\n" || mustRead(t, b) != "2\n" {
		t.Error("something was changed")
	}
}

func TestWhatIsNoPatchIsSaid(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "f", "a\n")
	put(t, ws, "there", "a\n")
	for patch, want := range map[string]string{
		"change a to b":                                                                "holds no file",
		"@@ -1 +1 @@\n-a\n+b\n":                                                        "before any file",
		"--- a/f\n+++ b/f\n":                                                           "no hunk",
		"--- a/f\n+++ b/f\n@@ -1 +1 @@\n a\n":                                          "changes nothing",
		"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n*b\n":                                      "does not begin with",
		"--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n":                                      "renames",
		"--- a/no\n+++ b/no\n@@ -1 +1 @@\n-a\n+b\n":                                    "no such file",
		"--- /dev/null\n+++ b/there\n@@ -0,0 +1 @@\n+b\n":                              "it is there",
		"--- a/there\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n":                              "hunk 1",
		"--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n":                                "outside",
		"--- /etc/passwd\n+++ /etc/passwd\n@@ @@\n-a\n+b\n":                            "outside",
		"--- a/.git/config\n+++ b/.git/config\n@@ @@\n-a\n+b\n":                        ".git",
		"--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+b\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n": "twice",
		"rename from a\nrename to b\n":                                                 "renames",
		"--- /dev/null\n+++ /dev/null\n@@ @@\n-a\n+b\n":                                "/dev/null to /dev/null",
	} {
		r := patchOf(t, ws, patch)
		if r.Outcome != Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%q: %s %q, want %q", patch, r.Outcome, r.Text, want)
		}
	}
}

// After a crash one file tells whether the patch was applied; several don't.
func TestAPatchOfOneFileIsKnownByItsHash(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "f", "a\n")
	put(t, ws, "g", "a\n")
	one, _ := json.Marshal(obj{"patch": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"})
	c, err := ApplyPatch(ws).Change(one)
	if err != nil || c == nil || c.Path != "f" || c.Before != hashOf([]byte("a\n")) || c.After != hashOf([]byte("b\n")) {
		t.Fatalf("%+v, %v", c, err)
	}
	wantOutcome(t, ApplyPatch(ws).Run(context.Background(), Call{Args: one}), OK)
	if now, err := ApplyPatch(ws).Hash("f"); err != nil || now != c.After {
		t.Errorf("%s, %v", now, err)
	}
	gone, _ := json.Marshal(obj{"patch": "--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"})
	if c, err := ApplyPatch(ws).Change(gone); err != nil || c.Before == "" || c.After != "" {
		t.Errorf("%+v, %v", c, err)
	}
	two, _ := json.Marshal(obj{"patch": "--- a/f\n+++ b/f\n@@ @@\n-b\n+c\n--- a/g\n+++ b/g\n@@ @@\n-a\n+c\n"})
	if c, err := ApplyPatch(ws).Change(two); err != nil || c != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

// What diff makes of two texts turns one into the other.
func TestADiffAppliedIsTheOtherText(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "", "c d", "界", "-x", "+y", "@@", " "}), 0, 30).Draw(t, "lines")
		s := strings.Join(lines, "\n")
		if rapid.Bool().Draw(t, "newline") && s != "" {
			s += "\n"
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		if before == "" || after == "" || before == after {
			t.Skip()
		}
		patch := string(diff.Diff("f", []byte(before), "f", []byte(after)))
		_, patch, _ = strings.Cut(patch, "\n")
		files, err := parsePatch(patch)
		if err != nil {
			t.Fatalf("%v:\n%s", err, patch)
		}
		got, err := files[0].apply([]byte(before))
		if err != nil || string(got) != after {
			t.Fatalf("%q became %q, want %q (%v):\n%s", before, got, after, err, patch)
		}
	})
}

func FuzzApplyPatch(f *testing.F) {
	f.Add("a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n")
	f.Add("a", "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n a\n\\ No newline at end of file\n+b\n@@ @@\n+c")
	f.Fuzz(func(t *testing.T, before, patch string) {
		files, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, file := range files {
			_, _ = file.apply([]byte(before))
		}
	})
}
