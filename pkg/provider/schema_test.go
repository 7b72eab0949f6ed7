package provider

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestToolSchemasAreReshapedOnlyWhereTheyMustBe(t *testing.T) {
	for _, c := range []struct {
		in, want string
		lost     []string
	}{
		{``, `{"type":"object","properties":{}}`, nil},
		{`[1]`, `{"type":"object","properties":{}}`, []string{"everything: it is no JSON object"}},
		{`{"type":"object"`, `{"type":"object","properties":{}}`, []string{"everything: it is no JSON object"}},
		{`{"type":"object"}`, `{"type":"object","properties":{}}`, nil},
		{`{}`, `{"type":"object","properties":{}}`, nil},
		{`{"properties":{"z":{"type":"string"},"a":{}},"type":["object","null"]}`, `{"properties":{"z":{"type":"string"},"a":{}},"type":"object"}`, nil},
		{
			`{"type":"object","properties":{"a":{"type":"array"},"b":{"anyOf":[{"type":["array","null"]},{"type":"string"}]}},"anyOf":[{"required":["a"]}],"not":{}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{}},"b":{"anyOf":[{"type":["array","null"],"items":{}},{"type":"string"}]}}}`,
			[]string{"anyOf", "not"},
		},
		{
			`{"type":"object","properties":{"type":{"type":"string"},"anyOf":{"type":"array","items":{"type":"array"}}}}`,
			`{"type":"object","properties":{"type":{"type":"string"},"anyOf":{"type":"array","items":{"type":"array","items":{}}}}}`, nil,
		},
		{
			`{"type":"object","properties":{"a<b":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"array","prefixItems":[{"type":"array"}]}}}`,
			`{"type":"object","properties":{"a<b":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"array","prefixItems":[{"type":"array","items":{}}],"items":{}}}}`, nil,
		},
	} {
		got, lost := ToolSchema(json.RawMessage(c.in))
		if string(got) != c.want || !reflect.DeepEqual(lost, c.lost) {
			t.Errorf("%s became\n%s, lost %q; want\n%s, %q", c.in, got, lost, c.want, c.lost)
		}
		if again, _ := ToolSchema(got); string(again) != string(got) {
			t.Errorf("%s is reshaped again, to %s", got, again)
		}
	}
	// What needs no change keeps its very bytes.
	const plain = `{ "type": "object", "properties": { "b": {"type":"array","items":{"type":"string"}}, "a": {"enum":[1.10, null]} }, "allOfThem": 1e3 }`
	if got, lost := ToolSchema(json.RawMessage(plain)); string(got) != plain || lost != nil {
		t.Errorf("%s, %q", got, lost)
	}
}

func TestOutputSchemasAreStrictOnlyWhereThatMeansTheSame(t *testing.T) {
	const object = `{"type":"object","additionalProperties":false,`
	for _, c := range []struct{ in, want string }{ // want "": not strict; "-": not at all
		{``, "-"},
		{`true`, "-"},
		{`{}`, "-"},
		{`{"type":"array","items":{"type":"string"}}`, "-"},
		{`{"type":["object","null"]}`, "-"},
		{`{"$ref":"#/$defs/a"}`, "-"},
		{`{"type":"object"}`, ""},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, ""},
		{object + `"properties":{},"required":[]}`, object + `"properties":{},"required":[]}`},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, ""}, // optional, and no null
		{`{"type":"object","properties":{"a":{"type":["string","null"]}}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`},
		{`{"type":"object","properties":{"a":{"anyOf":[{"type":"number"},{"type":"null"}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"number"},{"type":"null"}]}},"required":["a"],"additionalProperties":false}`},
		{`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x"]}}}`, ""},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}`, ""},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":true}`, ""},
		{`{"$schema":"s","type":"object","properties":{"a":{"type":"string","default":"x"}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`},
		{`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{"type":"string","format":"uri"}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{"type":"string","format":7}},"required":["a"]}`, ""},
		{object + `"properties":{"a":{"type":"string","format":"date"}},"required":["a"]}`, object + `"properties":{"a":{"type":"string","format":"date"}},"required":["a"]}`},
		{`{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x)"}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":true},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{"type":"array"}},"required":["a"]}`, ""},
		{`{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"const":"z"}},"required":["a","b"]}`, `{"type":"object","properties":{"a":{"enum":["x","y"],"type":"string"},"b":{"const":"z","type":"string"}},"required":["a","b"],"additionalProperties":false}`},
		{`{"type":"object","properties":{"a":{"enum":["x",1]}},"required":["a"]}`, ""},
		{
			`{"type":"object","properties":{"l":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["l"],"$defs":{"n":{"type":"object","properties":{"n":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}}}}}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["l"],"$defs":{"n":{"type":"object","properties":{"n":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["n"],"additionalProperties":false}},"additionalProperties":false}`,
		},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/n","description":"d"}},"required":["a"],"$defs":{"n":{"type":"string"}}}`, ""},
		{`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"object"}},"required":["b"]}},"required":["a"]}`, ""},
	} {
		got, strict, ok := OutputSchema(json.RawMessage(c.in))
		want, wantOK := c.want, c.want != "-"
		switch want {
		case "":
			want = c.in
		case "-":
			want = ""
		}
		if string(got) != want || strict != (c.want != "" && wantOK) || ok != wantOK {
			t.Errorf("%s became\n%s, strict %v, ok %v; want\n%s", c.in, got, strict, ok, c.want)
		}
	}
}

// A schema may come from a server that nobody here wrote; the work grows with
// the square of its depth.
func TestSchemasAreMendedOnlySoDeep(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 4000) + `{"type":"array"}` + strings.Repeat(`}}`, 4000)
	got, lost := ToolSchema(json.RawMessage(deep))
	_, strict, _ := OutputSchema(json.RawMessage(deep))
	if string(got) != deep || lost != nil || strict {
		t.Errorf("%d bytes of %d, lost %q, strict %v", len(got), len(deep), lost, strict)
	}
}

func TestDeepSchemasAreNotStrict(t *testing.T) {
	deep := `{"type":"string"}`
	for range 10 {
		deep = `{"type":"object","properties":{"a":` + deep + `},"required":["a"]}`
	}
	if _, strict, ok := OutputSchema(json.RawMessage(deep)); strict || !ok {
		t.Errorf("strict %v, ok %v", strict, ok)
	}
}
