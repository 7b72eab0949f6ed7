package cmd

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func pagesOfUsers() []string { return []string{"../README.md", "../README.zh-CN.md", recipesPage} }

// codeOf returns what a page holds of code, in blocks and within lines.
func codeOf(text string) string {
	fence := regexp.MustCompile("(?ms)^```.*?^```$")
	spans := regexp.MustCompile("`kagent [^`]+`").FindAllString(fence.ReplaceAllString(text, ""), -1)
	return strings.Join(append(fence.FindAllString(text, -1), spans...), "\n")
}

// spokenCalls finds each call of kagent in code: its words, as far as they
// don't depend on a shell.
func spokenCalls(text string) (calls [][]string) {
	text = strings.NewReplacer("\\\n", " ", "\\|", " ", "[", " ", "]", " ", "…", " ").Replace(text)
	call := regexp.MustCompile("(?:^|[\\s`(])kagent((?: +(?:'[^']*'|\"[^\"]*\"|[^\\s'\"|;&()<>`$#]+|\\$\\([^)]*\\))+)+)")
	word := regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"]+)+`)
	for _, m := range call.FindAllStringSubmatch(text, -1) {
		calls = append(calls, word.FindAllString(m[1], -1))
	}
	return calls
}

// misnamed says what of a call there is not: the command, or one of its flags.
func misnamed(root *cobra.Command, words []string) string {
	c, rest, err := root.Find(words[:1])
	if err != nil || c == root || len(rest) > 0 {
		return "command " + words[0]
	}
	for _, w := range words[1:] {
		name, _, _ := strings.Cut(w, "=")
		long, isLong := strings.CutPrefix(name, "--")
		switch {
		case !strings.HasPrefix(w, "-") || w == "-" || w == "--":
		case isLong && c.Flags().Lookup(long) == nil && c.InheritedFlags().Lookup(long) == nil:
			return "flag " + name
		case !isLong && c.Flags().ShorthandLookup(name[1:2]) == nil && c.InheritedFlags().ShorthandLookup(name[1:2]) == nil:
			return "flag " + name
		}
	}
	return ""
}

func TestPagesNameOnlyWhatThereIs(t *testing.T) {
	a := &app{out: newOutput(os.Stdout), stderr: os.Stderr}
	root := a.root()
	known := knownFlags(root)
	for _, file := range pagesOfUsers() {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		calls := spokenCalls(codeOf(string(b)))
		if len(calls) < 10 {
			t.Errorf("%s: only %d calls were found", file, len(calls))
		}
		for _, words := range calls {
			if wrong := misnamed(root, words); wrong != "" {
				t.Errorf("%s: kagent %s: there is no %s", file, strings.Join(words, " "), wrong)
			}
		}
		for _, m := range regexp.MustCompile("`--([a-z-]+)[^`]*`").FindAllStringSubmatch(string(b), -1) {
			if !known(m[1]) && m[1] != "preserve-status" && m[1] != "help" {
				t.Errorf("%s: there is no flag --%s", file, m[1])
			}
		}
	}
}

func TestCallsThatThereAreNotAreFound(t *testing.T) {
	a := &app{out: newOutput(os.Stdout), stderr: os.Stderr}
	for call, want := range map[string]string{
		"`kagent runn x`": "command runn", "kagent run -q --modle x 'a --b'": "flag --modle", "git | kagent list -Z": "flag -Z",
		"kagent resume -q \"$(kagent fork a)\" 'b'": "", "kagent run -s \"r-$(date +%F)\" --stdin none": "",
	} {
		calls := spokenCalls(call)
		if len(calls) == 0 || misnamed(a.root(), calls[0]) != want {
			t.Errorf("%s: %q, want no %s", call, calls, want)
		}
	}
}

func TestTheRecipesOfTheReadmeRun(t *testing.T) {
	need(t, "jq")
	d := newDesk(t)
	d.must("set -e\n" + readPage(t, "../README.md").under(t, "Recipes", "sh"))
	if out, _ := d.must("kagent list -o json | jq -r 'map(.status) | unique | join(\" \")'; kagent show report --stats"); !strings.HasPrefix(out, "completed\n") {
		t.Errorf("%s", out)
	}
	if d.read("report.md") == "" {
		t.Error("there is no report")
	}
}

func TestTheQuickStartAnswers(t *testing.T) {
	first := readPage(t, "../README.md").all("Quick start", "sh")[0]
	build, run, ok := strings.Cut(first, "\n")
	if !ok || !strings.HasPrefix(build, "make build && export PATH=") {
		t.Fatalf("the quick start is %q", first)
	}
	if out, _ := newDesk(t).must(run); !strings.Contains(out, "offline demo") || !strings.Contains(out, "苍鹭") {
		t.Errorf("%s", out)
	}
}
