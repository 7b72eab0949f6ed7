package script_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kagent/pkg/provider/script"
)

func TestMistakesAreNamedWithTheirPlace(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"replies:\n- text: a\n- text: b\n  txt: c\n", `reply 2: line 4: unknown field "txt"; known are delay, error, piece_delay, pieces`},
		{"replies:\n- text: a\n  when:\n    lastuser: x\n", `reply 1: when: line 4: unknown field "lastuser"`},
		{"{\n\"replies\": [\n{\"text\": \"a\",\n\"x\": 1}]}", `reply 1: line 4: unknown field "x"`},
		{"reply: []", `line 1: unknown field "reply"; known are replies`},
		{"replies:\n- text: a\n  text: b\n", `line 3: field "text" is given twice`},
		{"replies:\n- tool_calls:\n  - name: a\n    arguments: {x: 1, x: 2}\n", `line 4: field "x" is given twice`},
		{"replies:\n- text: &a x\n- text: *a\n", `line 2: anchors and aliases`},
		{"replies:\n- ? [a]\n  : b\n", `line 2: a field's name must be text`},
		{"", "empty file"},
		{"# nothing\n", "empty file"},
		{"replies: []", `line 1: the top level needs a list "replies"`},
		{"{}", `line 1: the top level needs a list "replies"`},
		{"- text: a", "line 1: must have fields: replies"},
		{"replies: {text: a}", `line 1: the top level needs a list "replies"`},
		{"replies: [a]", ": reply 1: line 1: must have fields: delay"},
		{"replies: [{text: a}]\n---\nreplies: [{text: b}]", "a second document"},
		{"replies: [{text: a}", "line 1: did not find expected ',' or ']'"},
		{"replies:\n- text: \"\xff\"", "not UTF-8"},
		{"replies: [{delay: 1s}]", `reply 1: line 1: says nothing; write text: ""`},
		{"replies: [{text: [a]}]", "text: line 1: must be text"},
		{"replies: [{text: ~}]", "text: line 1: must be text"},
		{"replies: [{text: a, delay: 5}]", `delay: line 1: "5" is not a duration such as`},
		{"replies: [{text: a, piece_delay: -1s}]", `piece_delay: line 1: "-1s" is not a duration`},
		{"replies: [{text: a, pieces: 0}]", "pieces: line 1: 0 is not within 1 to"},
		{"replies: [{text: a, pieces: many}]", "pieces: line 1: must be a whole number"},
		{"replies: [{text: a, stop: end}]", `stop: line 1: "end" is none of stop tool_calls length`},
		{"replies: [{text: a, usage: {input: -1}}]", "usage: input: line 1: -1 is not within"},
		{"replies: [{text: a, usage: {input: 1, cacheRead: 2}}]", "cacheRead and cacheWrite are part of input"},
		{"replies: [{text: a, usage: {reasoning: 2}}]", "reasoning is part of output"},
		{"replies: [{text: a, usage: {total: 2}}]", `unknown field "total"`},
		{"replies: [{error: {status: 500}}]", "error: line 1: an error needs a kind"},
		{"replies: [{error: {kind: oops}}]", `error: kind: line 1: "oops" is none of auth permission`},
		{"replies: [{error: {kind: auth, status: 7}}]", "status: line 1: 7 is not within 100 to 599"},
		{"replies: [{error: {kind: auth}, tool_calls: []}]", "tool_calls and error exclude each other"},
		{"replies: [{error: {kind: auth}, usage: {}}]", "usage and error exclude each other"},
		{"replies: [{tool_calls: [{arguments: {}}]}]", "a call needs a name"},
		{"replies: [{tool_calls: [{name: a, arguments: [1]}]}]", "arguments: line 1: must be an object, or a string"},
		{"replies: [{tool_calls: [{name: a, arguments: {x: .nan}}]}]", `".nan" can't be written in JSON`},
		{"replies: [{text: a, when: {ordinal: 0}}]", "when: ordinal: line 1: 0 is not within 1"},
		{"replies: [{text: a, when: {tool_results: {min: 3, max: 2}}}]", "min 3 is more than max 2"},
		{"replies: [{text: a, when: {tool_results: 1.5}}]", "must be a whole number"},
		{"replies: [{text: a, when: {no_tools: 1}}]", "no_tools: line 1: must be true or false"},
		{"replies: [{text: a, when: {tools: shell}}]", "tools: line 1: must be a list"},
	} {
		_, err := script.Parse("f", []byte(c.src))
		if err == nil || !strings.HasPrefix(err.Error(), "script f: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\ngot  %v\nwant %s", c.src, err, c.want)
		}
	}
}

func TestJSONIsReadAsJSON(t *testing.T) {
	for _, name := range []string{"s.json", "s.JSON", "script"} {
		src := "\uFEFF{\t\"replies\": [\r\n\t{\"text\": \"\\ud83d\\ude42 \\/ \\u00e9\", \"when\": {\"no_tools\": true}}]}"
		s, err := script.Parse(name, []byte(src))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := text(t, s, request(user("x"))); got != "🙂 / é" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestBrokenJSONNamesTheLine(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	for src, want := range map[string]string{
		"{\n\"replies\": [\n{\"text\": }]}": "line 3: it is no JSON from byte 10 of the line on",
		"{\"replies\": []} x":               "line 1: more stands there after the end of the value",
		"replies: []":                       "line 1: it is no JSON from byte 1 of the line on",
		deep:                                "nested too deeply",
	} {
		_, err := script.Parse("f.json", []byte(src))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %s", src, err, want)
		}
	}
	if _, err := script.Parse("f.yaml", []byte(deep)); err == nil {
		t.Error("deep YAML was accepted")
	}
}

func TestAScriptIsLoadedFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte("replies: [{text: from a file}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := script.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, s, request(user("x"))); got != "from a file" {
		t.Errorf("got %q", got)
	}
}

func TestOnlyRegularFilesOfBoundedSizeAreLoaded(t *testing.T) {
	dir := t.TempDir()
	if _, err := script.Load(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	for _, path := range []string{dir, os.DevNull} {
		if _, err := script.Load(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, script.MaxSize+1); err != nil {
		t.Fatal(err)
	}
	if _, err := script.Load(big); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("big: %v", err)
	}
}

// The examples of the help are scripts, and it names every field.
func TestTheHelpIsTrue(t *testing.T) {
	blocks := strings.Split(script.Help, "```")
	if len(blocks) != 5 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for _, i := range []int{1, 3} {
		if _, err := script.Parse("help", []byte(strings.TrimPrefix(blocks[i], "yaml"))); err != nil {
			t.Errorf("%v in\n%s", err, blocks[i])
		}
	}
	for _, at := range []string{
		"{no: 1}", "{when: {no: 1}}", "{tool_calls: [{no: 1}]}", "{usage: {no: 1}}",
		"{error: {no: 1}}", "{tool_calls: [{result: {no: 1}}]}", "{when: {attempt: {no: 1}}}",
	} {
		_, err := script.Parse("f", []byte("replies: ["+at+"]"))
		_, known, ok := strings.Cut(err.Error(), "known are ")
		if !ok {
			t.Fatal(err)
		}
		for field := range strings.SplitSeq(known, ", ") {
			if !regexp.MustCompile("`.*\\b" + field + "\\b.*`").MatchString(script.Help) {
				t.Errorf("the help does not name %s in %s", field, at)
			}
		}
	}
}
