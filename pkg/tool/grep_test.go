package tool

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestGrepShowsMatchesAndTheirSurroundings(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n")
	put(t, ws, "b/c.md", "# Über\r\n你好 world\r\nשלום \u202e🙂\r\nend")
	for _, tt := range []struct {
		name string
		args obj
		want string
	}{
		{"plain", obj{"pattern": "t(w|e)"}, "a.txt:2:two\na.txt:10:ten\n"},
		{"ends of lines", obj{"pattern": "^(你好 world|end)$"}, "b/c.md:2:你好 world\nb/c.md:4:end\n"},
		{"one rune", obj{"pattern": "^.. world$"}, "b/c.md:2:你好 world\n"},
		{"case", obj{"pattern": "ÜBER"}, "[no match in 2 files]"},
		{"ignoring case", obj{"pattern": "ÜBER|TEN", "ignore_case": true}, "a.txt:10:ten\nb/c.md:1:# Über\n"},
		{"right to left", obj{"pattern": "שלום"}, "b/c.md:3:שלום \u202e🙂\n"},
		{"glob by name", obj{"pattern": "o|end", "glob": "*.md"}, "b/c.md:2:你好 world\nb/c.md:4:end\n"},
		{"glob by path", obj{"pattern": "e", "glob": "./*.{txt,md}"}, "a.txt:1:one\na.txt:3:three\na.txt:5:five\na.txt:7:seven\na.txt:8:eight\na.txt:9:nine\na.txt:10:ten\n"},
		{"all but a glob", obj{"pattern": "end|ten", "glob": "!*.txt"}, "b/c.md:4:end\n"},
		{"one file", obj{"pattern": "world", "path": "./b//c.md"}, "b/c.md:2:你好 world\n"},
		{"a directory", obj{"pattern": "e", "path": "b", "glob": "c.*"}, "b/c.md:1:# Über\nb/c.md:4:end\n"},
		{"context", obj{"pattern": "two|six|seven|end", "context": 1}, "a.txt-1-one\na.txt:2:two\na.txt-3-three\n--\n" +
			"a.txt-5-five\na.txt:6:six\na.txt:7:seven\na.txt-8-eight\n--\nb/c.md-3-שלום \u202e🙂\nb/c.md:4:end\n"},
		{"context that touches", obj{"pattern": "two|five", "context": 1}, "a.txt-1-one\na.txt:2:two\na.txt-3-three\na.txt-4-four\na.txt:5:five\na.txt-6-six\n"},
		{"context that overlaps", obj{"pattern": "two|four", "context": 2}, "a.txt-1-one\na.txt:2:two\na.txt-3-three\na.txt:4:four\na.txt-5-five\na.txt-6-six\n"},
		{"context of two files", obj{"pattern": "one|Über", "context": 1}, "a.txt:1:one\na.txt-2-two\n--\nb/c.md:1:# Über\nb/c.md-2-你好 world\n"},
		{"never over lines", obj{"pattern": `one\ntwo`}, "[no match in 2 files]"},
	} {
		if r := run(t, Grep(ws), tt.args); r.Outcome != OK || r.Text != tt.want {
			t.Errorf("%s: %s\n%s\nwant\n%s", tt.name, r.Outcome, r.Text, tt.want)
		}
	}
}

func TestGrepOfWhatIsNotText(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "bin1", "needle\n\x00")
	put(t, ws, "bin2", strings.Repeat("needle\n", 1000)+"\x00")
	put(t, ws, "late", strings.Repeat("pad\n", binaryHead/4)+"needle\x00\n")
	put(t, ws, "bom", "\ufeffneedle 1\n")
	put(t, ws, "bad\xff", "\xff\xfeneedle\xff\n")
	put(t, ws, "old-mac", "a\rneedle\rb")
	put(t, ws, "empty", "")
	r := run(t, Grep(ws), obj{"pattern": "needle"})
	want := `"bad\xff":1:` + "\ufffdneedle\ufffd\nbom:1:needle 1\nlate:2049:needle\ufffd\nold-mac:1:a\rneedle\rb\n[2 binary files were skipped]"
	if r.Text != want {
		t.Errorf("%q\nwant\n%q", r.Text, want)
	}
	if r := run(t, Grep(ws), obj{"pattern": "^needle .$"}); !strings.HasPrefix(r.Text, "bom:1:") {
		t.Errorf("at the beginning of the line after a mark: %q", r.Text)
	}
}

func TestGrepOfLongLines(t *testing.T) {
	ws := workspace(t)
	wide := strings.Repeat("宽", 100_000) // 300,000 bytes
	put(t, ws, "a", "x"+wide+"needle"+wide+"\nneedle"+wide+"\nshort needle\n")
	put(t, ws, "b", wide+wide+wide+wide+"needle\nneedle\n") // begins after 1.2 million
	r := run(t, Grep(ws), obj{"pattern": "needle"})
	got := lines(r)
	if len(got) != 5 || got[2] != "a:3:short needle" || got[3] != "b:2:needle" {
		t.Fatalf("%d lines: %.300q", len(got), got)
	}
	wantText(t, got[0], "a:1:[…]宽", "宽needle宽", "宽[…]")
	wantText(t, got[1], "a:2:needle宽", "宽[…]")
	wantText(t, got[4], "[1 lines are longer than 1024 KiB")
	for _, line := range got {
		if len(line) > maxShownLine+30 || strings.Contains(line, "\ufffd") {
			t.Errorf("%d bytes: %.100q", len(line), line)
		}
	}
	r = run(t, Grep(ws), obj{"pattern": "short", "context": 2})
	wantText(t, r.Text, "a-1-x宽", "a-2-needle宽", "a:3:short needle")
}

