package gemini

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"kagent/pkg/message"
)

// Tool schemas as they are written, what the service gets, and what is named
// as dropped.
func TestSchemasAreReshaped(t *testing.T) {
	object := func(properties string) string { return `{"properties":{` + properties + `},"type":"object"}` }
	for in, c := range map[string]struct {
		want string
		lost []string
	}{
		``:                  {``, nil},
		`{"type":"object"}`: {``, nil},
		`{"type":"object","properties":{},"additionalProperties":false}`: {``, nil},
		`true`: {``, nil},
		`{"$schema":"s","$id":"i","title":"T","type":"object","properties":{"a":{"type":"string","minLength":1,"pattern":"^a","default":"x","examples":["y"],"x-order":1}},"required":["a"],"additionalProperties":false}`: {
			`{"properties":{"a":{"default":"x","minLength":1,"pattern":"^a","type":"string"}},"required":["a"],"title":"T","type":"object"}`, nil,
		},
		// No type, one or null, several.
		object(`"a":{"type":["string","null"]},"b":{"type":["integer","boolean"],"description":"d"},"c":{},"d":true`): {
			object(`"a":{"nullable":true,"type":"string"},"b":{"anyOf":[{"type":"integer"},{"type":"boolean"}],"description":"d"},"c":{},"d":{}`), nil,
		},
		object(`"a":{"type":["array","string"],"items":{"type":"string"}}`): {object(`"a":{"anyOf":[{"items":{"type":"string"},"type":"array"},{"type":"string"}]}`), nil},
		// Arrays have items.
		object(`"a":{"type":"array"},"b":{"items":{"type":"array"}},"c":{"type":"array","items":[{"type":"string"}]},"d":{"type":"array","prefixItems":[{}]}`): {
			object(`"a":{"items":{},"type":"array"},"b":{"items":{"items":{},"type":"array"},"type":"array"},"c":{"items":{},"type":"array"},"d":{"items":{},"type":"array"}`),
			[]string{"c.items", "d.prefixItems"},
		},
		// Choices.
		object(`"a":{"enum":["x","y",null]},"b":{"const":"z"},"c":{"type":"integer","enum":[1,2],"description":"Level."},"d":{"const":true}`): {
			object(`"a":{"enum":["x","y"],"nullable":true,"type":"string"},"b":{"enum":["z"],"type":"string"},"c":{"description":"Level. One of: 1, 2.","type":"integer"},"d":{"description":"One of: true."}`),
			[]string{"c.enum", "d.enum"},
		},
		object(`"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"oneOf":[{"type":"string"},{"type":"integer"}]},"c":{"anyOf":[{"required":["x"]},{"type":"string"}]}`): {
			object(`"a":{"nullable":true,"type":"string"},"b":{"anyOf":[{"type":"string"},{"type":"integer"}]},"c":{}`),
			[]string{"c.required", "c.anyOf"},
		},
		// References, also in circles.
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"mine"},"b":{"allOf":[{"$ref":"#/$defs/A"},{"required":["n"]}]},"c":{"$ref":"http://elsewhere"}},"$defs":{"A":{"type":"object","description":"theirs","properties":{"n":{"$ref":"#/$defs/N~1~0"}}},"N/~":{"type":"integer","format":"int32"}}}`: {
			`{"properties":{"a":{"description":"mine","properties":{"n":{"format":"int32","type":"integer"}},"type":"object"},"b":{"description":"theirs","properties":{"n":{"format":"int32","type":"integer"}},"required":["n"],"type":"object"},"c":{}},"type":"object"}`,
			[]string{"c.$ref"},
		},
		`{"type":"object","properties":{"tree":{"$ref":"#/definitions/T"},"me":{"$ref":"#"}},"definitions":{"T":{"type":"object","properties":{"left":{"$ref":"#/definitions/T"},"v":{"type":"string"}}}}}`: {
			`{"properties":{"me":{"properties":{"me":{},"tree":{"properties":{"left":{},"v":{"type":"string"}},"type":"object"}},"type":"object"},"tree":{"properties":{"left":{},"v":{"type":"string"}},"type":"object"}},"type":"object"}`,
			[]string{"me.me.$ref", "me.tree.left.$ref", "tree.left.$ref"},
		},
		// What has no counterpart.
		object(`"a":{"type":"string","format":"uri"},"b":{"type":"array","uniqueItems":true,"items":{"type":"number","exclusiveMinimum":0,"format":"float"}},"c":{"type":"object","additionalProperties":{"type":"string"},"patternProperties":{}}`): {
			object(`"a":{"type":"string"},"b":{"items":{"format":"float","type":"number"},"type":"array"},"c":{"type":"object"}`),
			[]string{"a.format", "b[].exclusiveMinimum", "b.uniqueItems", "c.additionalProperties", "c.patternProperties"},
		},
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a","a","b"],"not":{},"minimum":"x"}`: {
			`{"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`, []string{"not", "required"},
		},
	} {
		got, lost := reshape(json.RawMessage(in))
		if string(got) != c.want || !reflect.DeepEqual(lost, c.lost) {
			t.Errorf("%s\nbecame %s\nwant   %s\nlost %q, want %q", in, got, c.want, lost, c.lost)
		}
	}
}

