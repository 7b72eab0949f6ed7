package tool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"kagent/pkg/message"
)

// fake is a tool with any name and schema.
type fake struct{ name, schema string }

func (f fake) Spec() message.ToolSpec {
	return message.ToolSpec{Name: f.name, Schema: json.RawMessage(f.schema)}
}
func (fake) Traits() Traits                   { return Traits{Class: Read} }
func (fake) Run(context.Context, Call) Result { return Success("") }

const plainSchema = `{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer","minimum":1}},
	"required":["path"],"additionalProperties":false}`

func mustSet(t testing.TB, tools ...Tool) *Set {
	t.Helper()
	s, err := NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSetKeepsOrder(t *testing.T) {
	s := mustSet(t, fake{"zoo", plainSchema}, fake{"a-1", plainSchema}, fake{"M_2", plainSchema})
	want := []string{"zoo", "a-1", "M_2"}
	if got := s.Names(); !slices.Equal(got, want) {
		t.Errorf("names are %q, want %q", got, want)
	}
	for i, spec := range s.Specs() {
		if spec.Name != want[i] {
			t.Errorf("spec %d is %q, want %q", i, spec.Name, want[i])
		}
	}
	if got, ok := s.Lookup("a-1"); !ok || got.Spec().Name != "a-1" {
		t.Errorf("lookup found %v, %v", got, ok)
	}
	if _, ok := s.Lookup("A-1"); ok {
		t.Error("lookup found a tool that is not there")
	}
}

func TestNewSetRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tools []Tool
		want  string
	}{
		{"equal names", []Tool{fake{"a", plainSchema}, fake{"a", plainSchema}}, "two tools"},
		{"no name", []Tool{fake{"", plainSchema}}, "1 to 64"},
		{"space", []Tool{fake{"read file", plainSchema}}, "1 to 64"},
		{"dot", []Tool{fake{"mcp.x", plainSchema}}, "1 to 64"},
		{"not ASCII", []Tool{fake{"读", plainSchema}}, "1 to 64"},
		{"65 bytes", []Tool{fake{strings.Repeat("x", 65), plainSchema}}, "1 to 64"},
		{"no schema", []Tool{fake{"a", ""}}, "schema"},
		{"null schema", []Tool{fake{"a", "null"}}, "schema"},
		{"schema that is no object", []Tool{fake{"a", "[]"}}, "schema"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewSet(tt.tools...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one about %q", err, tt.want)
			}
		})
	}
}

func TestCheckAcceptsOneValidObject(t *testing.T) {
	s := mustSet(t, fake{"t", plainSchema}, fake{"free", `{"type":"object"}`})
	for _, tt := range []struct{ tool, args, want string }{
		{"t", `{"path":"a"}`, `{"path":"a"}`},
		{"t", " \n{\"path\":\"文件 🙂 קובץ\", \"n\":3.0}\t", `{"path":"文件 🙂 קובץ", "n":3.0}`},
		{"free", ``, `{}`},
		{"free", " \r\n\t", `{}`},
		{"free", `{"anything":[1,{"x":null}]}`, `{"anything":[1,{"x":null}]}`},
	} {
		got, problem := s.Check(tt.tool, tt.args)
		if problem != nil || string(got) != tt.want {
			t.Errorf("Check(%q) = %q, %v; want %q", tt.args, got, problem, tt.want)
		}
	}
}

