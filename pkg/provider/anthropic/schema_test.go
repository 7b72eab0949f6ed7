package anthropic

import (
	"encoding/json"
	"strings"
	"testing"
)

// F107: what other services take is reshaped, and what is lost is told.
func TestToolSchemasAreMadeAcceptable(t *testing.T) {
	for _, c := range []struct{ schema, want, lost string }{
		{`{"type": "object", "properties": {"z": {"type":"string","minLength":1}, "a": {}}}`, `{"type": "object", "properties": {"z": {"type":"string","minLength":1}, "a": {}}}`, ""},
		{``, `{"type":"object","properties":{}}`, ""},
		{`null`, `{"type":"object","properties":{}}`, ""},
		{`[]`, `{"type":"object","properties":{}}`, ""},
		{`{"properties":{"n":{"maximum":9223372036854775807}}}`, `{"properties":{"n":{"maximum":9223372036854775807}},"type":"object"}`, ""},
		{`{"type":["object","null"]}`, `{"type":"object"}`, ""},
		{
			`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"properties":{"b":{"type":"integer"},"a":{}},"required":["b"]}]}`,
			`{"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"type":"object"}`,
			`{"anyOf":[{"required":["a"]},{"properties":{"a":{},"b":{"type":"integer"}},"required":["b"]}]}`,
		},
		{`{"allOf":[{"properties":{"a":{}},"required":["a"]}],"required":["c"]}`, `{"properties":{"a":{}},"required":["c","a"],"type":"object"}`, `{"allOf":`},
		{`{"type":"object","oneOf":7}`, `{"type":"object"}`, ""},
		{
			`{"type":"object","properties":{"t":{"type":"array","items":[{"type":"string"},{"type":"any"}],"additionalItems":false}}}`,
			`{"properties":{"t":{"items":false,"prefixItems":[{"type":"string"},{}],"type":"array"}},"type":"object"}`, "",
		},
		{
			`{"type":"object","properties":{"n":{"minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}}}`,
			`{"properties":{"n":{"exclusiveMinimum":1,"maximum":9}},"type":"object"}`, "",
		},
		{`{"type":"object","properties":{"a":{"required":true,"type":null,"properties":[]}},"required":[1]}`, `{"properties":{"a":{}},"type":"object"}`, ""},
		{`{"type":"object","properties":{"a b":{},"c":{}},"required":["a b","c"]}`, `{"properties":{"c":{}},"required":["c"],"type":"object"}`, `"a b"`},
		{`{"type":"object","$defs":{"d":{"anyOf":[{"type":"none"}]}},"additionalProperties":{"type":["string","text"]}}`, `{"$defs":{"d":{"anyOf":[{}]}},"additionalProperties":{},"type":"object"}`, ""},
		{`{"type":"object","description":"x\ud800 ` + "\xff" + `"}`, `{"type":"object","description":"x\ufffd ` + "\uFFFD" + `"}`, ""},
	} {
		got, lost := inputSchema(json.RawMessage(c.schema))
		if string(got) != c.want || !strings.Contains(lost, c.lost) || c.lost == "" && lost != "" {
			t.Errorf("%s\nbecame %s\nwant   %s\nlost   %s", c.schema, got, c.want, lost)
		}
		if again, more := inputSchema(got); string(again) != string(got) || more != "" {
			t.Errorf("%s\nbecame %s", got, again)
		}
	}
}

// What the subset can't say is not asked for: "" here.
func TestAnswerSchemasAreNarrowed(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                       `{"additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`,
		`{"type":"object","properties":{"n":{"type":"integer","minimum":1,"description":"A number."}}}`: `{"additionalProperties":false,"properties":{"n":{"description":"A number.\n\nHas to fit: {\"minimum\":1}","type":"integer"}},"type":"object"}`,
		`{"type":"array","items":{"oneOf":[{"const":1},{"type":"null"}]},"minItems":2}`:                 `{"description":"Has to fit: {\"minItems\":2}","items":{"anyOf":[{"const":1},{"type":"null"}]},"type":"array"}`,
		`{"type":"array","items":{"type":"string","format":"date"},"minItems":1,"$schema":"x"}`:         `{"items":{"format":"date","type":"string"},"minItems":1,"type":"array"}`,
		`{"type":"string","format":"color"}`:                                                            `{"description":"Has to fit: {\"format\":\"color\"}","type":"string"}`,
		`{"$ref":"#/definitions/d","definitions":{"d":{"enum":["x"]}}}`:                                 `{"$defs":{"d":{"enum":["x"]}},"$ref":"#/$defs/d"}`,
		`{"allOf":[{"type":"string"}]}`:                                                                 `{"allOf":[{"type":"string"}]}`,
		`{"type":"object"}`:                                                                             "",
		`{"type":"object","properties":{"a":{}}}`:                                                       "",
		`{"type":"object","properties":{"a":true}}`:                                                     "",
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{}}`:              "",
		`{"$ref":"#/$defs/d","$defs":{"d":{"type":"array","items":{"$ref":"#/$defs/d"}}}}`:              "",
		`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}}}`:  "",
		`{"$ref":"http://elsewhere"}`:                                                                   "",
		`{"anyOf":[]}`:                                                                                  "",
		`true`:                                                                                          "",
		`{`:                                                                                             "",
		`{"type":"object","properties":{` + strings.TrimSuffix(optional(25), ",") + `}}`:                "",
	} {
		got, ok := outputSchema(json.RawMessage(schema))
		if string(got) != want || ok != (want != "") {
			t.Errorf("%s\nbecame %s\nwant   %s", schema, got, want)
		}
	}
}

func optional(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"p` + strings.Repeat("x", i) + `":{"type":"string"},`)
	}
	return b.String()
}
