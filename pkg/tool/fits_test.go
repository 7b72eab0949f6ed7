package tool_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"kagent/pkg/tool"
)

// libraryWords are those of Go and of the validator.
func libraryWords() *regexp.Regexp {
	return regexp.MustCompile(`map\[|anonymous|file:|jsonschema|unmarshal|Go |validating|%!`)
}

// What is wrong with a schema is found before anything is paid for.
func TestASchemaThatIsNoneIsRefusedWithItsPlace(t *testing.T) {
	for schema, says := range map[string]string{
		`true`:                                  "a schema is an object, not true",
		`false`:                                 "not false",
		`[]`:                                    "not a list",
		`"x"`:                                   "not a text",
		`7`:                                     "not a number",
		`null`:                                  "not null",
		`{"type":"objekt"}`:                     `/type: "objekt" is no type`,
		`{"type":[]}`:                           "/type: ",
		`{"type":["text"]}`:                     `/type: "text" is no type`,
		`{"type":{"a":1}}`:                      `/type: {"a":1} is no type`,
		`{"properties":[]}`:                     "/properties: an object of schemas belongs there, not []",
		`{"properties":{"a/b":{"type":"str"}}}`: `/properties/a~1b/type: "str" is no type`,
		`{"properties":{"名":{"items":{"enum":[]}}}}`: "/properties/名/items/enum: a list of values",
		`{"items":7}`:                           "/items: 7 is no schema",
		`{"anyOf":[]}`:                          "/anyOf: a list of schemas",
		`{"anyOf":[{},{"type":1}]}`:             "/anyOf/1/type: 1 is no type",
		`{"$ref":"#/$defs/nowhere"}`:            `/$ref: "#/$defs/nowhere" names no place`,
		`{"$ref":"https://example.org/s.json"}`: "other documents are not fetched",
		`{"$ref":"other.json#/a"}`:              "other documents are not fetched",
		`{"$ref":7}`:                            "/$ref: text belongs there",
		`{"$schema":"http://json-schema.org/draft-04/schema#"}`: "write it for draft 2020-12 or draft-07",
		`{"$schema":7}`:                         "/$schema: 7 is not supported",
		`{"required":true}`:                     "/required: a list of names belongs there, not true", // draft-03
		`{"minimum":1,"exclusiveMinimum":true}`: "/exclusiveMinimum: a number belongs there",          // draft-04
		`{"minimum":"1"}`:                       "/minimum: a number",
		`{"minLength":-1}`:                      "/minLength: a whole number",
		`{"maxItems":1.5}`:                      "/maxItems: a whole number",
		`{"pattern":"(x"}`:                      "/pattern: \"(x\" is no regular expression",
		`{"patternProperties":{"[":{}}}`:        "/patternProperties/[: ",
		`{"uniqueItems":"yes"}`:                 "/uniqueItems: true or false",
		`{"multipleOf":0}`:                      "/multipleOf: ",
		`{"$defs":{"a":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`: "refers to itself",
		`{"$dynamicRef":"#a"}`:          "$dynamicRef is not supported",
		`{"oneOf":{"type":"string"}}`:   "/oneOf: a list of schemas",
		`{"additionalProperties":"no"}`: `/additionalProperties: "no" is no schema`,
	} {
		_, err := tool.NewSchema(json.RawMessage(schema))
		if err == nil || !strings.Contains(err.Error(), says) || libraryWords().MatchString(err.Error()) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %s", schema, err, says)
		}
	}
	for _, schema := range []string{
		`{}`, `{"type":["string","null"],"$schema":"https://json-schema.org/draft/2020-12/schema"}`,
		`{"$schema":"http://json-schema.org/draft-07/schema","items":[{"type":"string"}],"additionalItems":false}`,
		`{"$schema":"https://json-schema.org/draft-07/schema#","definitions":{"a":{}},"properties":{"a":{"$ref":"#/definitions/a"},"b":true}}`,
		`{"properties":{"next":{"$ref":"#"}},"x-own":{"type":"objekt"},"format":"anything","enum":[1]}`,
	} {
		s, err := tool.NewSchema(json.RawMessage(schema))
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		if p := s.Problem(json.RawMessage(`7`)); libraryWords().MatchString(p) {
			t.Errorf("%s: %s", schema, p)
		}
	}
}

