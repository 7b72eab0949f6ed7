package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// F096: the line ends of the file are kept, whatever the model writes.
func TestEditFileChangesWhatItIsTold(t *testing.T) {
	for _, tt := range []struct {
		name, before string
		edits        []edit
		after        string
	}{
		{"one of several lines", "a\nb\nc\n", []edit{{"b", "B", false}}, "a\nB\nc\n"},
		{"in order", "a\nb\n", []edit{{"a", "bb", false}, {"bb\nb", "x", false}}, "x\n"},
		{"all", "aXaXa", []edit{{"a", "aa", true}}, "aaXaaXaa"},
		{"all, overlapping", "aaaaa", []edit{{"aa", "b", true}}, "bba"},
		{"deletion", "a\nb\nc", []edit{{"b\n", "", false}}, "a\nc"},
		{"everything", "a", []edit{{"a", "", false}}, ""},
		{"no final newline", "a\nb", []edit{{"b", "c", false}}, "a\nc"},
		{"text of all kinds", "你好 שלום 🙂\n", []edit{{"好 ש", "们 \u202e", false}}, "你们 \u202eלום 🙂\n"},
		{"invalid bytes elsewhere", "\xff\xfea\x00\xc3\n", []edit{{"a", "é", false}}, "\xff\xfeé\x00\xc3\n"},
		{"CRLF", "a\r\nb\r\nc\r\n", []edit{{"a\nb", "a\nB", false}}, "a\r\nB\r\nc\r\n"},
		{"CRLF, more lines", "a\r\nb", []edit{{"a", "1\n2\n3", false}}, "1\r\n2\r\n3\r\nb"},
		{"CRLF, fewer lines", "a\r\nb\r\nc", []edit{{"a\nb\n", "", false}}, "c"},
		{"CRLF, all", "x\r\ny\r\nx\r\ny\r\n", []edit{{"x\ny\n", "z\n", true}}, "z\r\nz\r\n"},
		{"CRLF as the file has it", "a\r\nb\r\n", []edit{{"a\r\nb", "A\r\nB", false}}, "A\r\nB\r\n"},
		{"CRLF on purpose to LF", "a\r\nb\r\n", []edit{{"a\r\n", "a\n", false}}, "a\nb\r\n"},
		{"LF on purpose to CRLF", "a\nb\n", []edit{{"a\n", "a\r\n", false}}, "a\r\nb\n"},
		{"mixed ends", "a\r\nb\nc\r\nd", []edit{{"a\nb\nc\nd", "a\nB\nc\nD", false}}, "a\r\nB\nc\r\nD"},
		{"mixed ends, other lines", "a\nb\r\nc\n", []edit{{"a\nb\n", "x\ny\n", false}}, "x\ny\r\nc\n"},
		{"mixed ends, more lines", "a\nb\r\nc\r\nd\n", []edit{{"b", "1\n2", false}}, "a\n1\r\n2\r\nc\r\nd\n"},
		{"mixed ends, a line between", "a\nb\r\nc\r\n", []edit{{"a\nb\nc", "a\nb\nx\nc", false}}, "a\nb\r\nx\r\nc\r\n"},
		{"lone CR", "a\rb\r\nc\rd\r\n", []edit{{"b\nc", "b\nC", false}}, "a\rb\r\nC\rd\r\n"},
		{"CR before CRLF", "a\r\r\nb\r\n", []edit{{"\nb", "\nB", false}}, "a\r\r\nB\r\n"},
		{"mark at the beginning", "\ufeffa\r\nb\r\n", []edit{{"a\n", "A\nx\n", false}}, "\ufeffA\r\nx\r\nb\r\n"},
	} {
		ws := workspace(t)
		path := put(t, ws, "f", tt.before)
		r := run(t, EditFile(ws), obj{"path": "f", "edits": tt.edits})
		if got := mustRead(t, path); r.Outcome != OK || got != tt.after {
			t.Errorf("%s: %s %q, want %q; %s", tt.name, r.Outcome, got, tt.after, r.Text)
		}
		noTemp(t, ws)
	}
}

// An edit written with LF does to CRLF what it does to LF.
func TestEditsDoNotDependOnTheLineEnds(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n界")), 1, 20, -1)
	rapid.Check(t, func(t *rapid.T) {
		lf := text.Draw(t, "text")
		e := edit{text.Draw(t, "old"), text.Draw(t, "new"), rapid.Bool().Draw(t, "all")}
		crlf := strings.ReplaceAll(lf, "\n", "\r\n")
		a, n, errA := e.apply([]byte(lf))
		b, m, errB := e.apply([]byte(crlf))
		if (errA == nil) != (errB == nil) || n != m {
			t.Fatalf("%d and %d replacements: %v, %v", n, m, errA, errB)
		}
		if errA != nil {
			return
		}
		if want := strings.ReplaceAll(string(a), "\n", "\r\n"); strings.Contains(lf, "\n") && string(b) != want {
			t.Fatalf("%q, want %q", b, want)
		}
		if e.All && string(a) != strings.ReplaceAll(lf, e.Old, e.New) {
			t.Fatalf("%q", a)
		}
	})
}

