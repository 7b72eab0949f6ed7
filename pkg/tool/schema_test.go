package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kagent/pkg/message"
)

// strange is a tool whose schema comes from elsewhere.
type strange struct{ schema string }

func (s strange) Spec() message.ToolSpec {
	return message.ToolSpec{Name: "strange", Schema: json.RawMessage(s.schema)}
}
func (strange) Traits() Traits                   { return Traits{} }
func (strange) Run(context.Context, Call) Result { return Success("") }

func checkStrange(t *testing.T, schema, args string) *Problem {
	t.Helper()
	set, err := NewSet(strange{schema})
	if err != nil {
		t.Fatal(err)
	}
	_, problem := set.Check("strange", args)
	return problem
}

// twice is a chain of n definitions that each name the next one twice.
func twice(n int, in string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"anyOf":[%s,%s]},`, i, fmt.Sprintf(in, i+1), fmt.Sprintf(in, i+1))
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}}}`, n)
	return b.String()
}

// A reference that comes back would end the process, and one that multiplies
// would never end, once a call is judged.
func TestHostileSchemasAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"itself":            {`{"$ref":"#"}`, "refers to itself without end"},
		"itself beside":     {`{"type":"object","allOf":[{"$ref":"#"}]}`, "refers to itself without end"},
		"in a circle":       {`{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"if":{"$ref":"#/$defs/a"}}}}`, "refers to itself without end"},
		"one level down":    {`{"properties":{"x":{"$ref":"#/properties/x"}}}`, "refers to itself without end"},
		"when a name is in": {`{"dependentSchemas":{"a/b":{"$ref":"#/dependentSchemas/a~1b"}}}`, "refers to itself without end"},
		"by multiplying":    {twice(60, `{"$ref":"#/$defs/d%d"}`), "multiply"},
		"one level each":    {twice(60, `{"properties":{"x":{"$ref":"#/$defs/d%d"}}}`), "multiply"},
		"too deep":          {strings.Repeat(`{"not":`, 5000) + `true` + strings.Repeat("}", 5000), "200 levels"},
		"dynamic":           {`{"$dynamicRef":"#x","$dynamicAnchor":"x"}`, "not supported"},
		"an anchor":         {`{"$ref":"#x","$defs":{"x":{"$anchor":"x"}}}`, "names no place"},
		"nowhere":           {`{"$ref":"#/$defs/none"}`, "names no place"},
		"elsewhere":         {`{"$ref":"https://example.com/s.json"}`, "names no place"},
		"too long":          {`{"title":"` + strings.Repeat("x", maxSchema) + `"}`, "bytes"},
	} {
		problem := checkStrange(t, c.schema, `{"a/b":{"x":1}}`)
		if problem == nil || !strings.Contains(problem.Text, c.want) || !strings.Contains(problem.Text, "strange can't be called") {
			t.Errorf("%s: %+v, want %q", name, problem, c.want)
		}
	}
}

func nest(n int, open, inner, end string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

func TestRecursiveSchemasWork(t *testing.T) {
	tree := `{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#"}}},"additionalProperties":false}`
	either := `{"type":"object","anyOf":[{"properties":{"and":{"$ref":"#"}}},{"properties":{"and":{"$ref":"#"}}}]}`
	for _, c := range []struct {
		name, schema, args string
		want               string // "": no problem
	}{
		{"a tree", tree, nest(40, `{"name":"好","children":[`, `{"name":"🙂"}`, `]}`), ""},
		{"a wrong leaf", tree, nest(40, `{"children":[`, `{"name":1}`, `]}`), "name"},
		{"deep arguments", tree, nest(101, `{"children":[`, `{}`, `]}`), "nested too deeply, 203 levels"},
		{"braces in a text", tree, `{"name":"` + strings.Repeat(`[{\"`, 300) + `"}`, ""},
		{"shared definitions", `{"properties":{"a":{"$ref":"#/$defs/s"},"b":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}}`, `{"a":"x","b":2}`, "b"},
		{"either of two, flat", either, nest(5, `{"and":`, `{}`, `}`), ""},
		{"either of two, deep", either, nest(60, `{"and":`, `1`, `}`), "nested too deeply, 60 levels"},
	} {
		problem := checkStrange(t, c.schema, c.args)
		if (problem != nil) != (c.want != "") || problem != nil && !strings.Contains(problem.Text, c.want) {
			t.Errorf("%s: %+v, want %q", c.name, problem, c.want)
		}
	}
}
