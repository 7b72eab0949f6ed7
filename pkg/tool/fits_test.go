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
		`{"pattern":"(?=x)"}`:                   "/pattern: \"(?=x)\" is no regular expression",
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
		{`{"oneOf":[{},{"type":"object"}]}`, `{}`, `{} fits more than one alternative, and only one may fit`},
		{`{"not":{"type":"object"}}`, `{}`, `{} is what must not stand there`},
		{`{"$defs":{"n":{"type":"string"}},"items":{"$ref":"#/$defs/n"}}`, `[1]`, `at /0: 1 is a number where the schema wants "string"`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `"a" is not known`},
		{`{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}`, `["a","b"]`, `at /1: "b" is a text where the schema wants "number"`},
		{`{"uniqueItems":true}`, `[1,1]`, `it does not fit`},
		{`{"if":{"type":"object"},"then":{"required":["a"]}}`, `{}`, `it does not fit`},
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