// F095: never run on a guess, and say what would be right.
func TestCheckRefusesWithAdvice(t *testing.T) {
	s := mustSet(t, fake{"t", plainSchema})
	const expected = `t takes a JSON object with "path" (string, required), "n" (integer, optional)`
	for _, tt := range []struct {
		name, args string
		want       []string
	}{
		{"trailing comma", `{"path": "a.txt", }`, []string{"not valid JSON", "'}'", "byte 18"}},
		{"cut off", `{`, []string{"cut off"}},
		{"cut off in a string", `{"path":"abc`, []string{"cut off"}},
		{"array", `[1]`, []string{"not an array"}},
		{"string", `"x"`, []string{"not a string"}},
		{"null", `null`, []string{"not null"}},
		{"number", `7`, []string{"not a number"}},
		{"boolean", `true`, []string{"not a boolean"}},
		{"two objects", `{"path":"a"}{"path":"b"}`, []string{"more text follows", "byte 12"}},
		{"text after it", `{"path":"a"} done`, []string{"more text follows"}},
		{"fenced", "```json\n{\"path\":\"a\"}\n```", []string{"not valid JSON", "byte 0"}},
		{"no arguments", ``, []string{`"path" is missing`}},
		{"unknown names", `{"file":"a","ציר":1}`, []string{`"path" is missing`, `"file" is not known`, `"ציר" is not known`}},
		{"case counts", `{"Path":"a"}`, []string{`"path" is missing`, `"Path" is not known`}},
		{"wrong type", `{"path":3}`, []string{"at /properties/path", `want "string"`}},
		{"too small", `{"path":"a","n":0}`, []string{"at /properties/n", "minimum"}},
		{"not whole", `{"path":"a","n":1.5}`, []string{"at /properties/n", `want "integer"`}},
		{"number out of range", `{"path":"a","n":1e999}`, []string{"the number 1e999, which is too large"}},
		{"invalid UTF-8", "{\"path\":\"a\xff\"}", []string{"UTF-8"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args, problem := s.Check("t", tt.args)
			if problem == nil {
				t.Fatalf("accepted as %s", args)
			}
			if args != nil || problem.Unknown {
				t.Errorf("got %q, unknown %v", args, problem.Unknown)
			}
			wantText(t, problem.Text, append(tt.want, expected)...)
		})
	}
}

// F103
// A validator lists unknown names in the order of a map, and the model is to read
// what is wanted instead.
func TestCheckNamesWhatIsWantedInsideOfAList(t *testing.T) {
	ws, err := NewWorkspace(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	set, err := NewSet(EditFile(ws))
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		_, problem := set.Check("edit_file", `{"path":"x","edits":[{"old":"a","new":"b"},{"old_string":"a","new_string":"b","alter":1}]}`)
		const want = `at edits[1]: "old" is missing, "new" is missing, "alter" is not known, "new_string" is not known, "old_string" is not known; ` +
			`it takes "old" (string, required), "new" (string, required), "all" (boolean, optional)`
		if problem == nil || !strings.Contains(problem.Text, want) {
			t.Fatalf("%+v", problem)
		}
	}
	if _, problem := set.Check("edit_file", `{"path":"x","edits":[{"old":"a","new":1}]}`); problem == nil || !strings.Contains(problem.Text, "edits") {
		t.Errorf("%+v", problem)
	}
}

func TestCheckOfUnknownToolListsTheRealOnes(t *testing.T) {
	s := mustSet(t, fake{"alpha", plainSchema}, fake{"beta", plainSchema})
	for _, name := range []string{"no_such_tool", "", "read file!", "alpha\n", "ALPHA", "工具\xff", strings.Repeat("x", 300)} {
		args, problem := s.Check(name, `{"path":"a"}`)
		if problem == nil || !problem.Unknown || args != nil {
			t.Errorf("Check(%q) = %q, %v", name, args, problem)
			continue
		}
		wantText(t, problem.Text, "alpha, beta")
		if !utf8.ValidString(problem.Text) || len(problem.Text) > 200 {
			t.Errorf("text is %q", problem.Text)
		}
	}
	if _, problem := mustSet(t).Check("x", ""); problem == nil || !strings.Contains(problem.Text, "no tools at all") {
		t.Errorf("an empty set said %v", problem)
	}
}

func TestCheckBoundsWhatItQuotes(t *testing.T) {
	s := mustSet(t, fake{"t", plainSchema})
	huge := strings.Repeat("界", 1<<20)
	for _, args := range []string{`{"path":["` + huge + `"]}`, `{"` + huge + `":1}`, huge} {
		_, problem := s.Check("t", args)
		if problem == nil || len(problem.Text) > 3*maxProblem || !utf8.ValidString(problem.Text) {
			t.Errorf("the problem is not a bounded text: %v", problem != nil)
		}
	}
}

