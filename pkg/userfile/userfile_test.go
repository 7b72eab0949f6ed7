package userfile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// form has a field of each type.
type form struct {
	Text   string             `yaml:"text"`
	Whole  int                `yaml:"whole"`
	Count  *int64             `yaml:"count"`
	Number float64            `yaml:"number"`
	Flag   bool               `yaml:"flag"`
	Texts  []string           `yaml:"texts"`
	Wholes []int              `yaml:"wholes"`
	Named  map[string]float64 `yaml:"named"`
	Inner  *struct {
		Deep map[string]struct {
			Whole int `yaml:"whole"`
		} `yaml:"deep"`
	} `yaml:"inner"`
	Raw yaml.Node `yaml:"raw"`
}

// values are what may stand in a file, by what it is called.
func values() map[string][]string {
	return map[string][]string{
		"a text":                   {"SECRET", `"5"`, "模型", "''", "|\n  SECRET"},
		"a number":                 {"5", "-3", "0x10"},
		"a number with a fraction": {"1.5", ".nan", "-.inf"},
		"true or false":            {"true", "False"},
		"a list":                   {"[]", "[SECRET, 1]", "[[a]]"},
		"names with their values":  {"{}", "{key: SECRET}"},
		"a date":                   {"2026-12-01"},
	}
}

// goWords are what no user has heard of.
var goWords = regexp.MustCompile(`unmarshal|!!|struct|map\[|\[\]|float64|int64|yaml|strconv|Go value|interface`)

// plain fails the test for an error that a user can't read, or that repeats a value.
func plain(t *testing.T, text string, err error) {
	t.Helper()
	if s := err.Error(); goWords.MatchString(s) || strings.Contains(s, "SECRET") || strings.ContainsAny(s, "\n\r") || len(s) > 300 {
		t.Errorf("%q: %q", text, s)
	}
}

// Each field is given each kind of value, and takes it or names line, field and both.
func TestEachFieldWithEachWrongValue(t *testing.T) {
	takes := map[string]struct {
		want string
		ok   []string
	}{
		"text":   {"a text", []string{"a text", "a number", "a number with a fraction", "true or false", "a date"}},
		"whole":  {"a whole number", []string{"a number"}},
		"count":  {"a whole number", []string{"a number"}},
		"number": {"a number", []string{"a number", "a number with a fraction"}},
		"flag":   {"true or false", []string{"true or false"}},
		"texts":  {"a list", nil},
		"wholes": {"a list", nil},
		"named":  {"names with their values", nil},
		"inner":  {"fields (deep)", []string{"names with their values"}},
		"raw":    {"", []string{"a text", "a number", "a number with a fraction", "true or false", "a date", "a list", "names with their values"}},
	}
	for field, c := range takes {
		for kind, list := range values() {
			for _, value := range list {
				text := "\n# a comment\n" + field + ": " + value + "\n"
				err := YAML([]byte(text), new(form), true)
				want := fmt.Sprintf("line 3: %s: want %s, not %s", field, c.want, kind)
				switch {
				case strings.Contains(strings.Join(c.ok, ","), kind) || kind == c.want:
					if err != nil && strings.HasPrefix(err.Error(), want) {
						t.Errorf("%q is refused: %v", text, err)
					}
				case err == nil:
					t.Errorf("%q is taken", text)
				default:
					if err.Error() != want {
						t.Errorf("%q: %v, want %s", text, err, want)
					}
				}
				if err != nil {
					plain(t, text, err)
				}
			}
		}
	}
}

func TestWhatIsWrongInsideIsFound(t *testing.T) {
	for text, want := range map[string]string{
		"inner:\n  deep:\n    a/b:\n      whole: x\n": "line 4: inner.deep.a/b.whole: want a whole number, not a text",
		"inner: {deep: {a: {hole: 1}}}":               `line 1: inner.deep.a: there is no field "hole"; known are whole`,
		"wholes: [1, 2, x]":                           "line 1: wholes[3]: want a whole number, not a text",
		"named: {a: [1]}":                             "line 1: named.a: want a number, not a list",
		"text: a\nTexts: b":                           `line 2: there is no field "Texts"; known are text, whole, `,
		"whole: 1\nwhole: 2":                          `line 2: "whole" is given twice, in line 1 too`,
		"named: {a: 1, a: 2}":                         `line 1: named: "a" is given twice, in line 1 too`,
		"whole: 99999999999999999999":                 "line 1: whole: the number is too large",
		"whole: 1e30":                                 "line 1: whole: the number is too large",
		"whole: 1.5":                                  "line 1: whole: want a whole number, not a number with a fraction",
		"whole: 010":                                  "line 1: whole: a number does not begin with 0",
		"number: -07":                                 "line 1: number: a number does not begin with 0",
		"text: a\n---\nwhole: 1":                      "line 3: a second document begins behind a ---; the file has to be one document",
		"---\n---\ntext: a":                           "line 3: a second document begins",
		"text: a\n---\n---\n- b":                      "line 4: a second document begins",
		"text: a\n---\ntext: [":                       "a value or a closing bracket is missing",
		"5":                                           "line 1: want an object, not a number",
		"[a]: b":                                      "line 1: want a name before the colon, not a list",
		"text: &a {b: *a}":                            "line 1: text: want a text, not names with their values",
		"text: a: b":                                  "a second colon in a line; put the text into quotes",
		"\ttext: a":                                   "a character that no value begins with: a tab at the start",
		"text: [":                                     "line 1: a value or a closing bracket is missing",
		"text: \"a":                                   "a closing quote is missing",
		"text: *a":                                    "a * that names nothing",
		"text: \xff":                                  "it is not UTF-8 text",
		"text: a\x00":                                 "it holds control characters",
	} {
		err := YAML([]byte(text), new(form), true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
			continue
		}
		plain(t, text, err)
	}
}

