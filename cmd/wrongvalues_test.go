package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// goTalk is what no user has heard of.
var goTalk = regexp.MustCompile(`strconv|parsing|unmarshal|!!|map\[| yaml: | time: | json: |invalid syntax|out of range`)

// Each setting that takes no text is given a wrong one, on the command line, by its
// variable and in a file.
func TestAWrongValueIsToldWithWhatIsWanted(t *testing.T) {
	a := &app{}
	var flags []*pflag.Flag
	a.runCommand().Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	dir := t.TempDir()
	count := 0
	for _, f := range flags {
		want := article(f.Value.Type())
		if strings.HasPrefix(want, "a text") || f.Value.Set("no such thing") == nil {
			continue
		}
		count++
		fails(t, dir, "", []string{"--" + f.Name + "=no such thing"}, "--"+f.Name+": invalid value \"no such thing\"; it takes "+want)
		if strings.Contains(" "+strings.Join(settings(), " ")+" ", " "+f.Name+" ") {
			fails(t, dir, envName(f.Name)+"=no such thing", nil, envName(f.Name)+": invalid value \"no such thing\"; it sets --"+f.Name+", which takes "+want)
			put(t, filepath.Join(dir, "c.yaml"), f.Name+": no such thing\n")
			fails(t, dir, "", []string{"--config", "c.yaml"}, "c.yaml: "+f.Name+": invalid value \"no such thing\"; it sets --"+f.Name)
		}
	}
	if count < 10 {
		t.Errorf("only %d flags are tried", count)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fails runs a command that is called wrongly, with a variable perhaps.
func fails(t *testing.T, dir, variable string, args []string, want string) {
	t.Helper()
	c, out := kagentIn(t, dir, append([]string{"run", "-m", "demo", "--stdin", "none", "hi"}, args...)...)
	c.Env = append(c.Environ(), "XDG_CONFIG_HOME="+dir)
	if variable != "" {
		c.Env = append(c.Env, variable)
	}
	c.Run()
	said := out.String()
	if code := c.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(said, "kagent: ") || !strings.Contains(said, want) || goTalk.MatchString(said) || strings.Count(said, "\n") != 1 {
		t.Errorf("%s %q: exit %d: %s\nwant %s", variable, args, code, said, want)
	}
}

func TestAWrongValueIsToldWithWhereItIsFrom(t *testing.T) {
	dir := t.TempDir()
	fails(t, dir, "KAGENT_AGENT=x", nil, `--agent "x" is not known (set by KAGENT_AGENT); want react`)
	fails(t, dir, "KAGENT_RETRIES=-1", nil, "--retries -1 is negative (set by KAGENT_RETRIES)")
	fails(t, dir, "KAGENT_AGENT=x", []string{"--agent", "y"}, `--agent "y" is not known; want react`)
	put(t, filepath.Join(dir, "c.yaml"), "effort: huge\n")
	fails(t, dir, "", []string{"--config", "c.yaml"}, `--effort "huge" is not known (set by c.yaml: effort); want low`)
}

// Files that a person has written, with a mistake each: line, what and what is wanted.
func TestAFileWithAMistakeNamesItsLine(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ text, want string }{
		{"5\n", "line 1: want names with their values, not a number"},
		{"\n- a\n", "line 2: want names with their values, not a list"},
		{"model: a\nmodel: b\n", `line 2: "model" is given twice, in line 1 too`},
		{"profiles: 5\n", "line 1: profiles: want names with their values, not a number"},
		{"profiles:\n  a: [b]\n", "line 2: profiles.a: want names with their values, not a list"},
		{"profiles: {a: {model: {b: c}}}\n", "line 1: not a single value or a list"},
		{"model: [\n", "line 1: a value or a closing bracket is missing"},
		{"model: a: b\n", "a second colon in a line"},
		{"\tmodel: a\n", "a tab at the start of a line"},
		{"? [a]\n: b\n", "line 1: want a name before the colon, not a list"},
		{"model: \xff\n", "it is not UTF-8 text"},
	} {
		put(t, filepath.Join(dir, "c.yaml"), c.text)
		fails(t, dir, "", []string{"--config", "c.yaml"}, c.want)
	}
	for text, want := range map[string]string{
		"":                      "it is empty",
		"{":                     "line 1: it ends in the middle of a value",
		"{\"a\":\n 1\n b}":      "line 3: it is no JSON from byte 2 of the line on",
		"[]":                    "a schema is an object, not a list",
		`{"properties": []}`:    "/properties: an object of schemas belongs there",
		`{"required": "a"}`:     "/required: a list of names belongs there",
		`{"minimum": "a"}`:      "/minimum: a number belongs there",
		`{"items": 5}`:          "/items: 5 is no schema; an object belongs there",
		`{"pattern": "("}`:      `/pattern: "(" is no regular expression`,
		`{"a":1}` + "\n" + `{}`: "line 2: more stands there after the end of the value",
		"type: object":          "line 1: it is no JSON from byte 2 of the line on",
	} {
		put(t, filepath.Join(dir, "s.json"), text)
		fails(t, dir, "", []string{"--output-schema", "s.json"}, "--output-schema s.json: ")
		fails(t, dir, "", []string{"--output-schema", "s.json"}, want)
	}
}