func TestDroppedNamesTheTool(t *testing.T) {
	got := Dropped([]message.ToolSpec{
		{Name: "ls", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","multipleOf":2}}}`)},
		{Name: "pwd"},
	})
	if want := []string{"ls: n.multipleOf"}; !reflect.DeepEqual(got, want) {
		t.Errorf("dropped %q, want %q", got, want)
	}
}

// References that double with each level don't fill the memory.
func TestReferencesDontBlowUp(t *testing.T) {
	var defs []string
	for i := range 40 {
		next := `"#/$defs/` + strings.Repeat("x", i+1) + `"`
		defs = append(defs, `"`+strings.Repeat("x", i)+`":{"type":"object","properties":{"a":{"$ref":`+next+`},"b":{"$ref":`+next+`}}}`)
	}
	got, lost := reshape(json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{` + strings.Join(defs, ",") + `}}`))
	if len(got) > 2<<20 || len(lost) == 0 {
		t.Errorf("%d bytes, %d lost", len(got), len(lost))
	}
}

// Whatever a schema is, what is sent of it is what the service can read.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"},"b":{"type":["array","null"]},"c":{"allOf":[{"$ref":"#/properties/a"}],"anyOf":[{"const":1}]}},"required":["a"]}`)
	f.Add(`{"properties":{"a":{"oneOf":[{"type":"null"},{"enum":["x"],"type":"array"}],"items":false}}}`)
	f.Fuzz(func(t *testing.T, in string) {
		got, _ := reshape(json.RawMessage(in))
		if again, _ := reshape(json.RawMessage(in)); string(again) != string(got) {
			t.Errorf("%s: once %s, then %s", in, got, again)
		}
		if got == nil {
			return
		}
		var s map[string]any
		if err := json.Unmarshal(got, &s); err != nil || s["type"] != "object" {
			t.Fatalf("%s became %s", in, got)
		}
		checkSchema(t, s)
	})
}

// checkSchema looks for what the service refuses.
func checkSchema(t *testing.T, s map[string]any) {
	for key, v := range s {
		switch key {
		case "type":
			if _, ok := v.(string); !ok {
				t.Errorf("type %v", v)
			}
		case "properties":
			for _, p := range v.(map[string]any) {
				checkSchema(t, p.(map[string]any))
			}
		case "items":
			checkSchema(t, v.(map[string]any))
		case "anyOf":
			for _, p := range v.([]any) {
				checkSchema(t, p.(map[string]any))
			}
		case "required":
			for _, name := range v.([]any) {
				if _, ok := s["properties"].(map[string]any)[name.(string)]; !ok {
					t.Errorf("%v is required but not there", name)
				}
			}
		case "title", "description", "pattern", "format", "nullable", "default", "enum",
			"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties":
		default:
			t.Errorf("keyword %s", key)
		}
	}
	if s["type"] == "array" && s["items"] == nil {
		t.Error("an array without items")
	}
}