func TestWhatIsRightIsTaken(t *testing.T) {
	var f form
	text := "text: 5\nwhole: 1e3\nnumber: 2\ntexts: [a, 1]\ninner: &i {deep: {x: {whole: 7}}}\nnamed:\nflag: yes\nraw: {a: b}\nnew: [1]\n"
	if err := YAML([]byte(text), &f, false); err != nil {
		t.Fatal(err)
	}
	if f.Text != "5" || f.Whole != 1000 || f.Number != 2 || f.Texts[1] != "1" || f.Inner.Deep["x"].Whole != 7 || !f.Flag || f.Raw.Kind != yaml.MappingNode {
		t.Errorf("%+v", f)
	}
	for _, text := range []string{"", "# nothing", "---\n", "null", "---\ntext: a\n", "text: a\n---\n", "text: a\n...\n", "text: 010", "whole: 0", "number: 0.5", "whole: 0o10", "whole: 0x10", "raw: &a {x: 1}\nnamed: *a", "named: {<<: {a: 1}, b: 2}"} {
		if err := YAML([]byte(text), new(form), true); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Aliases repeat what they name: a few lines could keep the check busy for ever.
func TestAliasesDoNotGrowWithoutBound(t *testing.T) {
	text := "raw: &a0 [x]\n"
	for i := range 40 {
		text += fmt.Sprintf("f%d: &a%d {a: *a%d, b: *a%d}\n", i, i+1, i, i)
	}
	text += "named: *a40\n"
	if err := YAML([]byte(text), new(form), false); err == nil {
		t.Error("it was taken")
	}
	var loop map[string]map[string]any
	if err := YAML([]byte("a: &a {b: *a}"), &loop, false); err == nil {
		t.Error("a loop was taken")
	} else {
		plain(t, "a loop", err)
	}
}

func TestErrorsOfJSONAreWorded(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "it is empty",
		" \n":                                "it is empty",
		"{\n\"text\": ":                      "line 2: it ends in the middle of a value",
		"{}\nx":                              "line 2: more stands there after the end of the value",
		"{\n  \"text\": x}":                  "line 2: it is no JSON from byte 11 of the line on",
		"text: a":                            "line 1: it is no JSON from byte 2 of the line on",
		"\xff":                               "line 1: it is no JSON from byte 1 of the line on",
		"[]":                                 "want an object, not a list",
		`{"Whole": "SECRET"}`:                "Whole: want a whole number, not a text",
		`{"Whole": 1.5}`:                     "Whole: want a whole number, not a number",
		`{"Number": true}`:                   "Number: want a number, not true or false",
		`{"Texts": {}}`:                      "Texts: want a list, not an object",
		`{"Named": [1]}`:                     "Named: want an object, not a list",
		`{"Inner": {"Deep": {"a": [1]}}}`:    "want an object, not a list",
		`{"Inner": {"Deep": {"a": "\u00"}}}`: "line 1: it is no JSON",
	} {
		err := json.Unmarshal([]byte(text), new(form))
		if err == nil {
			t.Fatalf("%q is right", text)
		}
		err = JSON([]byte(text), err)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		plain(t, text, err)
	}
}

func FuzzYAML(f *testing.F) {
	for _, text := range []string{"text: a", "inner: {deep: {a: {whole: x}}}", "a: &a [*a]", "? [a]\n: b", "<<: {text: a}", "\t", "named: {a: 1, a: 2}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := YAML([]byte(text), new(form), true); err != nil && (goWords.MatchString(err.Error()) && !goWords.MatchString(text)) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