// F098: the file is untouched unless every edit says exactly where.
func TestEditFileRefusesWhatIsNotClear(t *testing.T) {
	const text = "a\nb\r\n\tindented {\n\t\tx\n\t}\na\n"
	for _, tt := range []struct {
		name  string
		edits []edit
		want  []string
	}{
		{"several", []edit{{"a", "b", false}}, []string{"edit 1", "2 times", "at lines 1, 6", "set all"}},
		{"not found", []edit{{"zzz", "b", false}}, []string{"old is not in the file", "no line is like its first"}},
		{"empty", []edit{{"", "b", false}}, []string{"old is empty"}},
		{"empty and all", []edit{{"", "b", true}}, []string{"old is empty"}},
		{"equal", []edit{{"b", "b", false}}, []string{"old and new are equal"}},
		{"second of two", []edit{{"b", "c", false}, {"b", "d", false}}, []string{"edit 2, after those before it", "not in the file"}},
		{"undoing each other", []edit{{"b", "c", false}, {"c", "b", false}}, []string{"change nothing"}},
		{"white space", []edit{{"    indented {\n        x", "y", false}}, []string{"line 3 comes nearest", `"\tindented {"`, `"    indented {"`}},
		{"next line", []edit{{"\tindented {\n\t\ty", "y", false}}, []string{"line 4 comes nearest", `"\t\tx"`, `"\t\ty"`}},
		{"past the end", []edit{{"\t}\na\n\nb", "y", false}}, []string{"begins like line 5", "ends after line 7"}},
		{"blank", []edit{{"\n\n\n", "y", false}}, []string{"only white space"}},
		{"blank lines before", []edit{{"\n\n\t}\n", "y", false}}, []string{"as from line 5 on", "line ends around them"}},
		{"line end at the end", []edit{{"\t}\na\n\n", "y", false}}, []string{"as from line 5 on", "line ends around them"}},
		{"line ends", []edit{{"a\r\nb", "x", false}}, []string{"but for the line ends"}},
		{"no edits", []edit{}, []string{"edits", "minItems"}},
	} {
		ws := workspace(t)
		path := put(t, ws, "f", text)
		args := obj{"path": "f", "edits": tt.edits}
		r := run(t, EditFile(ws), args)
		wantOutcome(t, r, Failed)
		wantText(t, r.Text, tt.want...)
		raw, _ := json.Marshal(args)
		if change, err := EditFile(ws).Change(raw); err == nil {
			t.Errorf("%s: change is %+v", tt.name, change)
		}
		if got := mustRead(t, path); got != text {
			t.Errorf("%s: the file is %q", tt.name, got)
		}
	}
	ws := workspace(t)
	put(t, ws, "many", strings.Repeat("a\n", 5000))
	r := run(t, EditFile(ws), obj{"path": "many", "edits": []obj{{"old": "a\na", "new": ""}}})
	wantText(t, r.Text, "at least 1000 times, at lines 1, 2, 3,", "20, …")
	r = run(t, EditFile(ws), obj{"path": "many", "edits": []obj{{"old": strings.Repeat("a\n", 4000) + "b", "new": ""}}})
	wantText(t, r.Text, "not in the file", "50 lines are as from line 1 on, and what differs comes later")
}

func TestEditFileRefusesWhatIsNoTextFile(t *testing.T) {
	ws := workspace(t)
	fifo(t, ws, "fifo")
	put(t, ws, "dir/f", "")
	big := put(t, ws, "big", "old")
	if err := os.Truncate(big, maxEdited+1); err != nil {
		t.Fatal(err)
	}
	put(t, ws, "grows", strings.Repeat("a", 100_000))
	for path, want := range map[string]string{
		"none": "does not exist", "dir": "directory", "fifo": "named pipe", "big": "larger than 8 MiB", "dir/f": "not in the file",
	} {
		r := run(t, EditFile(ws), obj{"path": path, "edits": []obj{{"old": "old", "new": "new"}}})
		if r.Outcome != Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %s %q, want a failure about %q", path, r.Outcome, r.Text, want)
		}
	}
	r := run(t, EditFile(ws), obj{"path": "grows", "edits": []obj{{"old": "a", "new": strings.Repeat("b", 1000), "all": true}}})
	wantText(t, r.Text, "would be larger than 8 MiB")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantOutcome(t, EditFile(ws).Run(ctx, Call{Args: []byte(`{"path":"grows","edits":[{"old":"a","new":"b","all":true}]}`)}), Stopped)
	if got := mustRead(t, filepath.Join(ws.Dir(), "grows")); strings.Contains(got, "b") {
		t.Error("a stopped call wrote its file")
	}
}