func TestCheckDescribesOtherSchemas(t *testing.T) {
	s := mustSet(t, fake{"t", `{"type":"object","required":["a","c"],"properties":{"a":{"type":["string","null"]},
		"b":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"object","required":["old"]}}]}}}`},
		fake{"none", `{"type":"object","additionalProperties":false}`})
	for _, tt := range []struct{ tool, args, want string }{
		{"t", `{"c":1}`, `t takes a JSON object with "a" (string or null, required), "c" (required), "b" (optional)`},
		{"t", `{"a":null,"c":1,"b":[{}]}`, `missing properties: ["old"]`},
		{"none", `{"x":1}`, "none takes no named arguments"},
	} {
		_, problem := s.Check(tt.tool, tt.args)
		if problem == nil {
			t.Fatalf("%s is accepted", tt.args)
		}
		wantText(t, problem.Text, tt.want)
	}
	if _, problem := s.Check("t", `{"a":"x","c":{},"other":1}`); problem != nil {
		t.Errorf("an open schema refused: %s", problem.Text)
	}
}

func TestCheckSaysWhenASchemaIsUnusable(t *testing.T) {
	for _, schema := range []string{
		`{"type":5}`, `{"$ref":"https://example.com/x.json"}`, `{"properties":{"a":{"pattern":"("}}}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`,
	} {
		if args, problem := mustSet(t, fake{"t", schema}).Check("t", `{}`); problem == nil {
			t.Errorf("schema %s let %s through", schema, args)
		}
	}
}

func TestBuiltInsHaveUsableSchemas(t *testing.T) {
	ws := workspace(t)
	s := mustSet(t, ReadFile(ws, nil), ListFiles(ws), Glob(ws), Grep(ws), WriteFile(ws), EditFile(ws), Shell(ws, ShellOptions{}), WebFetch(WebFetchOptions{}))
	want := map[string]Class{
		"read_file": Read, "list_files": Read, "glob": Read, "grep": Read, "write_file": Write, "edit_file": Write, "shell": Execute, "web_fetch": Network,
	}
	for _, name := range s.Names() {
		tool, _ := s.Lookup(name)
		if tool.Traits().Class != want[name] {
			t.Errorf("%s is of class %q", name, tool.Traits().Class)
		}
		_, problem := s.Check(name, `{"nonsense":1}`)
		if problem == nil {
			t.Fatalf("%s takes nonsense", name)
		}
		wantText(t, problem.Text, "is missing", `"nonsense" is not known`, name+" takes a JSON object with")
	}
}

func FuzzCheckArguments(f *testing.F) {
	for _, seed := range []string{
		`{"path":"a"}`, `{"path":"a","n":3.0}`, ``, `{`, `[1]`, `{"path":"\ud800"}`,
		`{"path":"a"}{"path":"b"}`, "{\"path\":\"\xff\"}", `null`, `{"path":"a","path":1}`, "\ufeff{}", `1e999`,
	} {
		f.Add(seed)
	}
	s := mustSet(f, fake{"t", plainSchema})
	f.Fuzz(func(t *testing.T, raw string) {
		args, problem := s.Check("t", raw)
		if (args == nil) == (problem == nil) {
			t.Fatalf("both or neither: %q, %v", args, problem)
		}
		if problem != nil {
			if problem.Text == "" || !utf8.ValidString(problem.Text) || len(problem.Text) > 3*maxProblem {
				t.Fatalf("problem is %q", problem.Text)
			}
			return
		}
		var v struct {
			Path *string `json:"path"`
			N    count   `json:"n"`
		}
		if err := json.Unmarshal(args, &v); err != nil || v.Path == nil {
			t.Fatalf("accepted %q, which does not decode: %v", args, err)
		}
		if string(args) != strings.TrimSpace(raw) {
			t.Fatalf("%q was changed to %q", raw, args)
		}
	})
}
