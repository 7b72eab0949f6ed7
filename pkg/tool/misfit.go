package tool

import (
	"fmt"
	"regexp"
	"strings"
)

// explainer holds a value against a schema and says in plain words why it does not
// fit. Its numbers are exact, those of the validator are not: where that matters,
// whether it fits is for the explainer to say, else for the validator.
type explainer struct {
	surveyor
	draft7   bool
	quiet    bool // nobody reads the words
	steps    int
	patterns map[string]*regexp.Regexp
}

// maxExplained bounds the work: a schema whose references multiply may be judged
// by the validator alone.
const maxExplained = 1_000_000

func (x *explainer) spent() bool { return x.steps > maxExplained }

// lazy is a value that is written out only where somebody reads it.
type lazy struct{ v any }

func (l lazy) String() string { return shown(l.v) }

// say words what is wrong at a place.
func (x *explainer) say(at, format string, args ...any) string {
	if x.quiet {
		return "it does not fit"
	}
	return placed(at) + fmt.Sprintf(format, args...)
}

func placed(at string) string {
	if at == "" {
		return ""
	}
	return "at " + clip(at, 200) + ": "
}

// fits reports whether a value fits, without a word.
func (x *explainer) fits(schema, v any) bool {
	before := x.quiet
	x.quiet = true
	defer func() { x.quiet = before }()
	return x.wrong(schema, v, "") == ""
}

// wrong returns the first thing that is wrong with v, and where: "" if it fits.
func (x *explainer) wrong(schema, v any, at string) string {
	if x.steps++; x.spent() {
		return ""
	}
	if schema == false {
		return x.say(at, "nothing may stand there")
	}
	s, ok := schema.(map[string]any)
	if !ok {
		return ""
	}
	if ref, ok := s["$ref"].(string); ok {
		target, _ := x.find(ref)
		if wrong := x.wrong(target, v, at); wrong != "" || x.draft7 {
			return wrong
		}
	}
	for _, look := range []func(map[string]any, any, string) string{x.plainly, x.choices, x.condition, x.object, x.list} {
		if wrong := look(s, v, at); wrong != "" {
			return wrong
		}
	}
	return ""
}

// choices looks at the schemas that v as a whole is held against.
func (x *explainer) choices(s map[string]any, v any, at string) string {
	for _, each := range listAt(s, "allOf") {
		if wrong := x.wrong(each, v, at); wrong != "" {
			return wrong
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if wrong := x.alternatives(key, listAt(s, key), v, at); wrong != "" {
			return wrong
		}
	}
	if not, ok := s["not"]; ok && x.fits(not, v) && !x.spent() {
		return x.say(at, "%s is what must not stand there: it fits %s", lazy{v}, lazy{not})
	}
	return ""
}

func (x *explainer) alternatives(key string, list []any, v any, at string) string {
	var reasons, fit []string
	for i, each := range list {
		if wrong := x.wrong(each, v, at); wrong != "" {
			reasons = append(reasons, strings.TrimPrefix(wrong, placed(at)))
		} else {
			fit = append(fit, fmt.Sprint(i+1))
		}
	}
	switch {
	case len(list) > 0 && len(fit) == 0:
		return x.say(at, "%s fits none of the %d alternatives (%s)", lazy{v}, len(list), clip(strings.Join(reasons, "; "), 600))
	case key == "oneOf" && len(fit) > 1:
		return x.say(at, "%s has to fit exactly one of the %d alternatives and fits %d (those numbered %s)", lazy{v}, len(list), len(fit), clip(strings.Join(fit, ", "), 60))
	}
	return ""
}

// condition looks at if, then and else.
func (x *explainer) condition(s map[string]any, v any, at string) string {
	test, ok := s["if"]
	if !ok {
		return ""
	}
	branch, holds := s["then"], "holds"
	if !x.fits(test, v) {
		branch, holds = s["else"], "does not hold"
	}
	if wrong := x.wrong(branch, v, at); wrong != "" {
		return wrong + fmt.Sprintf(" (it has to be so where the condition %s %s)", lazy{test}, holds)
	}
	return ""
}

func listAt(s map[string]any, key string) []any {
	list, _ := s[key].([]any)
	return list
}

// matches reports whether a text matches a pattern, which was looked at before.
func (x *explainer) matches(pattern, text string) bool {
	re, ok := x.patterns[pattern]
	if !ok {
		re = regexp.MustCompile(pattern)
		x.patterns[pattern] = re
	}
	return re.MatchString(text)
}