// The words are for a model and for whoever reads why a run has failed.
func TestWhatDoesNotFitIsSaidInPlainWords(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"type":"string"}`, `{"n":4}`, `{"n":4} is an object where the schema wants "string"`},
		{`{"type":["string","null"]}`, `4`, `4 is a number where the schema wants "string" or "null"`},
		{`{"properties":{"n":{"type":"string"}}}`, `{"n":{"n":4}}`, `at /n: {"n":4} is an object where the schema wants "string"`},
		{`{"properties":{"a":{"items":{"type":"integer"}}}}`, `{"a":[1,2.5]}`, `at /a/1: 2.5 is a number where the schema wants "integer"`},
		{`{"required":["名","b"]}`, `{}`, `"名" is missing, "b" is missing`},
		{`{"additionalProperties":false,"properties":{"a":{}}}`, `{"b":1}`, `"b" is not known`},
		{`{"items":{"required":["a"]}}`, `[{"a":1},{}]`, `at /1: "a" is missing`},
		{`{"enum":["x","y"]}`, `"z"`, `"z" is none of "x", "y"`},
		{`{"const":{"a":1}}`, `{"a":2}`, `{"a":2} is not {"a":1}`},
		{`{"minimum":3}`, `2`, `2 is less than 3`},
		{`{"exclusiveMaximum":3}`, `3`, `3 is not less than 3`},
		{`{"multipleOf":2}`, `3`, `3 is no multiple of 2`},
		{`{"minLength":2}`, `"名"`, `it has 1 characters, at least 2 are wanted`},
		{`{"maxItems":1}`, `[1,2]`, `it has 2 items, at most 1 are allowed`},
		{`{"pattern":"^a$"}`, `"b"`, `"b" does not match the pattern "^a$"`},
		{`{"anyOf":[{"type":"string"},{"required":["a"]}]}`, `{}`, `{} fits none of the 2 alternatives ({} is an object where the schema wants "string"; "a" is missing)`},
		{`{"oneOf":[{},{"type":"object"}]}`, `{}`, `{} has to fit exactly one of the 2 alternatives and fits 2 (those numbered 1, 2)`},
		{`{"not":{"type":"object"}}`, `{}`, `{} is what must not stand there: it fits {"type":"object"}`},
		{`{"$defs":{"n":{"type":"string"}},"items":{"$ref":"#/$defs/n"}}`, `[1]`, `at /0: 1 is a number where the schema wants "string"`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `"a" is not known`},
		{`{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}`, `["a","b"]`, `at /1: "b" is a text where the schema wants "number"`},
		{`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1,{"b":[2]},{"b":[2.0]}]}`, `at /a: the items are not all different: those at /1 and /2 are both {"b":[2.0]}`},
		{`{"contains":{"const":7}}`, `[1,2]`, `0 of the 2 items fit {"const":7}, at least 1 have to`},
		{`{"contains":{"const":7},"minContains":2}`, `[1,7]`, `1 of the 2 items fit {"const":7}, at least 2 have to`},
		{`{"contains":{"const":7},"maxContains":1}`, `[7,7]`, `2 of the 2 items fit {"const":7}, at most 1 may`},
		{`{"if":{"type":"object"},"then":{"required":["a"]}}`, `{}`, `"a" is missing (it has to be so where the condition {"type":"object"} holds)`},
		{`{"if":{"type":"string"},"else":{"minimum":3}}`, `2`, `2 is less than 3 (it has to be so where the condition {"type":"string"} does not hold)`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `where "a" is there, "b" has to be too`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":1}`, `where "a" is there, "b" has to be too`},
		{`{"properties":{"x":{"dependentSchemas":{"a":{"properties":{"b":{"type":"string"}}}}}}}`, `{"x":{"a":1,"b":2}}`, `at /x/b: 2 is a number where the schema wants "string" (it has to be so where "a" is there)`},
		{`{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"a":1,"B":2}`, `"B" is no name that it may have: "B" does not match the pattern "^[a-z]+$"`},
		{`{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`, `"b" is not known`},
		{`{"properties":{"a":{}},"unevaluatedProperties":{"type":"string"}}`, `{"a":1,"b":2}`, `at /b: 2 is a number where the schema wants "string"`},
		{`{"prefixItems":[{}],"unevaluatedItems":false}`, `[1,2]`, `there may be no item at /1`},
		{`{"not":{"required":["a"]}}`, `{"a":1}`, `{"a":1} is what must not stand there: it fits {"required":["a"]}`},
	} {
		s, err := tool.NewSchema(json.RawMessage(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		if got := s.Problem(json.RawMessage(c.value)); got != c.want {
			t.Errorf("%s, %s: %s; want %s", c.schema, c.value, got, c.want)
		}
	}
}

// Prices and large identities are what they are written as, and not what a float64
// makes of them.
func TestNumbersAreExact(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"multipleOf":0.01}`, `19.99`, ``},
		{`{"multipleOf":0.1}`, `0.7`, ``},
		{`{"multipleOf":0.01}`, `19.995`, `19.995 is no multiple of 0.01`},
		{`{"const":9007199254740993}`, `9007199254740992`, `9007199254740992 is not 9007199254740993`},
		{`{"enum":[9007199254740993]}`, `9007199254740993`, ``},
		{`{"maximum":9223372036854775807}`, `9223372036854775808`, `9223372036854775808 is more than 9223372036854775807`},
		{`{"maximum":9223372036854775807}`, `9223372036854775807`, ``},
		{`{"uniqueItems":true}`, `[9007199254740993,9007199254740992]`, ``},
		{`{"const":1}`, `1.0`, ``},
		{`{"multipleOf":3}`, `1152921504606846976`, `1152921504606846976 is no multiple of 3`},
		{`{"const":{"a":[1,null]}}`, `{"a":[1.0,null]}`, ``},
		{`{"const":[1]}`, `["number","1"]`, `["number","1"] is not [1]`},
		{`{"type":"integer"}`, `1e400`, ``},
		{`{"type":"object","required":["b"]}`, `{"a":1e400}`, `"b" is missing`},
		{`{"anyOf":[{"multipleOf":0.01},{"type":"string"}]}`, `[19.99]`, ``},
		{`{"properties":{"p":{"multipleOf":0.01}}}`, `{"p":[1e999999999]}`, `at /p/0: the number 1e999999999 has more digits than can be reckoned with (1000)`},
		{`{}`, `-1E-99999999999999999999`, `the number -1E-99999999999999999999 has more digits than can be reckoned with (1000)`},
	} {
		s, err := tool.NewSchema(json.RawMessage(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		if got := s.Problem(json.RawMessage(c.value)); got != c.want {
			t.Errorf("%s, %s: %q; want %q", c.schema, c.value, got, c.want)
		}
	}
	for _, schema := range []string{`{"maximum":1e400}`, `{"const":1e999999999}`, `{"minimum":1e-5000}`} {
		if _, err := tool.NewSchema(json.RawMessage(schema)); err == nil || libraryWords().MatchString(err.Error()) {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

// A schema and an answer that multiply end, and soon.
func TestAnAnswerThatTakesTooLongIsLeft(t *testing.T) {
	list := "[" + strings.Repeat("0.01,", 50_000) + "1e1000]"
	for _, schema := range []string{
		`{"items":{"multipleOf":0.01}}`,
		`{"items":{"anyOf":[{"const":0.3},{"maximum":1e300},{}]}}`,
		`{"$defs":{"a":{"unevaluatedItems":{"multipleOf":0.01},"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},"b":{"unevaluatedItems":false,"oneOf":[{"items":{"multipleOf":0.01}},{"contains":{"minimum":1e300}}]}},"$ref":"#/$defs/a"}`,
	} {
		s, err := tool.NewSchema(json.RawMessage(schema))
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		if got := s.Problem(json.RawMessage(list)); len(got) > 3000 || libraryWords().MatchString(got) {
			t.Errorf("%s: %s", schema, got)
		}
	}
}
