package tool

import (
	"bytes"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"testing"
)

// ignoreCases are contents of a .gitignore with a file and whether git ignores it.
var ignoreCases = []struct {
	rules, file string
	ignored     bool
}{
	{"foo", "foo", true},
	{"foo", "d/foo/x", true},
	{"foo", "food", false},
	{"foo/", "foo", false},
	{"foo/", "a/foo/x", true},
	{"/foo", "foo", true},
	{"/foo", "sub/foo", false},
	{"a/foo", "a/foo", true},
	{"a/foo", "b/a/foo", false},
	{"*.log", "d/a.log", true},
	{"*.log\n!keep.log", "keep.log", false},
	{"!keep.log\n*.log", "keep.log", true},
	{"d/\n!d/keep", "d/keep", true},
	{"d/*\n!d/keep", "d/keep", false},
	{"d/**\n!d/keep", "d/keep", false},
	{"/*\n!/keep", "x", true},
	{"*", "x", true},
	{"**", "x", true},
	{"**/", "a/b", true},
	{"**/", "a", false},
	{"/**/x", "x", true},
	{"**/x", "a/b/x", true},
	{"**/a/b", "a/x/a/b", true},
	{"a/**/b", "a/b", true},
	{"a/**/b", "a/x/y/b", true},
	{"a/**/b/c", "a/b/x/b/c", true},
	{"x/**", "x/y/z", true},
	{"x/**", "x", false},
	{"a**b", "axxb", true},
	{"**foo", "x/afoo", true},
	{"**foo/bar", "xfoo/bar", true},
	{"doc/*.txt", "doc/x/y.txt", false},
	{"a?c", "abc", true},
	{"a?c", "a/c", false},
	{"a/b?c", "a/b/c", false},
	{"[!a].txt", "b.txt", true},
	{"[!a].txt", "a.txt", false},
	{"[^a].txt", "b.txt", true},
	{"x/a[!b]c", "x/a/c", false},
	{"[]a]x", "]x", true},
	{"[!]a]x", "]x", false},
	{"[a-c]x", "bx", true},
	{"[-a]x", "-x", true},
	{"[a-]x", "-x", true},
	{"[!-a]x", "-x", false},
	{"[[:digit:]]x", "1x", true},
	{"[[:alpha:]_]x", "_x", true},
	{"[[:nonsense:]]x", "nx", false},
	{`[\]]x`, "]x", true},
	{"a[", "a[", false},
	{"{a,b}", "a", false},
	{"{a,b}", "{a,b}", true},
	{`a\*b`, "a*b", true},
	{`a\*b`, "axb", false},
	{`a\`, `a\`, false},
	{`\!x`, "!x", true},
	{`\#x`, "#x", true},
	{"#x", "#x", false},
	{`x\ `, "x ", true},
	{"x  ", "x", true},
	{`x\\ `, `x\`, true},
	{"x\t", "x", false},
	{"*.t\r\n", "a.t", true},
	{"a.t\r\nb.t\r\n", "a.t", true},
	{"\ufefffoo", "foo", true},
	{"", "x", false},
	{" ", "x", false},
	{"!", "x", false},
	{"/", "x", false},
	{"中*", "中文", true},
	{"🙂/", "🙂/x", true},
	{"*\u202e*", "a\u202eb", true},
	{"\xff*", "\xffa", true},
}

// ignoresFile asks about a file as a walk does: from the top down.
func ignoresFile(g *ignores, file string) bool {
	for i, c := range file + "/" {
		if c == '/' && g.match(file[:i], path.Base(file[:i]), i < len(file)) {
			return true
		}
	}
	return false
}

func TestIgnoreRules(t *testing.T) {
	for _, c := range ignoreCases {
		g := &ignores{rules: parseIgnores([]byte(c.rules))}
		if got := ignoresFile(g, c.file); got != c.ignored {
			t.Errorf("rules %q ignore %q: %v, want %v", c.rules, c.file, got, c.ignored)
		}
	}
}

// The table says what git says.
func TestIgnoreRulesAreThoseOfGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed, so that there is nothing to compare with")
	}
	ws := workspace(t)
	var ask bytes.Buffer
	for i, c := range ignoreCases {
		dir := strconv.Itoa(i)
		put(t, ws, dir+"/.gitignore", c.rules)
		put(t, ws, dir+"/"+c.file, "")
		ask.WriteString(dir + "/" + c.file + "\x00")
	}
	run := func(args ...string) string {
		cmd := exec.Command(git, append([]string{"-C", ws.Dir(), "-c", "core.excludesFile=/dev/null"}, args...)...)
		cmd.Stdin = &ask
		out, _ := cmd.Output() // check-ignore fails when nothing is ignored
		return string(out)
	}
	run("init", "-q")
	ignored := "\x00" + run("check-ignore", "-z", "--stdin")
	if ignored == "\x00" {
		t.Skip("git does not answer")
	}
	for i, c := range ignoreCases {
		if got := strings.Contains(ignored, "\x00"+strconv.Itoa(i)+"/"+c.file+"\x00"); got != c.ignored {
			t.Errorf("git: rules %q ignore %q: %v, the table says %v", c.rules, c.file, got, c.ignored)
		}
	}
}
