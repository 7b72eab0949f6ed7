package tool

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"kagent/pkg/message"
)

// Problem says why a call can't run. It is an observation for the model.
type Problem struct {
	Text    string // valid UTF-8, at most about 4 KiB: what is wrong, where, what is expected
	Unknown bool   // there is no tool of that name
}

// maxProblem bounds each half of a problem's text, in bytes. A validator
// quotes the value it refuses, which may be a whole file.
const maxProblem = 2000

// Check returns the arguments of a call to the tool of that name, ready for
// Call.Args, or the problem that keeps it from running; exactly one of both is
// not nil. rawArgs is what the model wrote: it must be one JSON object, valid
// against the tool's schema; nothing at all, or white space, counts as {}.
func (s *Set) Check(name, rawArgs string) (json.RawMessage, *Problem) {
	e := s.byName[name]
	if e == nil {
		return nil, s.unknown(name)
	}
	c, err := e.compile()
	if err != nil {
		return nil, &Problem{Text: clip(fmt.Sprintf("%s can't be called: %v", name, err), maxProblem)}
	}
	args := strings.TrimSpace(rawArgs)
	if args == "" {
		args = "{}"
	}
	object, wrong := parseObject(args)
	if depth := message.Nesting([]byte(args)); wrong == "" && (depth > maxNested || !c.spread.bears(depth)) {
		wrong = fmt.Sprintf("they are nested too deeply, %d levels", depth)
	}
	if wrong == "" {
		wrong = c.validate(object)
	}
	if wrong != "" {
		text := fmt.Sprintf("invalid arguments for %s: %s\n%s", name,
			clip(wrong, maxProblem), clip(expectation(name, c.schema), maxProblem))
		return nil, &Problem{Text: message.Clean(text)}
	}
	return json.RawMessage(args), nil
}

func (s *Set) unknown(name string) *Problem {
	text := fmt.Sprintf("there is no tool named %q; ", clip(message.Clean(name), 80))
	if len(s.entries) == 0 {
		text += "there are no tools at all"
	} else {
		text += "the tools are: " + clip(strings.Join(s.Names(), ", "), maxProblem)
	}
	return &Problem{Text: text, Unknown: true}
}

// parseObject decodes args, or says what keeps it from being one JSON object.
func parseObject(args string) (map[string]any, string) {
	if !utf8.ValidString(args) {
		return nil, "they are not valid UTF-8"
	}
	var value any
	if err := json.Unmarshal([]byte(args), &value); err != nil {
		return nil, describeJSON(args, err)
	}
	kind := ""
	switch v := value.(type) {
	case map[string]any:
		return v, ""
	case nil:
		kind = "null"
	case []any:
		kind = "an array"
	case string:
		kind = "a string"
	case bool:
		kind = "a boolean"
	default:
		kind = "a number"
	}
	return nil, "they must be one JSON object, not " + kind
}

// describeJSON says where args stop being JSON, with the text around it.
func describeJSON(args string, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Sprintf("they hold the number %s, which is too large", tooLarge(err))
	}
	if strings.HasPrefix(err.Error(), "unexpected end") {
		return "they are not valid JSON: they end too early, as if they had been cut off"
	}
	at := min(max(int(syntax.Offset)-1, 0), len(args))
	near := strings.ToValidUTF8(args[max(at-30, 0):min(at+30, len(args))], "")
	if strings.HasSuffix(err.Error(), "after top-level value") {
		return fmt.Sprintf("more text follows the JSON object, at byte %d, near %q; give exactly one object", at, near)
	}
	return fmt.Sprintf("they are not valid JSON: %v at byte %d, near %q", err, at, near)
}

// validate returns what is wrong with object, or "". Missing and unknown names
// come first and all together, so that one more try can mend them all; the
// validator reports a single error.
func (c *compiled) validate(object map[string]any) string {
	if wrong := misnamed(c.schema, object); wrong != "" {
		return wrong
	}
	err := c.resolved.Validate(object)
	if err == nil {
		return ""
	}
	if wrong := misnamedBelow(c.schema, object, ""); wrong != "" {
		return wrong
	}
	return readable(err)
}

// misnamed lists the names that an object lacks and those that its schema does
// not know.
func misnamed(s *jsonschema.Schema, object map[string]any) string {
	var wrong []string
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			wrong = append(wrong, fmt.Sprintf("%q is missing", name))
		}
	}
	if closed(s) {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if s.Properties[name] == nil {
				wrong = append(wrong, fmt.Sprintf("%q is not known", clip(name, 80)))
			}
		}
	}
	return strings.Join(wrong, ", ")
}

// misnamedBelow is misnamed for the first value inside of v where a name is
// wrong, with its place and what it takes.
func misnamedBelow(s *jsonschema.Schema, v any, at string) string {
	if s == nil {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		if wrong := misnamed(s, v); wrong != "" {
			return fmt.Sprintf("at %s: %s; it takes %s", at, wrong, cmp.Or(named(s), "no names"))
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if wrong := misnamedBelow(s.Properties[name], v[name], strings.TrimPrefix(at+"."+name, ".")); wrong != "" {
				return wrong
			}
		}
	case []any:
		for i, item := range v {
			if wrong := misnamedBelow(s.Items, item, fmt.Sprintf("%s[%d]", at, i)); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

// closed reports whether the schema allows its named properties only.
func closed(s *jsonschema.Schema) bool {
	return s.AdditionalProperties != nil && len(s.PatternProperties) == 0 &&
		reflect.DeepEqual(s.AdditionalProperties, &jsonschema.Schema{Not: &jsonschema.Schema{}})
}

// readable drops the trail of schemas above the one that failed.
func readable(err error) string {
	text := err.Error()
	for {
		_, rest, ok := strings.Cut(text, ": ")
		if !ok || !strings.HasPrefix(text, "validating ") || !strings.HasPrefix(rest, "validating ") {
			break
		}
		text = rest
	}
	text = strings.TrimPrefix(text, "validating root: ")
	if rest, ok := strings.CutPrefix(text, "validating "); ok {
		text = "at " + rest
	}
	return text
}

// expectation says in one line what a tool takes, required names first.
func expectation(name string, s *jsonschema.Schema) string {
	if len(s.Properties) == 0 {
		return name + " takes no named arguments"
	}
	return name + " takes a JSON object with " + named(s)
}

// named lists the names that an object may have, those that it must have first.
func named(s *jsonschema.Schema) string {
	var parts []string
	for _, p := range s.Required {
		parts = append(parts, fmt.Sprintf("%q (%srequired)", p, typeOf(s.Properties[p])))
	}
	for _, p := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, p) {
			parts = append(parts, fmt.Sprintf("%q (%soptional)", p, typeOf(s.Properties[p])))
		}
	}
	return strings.Join(parts, ", ")
}

func typeOf(s *jsonschema.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Type != "":
		return s.Type + ", "
	case len(s.Types) > 0:
		return strings.Join(s.Types, " or ") + ", "
	}
	return ""
}