func TestEditFileAnswersWithADiff(t *testing.T) {
	ws := workspace(t)
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	put(t, ws, "d/f", b.String()+"\xff last")
	r := run(t, EditFile(ws), obj{"path": "./d/f", "edits": []obj{{"old": "line 7\n", "new": "seven\n"}, {"old": " last", "new": " 最后"}}})
	want := "edited d/f, replacements: 2\n--- d/f\n+++ d/f\n@@ -5,7 +5,7 @@\n line 4\n line 5\n line 6\n-line 7\n+seven\n line 8\n line 9\n line 10\n" +
		"@@ -4998,4 +4998,4 @@\n line 4997\n line 4998\n line 4999\n-\ufffd last\n\\ No newline at end of file\n+\ufffd 最后\n\\ No newline at end of file\n"
	if r.Text != want {
		t.Errorf("%s\nwant\n%s", r.Text, want)
	}
	r = run(t, EditFile(ws), obj{"path": "d/f", "edits": []obj{{"old": "line", "new": strings.Repeat("宽", 200), "all": true}}})
	wantOutcome(t, r, OK)
	wantText(t, r.Text, "replacements: 4999", "[the diff is cut: ")
	if len(r.Text) > maxDiff+100 {
		t.Errorf("%d bytes", len(r.Text))
	}
}

func TestEditFileKeepsModeAndLinks(t *testing.T) {
	ws := workspace(t)
	path := put(t, ws, "real/run.sh", "echo a\n")
	link(t, ws, "real/run.sh", "l")
	if err := os.Chmod(path, 0o750); err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, run(t, EditFile(ws), obj{"path": "l", "edits": []obj{{"old": "a", "new": "b"}}}), OK)
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o750 || mustRead(t, path) != "echo b\n" {
		t.Errorf("mode %v, content %q, %v", info.Mode(), mustRead(t, path), err)
	}
	if info, err := os.Lstat(filepath.Join(ws.Dir(), "l")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone (%v)", err)
	}
	if os.Getuid() != 0 { // who may write everything
		if err := os.Chmod(path, 0o444); err != nil {
			t.Fatal(err)
		}
		wantText(t, run(t, EditFile(ws), obj{"path": "l", "edits": []obj{{"old": "b", "new": "c"}}}).Text, "write-protected")
	}
}

func TestChangeTellsWhetherAnEditHappened(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "d/f", "一\r\n二\r\n")
	tool := EditFile(ws)
	args := json.RawMessage(`{"path":"./d/../d/f","edits":[{"old":"一\n二","new":"一\n三"}]}`)
	change, err := tool.Change(args)
	if err != nil || change.Path != "d/f" || change.Before != sum("一\r\n二\r\n") || change.After != sum("一\r\n三\r\n") {
		t.Fatalf("change is %+v, %v", change, err)
	}
	if h, err := tool.Hash(change.Path); err != nil || h != change.Before {
		t.Errorf("hash before is %q, %v", h, err)
	}
	wantOutcome(t, tool.Run(t.Context(), Call{Args: args}), OK)
	if h, err := tool.Hash(change.Path); err != nil || h != change.After {
		t.Errorf("hash after is %q, %v", h, err)
	}
}

func TestAnEditDoesNotUndoSomeoneElsesChange(t *testing.T) {
	ws := workspace(t)
	path := put(t, ws, "f", "old")
	written := time.Unix(1_700_000_000, 0)
	touch := func(at time.Time) {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(){
		"size": func() { put(t, ws, "f", "theirs"); touch(written) },
		"time": func() { put(t, ws, "f", "BAD"); touch(written.Add(time.Second)) },
		"file": func() { _ = os.Rename(put(t, ws, "g", "BAD"), path); touch(written) },
	} {
		put(t, ws, "f", "old")
		touch(written)
		e, err := ws.edited(editArgs{"f", []edit{{"old", "new", false}}})
		if err != nil {
			t.Fatal(err)
		}
		change()
		theirs := mustRead(t, path)
		if err := e.save(); err == nil || !strings.Contains(err.Error(), "just now") {
			t.Errorf("%s: error is %v", name, err)
		}
		e.place.close()
		if got := mustRead(t, path); got != theirs {
			t.Errorf("%s: content is %q", name, got)
		}
		noTemp(t, ws)
	}
}