// F099: a file without an end of line, and without an end as far as we can tell.
func TestGrepOfAHugeFileIsBounded(t *testing.T) {
	ws := workspace(t)
	path := put(t, ws, "huge", strings.Repeat("line\n", 2000)+"needle ")
	if err := os.Truncate(path, 64<<20); err != nil {
		t.Skip("this file system has no sparse files:", err)
	}
	r := run(t, Grep(ws), obj{"pattern": "needle"})
	wantOutcome(t, r, OK)
	wantText(t, r.Text, "huge:2001:needle \ufffd", "[…]", "longer than 1024 KiB")

	put(t, ws, "many", strings.Repeat("宽needle\xff"+strings.Repeat("y", 400)+"\n", 1000))
	r = run(t, Grep(ws), obj{"pattern": "needle", "path": "many", "context": 5})
	if len(r.Text) > maxGrepBytes+200 {
		t.Errorf("%d bytes", len(r.Text))
	}
	wantText(t, r.Text, "truncated: only the first 64 KiB are shown")
}

func TestGrepNamesWhatIsWrongWithAPattern(t *testing.T) {
	ws := workspace(t)
	for pattern, want := range map[string]string{
		"a(b":                           "missing closing ) at byte 1",
		"(a)(b":                         "missing closing ) at byte 3",
		"a)b":                           "unexpected ) at byte 1",
		"ab[c":                          "missing closing ] at byte 2",
		"你*b**":                         "invalid nested repetition operator at byte 5",
		"a|*":                           "missing argument to repetition operator at byte 2",
		"x{2,1}":                        "invalid repeat count at byte 1",
		"(?=a)b":                        "invalid or unsupported Perl syntax at byte 0",
		`(a)\1`:                         "invalid escape sequence at byte 3",
		"((a{100}){100}){100}":          "invalid repeat count",
		strings.Repeat("(a{900}|b)", 9): "too large",
		strings.Repeat("a", 3000):       "longer than 2000 bytes",
		"":                              "minLength",
	} {
		r := run(t, Grep(ws), obj{"pattern": pattern})
		if r.Outcome != Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%.30q: %s %q, want a failure about %q", pattern, r.Outcome, r.Text, want)
		}
	}
	wantText(t, run(t, Grep(ws), obj{"pattern": "x", "path": "none"}).Text, "none does not exist")
	wantText(t, run(t, Grep(ws), obj{"pattern": "x", "context": 51}).Text, "context", "maximum")
}

func TestGrepTakesLinearTime(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "a", strings.Repeat("a", 100_000)+"\n"+strings.Repeat("x", 30)+"\n")
	for _, pattern := range []string{"(a*)*b", "(a|a)*b", "(a|aa)+$b", "(x+x+)+y", "(.*.*.*=)+.*1"} {
		wantText(t, run(t, Grep(ws), obj{"pattern": pattern}).Text, "no match in 1 files")
	}
}

// A stop is noticed in the middle of a line.
func TestGrepStopsWhileMatching(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x, err := compileExpression("a$", false)
	if err != nil {
		t.Fatal(err)
	}
	g := newGrepping(x, 0)
	if err := g.file(ctx, strings.NewReader(""), "f"); err != context.Canceled {
		t.Errorf("error is %v", err)
	}
	r := &runes{ctx: ctx, rest: make([]byte, maxLine)}
	if at := x.re.FindReaderIndex(r); at != nil || len(r.rest) < maxLine-1024 {
		t.Errorf("found %v with %d bytes to go", at, len(r.rest))
	}
}

// Looking for literals first never hides a match.
func TestGrepFindsWhatTheExpressionMatches(t *testing.T) {
	pieces := []string{"a", "K", "s", "ab", "é", "界", "(a|bs)", "(?:kA)+", "b*", ".", "x?", "[ab]", "(?i:Ks)", "^", "$", `\b`, "{2}", "(S|(?i)ab|c{2,3})", `\x{FFFD}`, "|"}
	texts := []string{"a", "A", "k", "K", "\u212a", "s", "S", "ſ", "ab", "b", "c", "é", "É", "界", "\xff", " ", "x"}
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "pattern"), "")
		fold := rapid.Bool().Draw(t, "fold")
		x, err := compileExpression(pattern, fold)
		if err != nil {
			t.Skip("not an expression:", err)
		}
		if fold {
			pattern = "(?i)" + pattern
		}
		re := regexp.MustCompile(pattern)
		for range 20 {
			line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(texts), 0, 6).Draw(t, "line"), "")
			line = strings.Repeat(line, rapid.SampledFrom([]int{1, 1, 1, 100, 4000}).Draw(t, "times"))
			if got, want := x.find(context.Background(), []byte(line)) >= 0, re.MatchString(line); got != want {
				t.Fatalf("%q in %.100q: %v, want %v (needs %q)", pattern, line, got, want, x.needs)
			}
		}
	})
}

func TestGrepSeesThatAFileWasReplaced(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "f", "needle")
	p, err := ws.resolve("f")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	entries, err := os.ReadDir(ws.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(ws.Dir(), "f")); err != nil {
		t.Fatal(err)
	}
	fifo(t, ws, "f")
	x, _ := compileExpression("needle", false)
	g := newGrepping(x, 0)
	err = grep{ws: ws}.search(g, &search{ctx: t.Context()}, found{dir: p.dir, name: "f", rel: "f", mode: entries[0].Type()})
	if err == nil || g.matches > 0 {
		t.Errorf("%d matches, error %v", g.matches, err)
	}
}
