package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"kagent/pkg/message"
	"kagent/pkg/userfile"
)

// A schema may come from a stranger, and the validator follows it wherever it
// leads: a $ref that comes back to itself would end the process by a stack
// overflow, which nothing can catch, and a few dozen that each name another twice
// would take for ever. So what a schema asks for is counted before it is used.
const (
	maxSchema   = 1 << 20 // bytes
	maxNested   = 200     // levels of a schema, and of arguments
	maxSpread   = 100_000 // schemas, when each $ref is replaced by what it names
	maxRepeated = 1e8     // schemas that one value in recursive arguments may be held against
)

// compiled is a schema made ready.
type compiled struct {
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
	spread   spread
}

func compile(raw json.RawMessage) (*compiled, error) {
	s, err := survey(raw)
	if err != nil {
		return nil, fmt.Errorf("its schema can't be used: %w", err)
	}
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(raw, schema); err != nil {
		return nil, fmt.Errorf("its schema can't be read: %w", userfile.JSON(raw, err))
	}
	switch dialect := plainDialect(schema.Schema); dialect { // with or without TLS and #
	case "json-schema.org/draft-07/schema":
		schema.Schema = "http://" + dialect + "#"
	case "json-schema.org/draft/2020-12/schema":
		schema.Schema = "https://" + dialect
	}
	// Without a loader a reference to another document is an error: a tool's
	// schema has no business reaching out to a network.
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("its schema can't be used: %s", plainFault(err))
	}
	return &compiled{schema, resolved, s}, nil
}

// plainFault leaves out of an error what names packages, and not the schema.
func plainFault(err error) string {
	text := err.Error()
	for _, words := range []string{"jsonschema.Schema: ", "<anonymous schema>: ", "error parsing regexp: "} {
		text = strings.ReplaceAll(text, words, "")
	}
	return text
}

// spread is what becomes of a schema when each $ref is replaced by what it
// names, up to those that lead back to where they stand.
type spread struct {
	schemas int
	back    int // that lead back, to be replaced again for a deeper value
}

// bears reports whether arguments so deep can be held against the schema.
func (s spread) bears(depth int) bool {
	return s.back < 2 || float64(s.schemas)*math.Pow(float64(s.back), float64(depth)) <= maxRepeated
}

// survey counts a schema's spread, or says why there is no end to it.
func survey(raw json.RawMessage) (spread, error) {
	if len(raw) > maxSchema || message.Nesting(raw) > maxNested {
		return spread{}, fmt.Errorf("it has more than %d bytes or %d levels", maxSchema, maxNested)
	}
	w := surveyor{entered: map[string]int{}}
	if err := json.Unmarshal(raw, &w.root); err != nil {
		return spread{}, err
	}
	return w.spread, w.visit("#", w.root, 0)
}

type surveyor struct {
	spread
	root    any
	entered map[string]int // by pointer: the schemas above this one, with their level
}

// visit goes through a schema. The level is that of the value it is held
// against: one that comes back on the same level has no end.
func (w *surveyor) visit(at string, schema any, level int) error {
	object, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	if before, again := w.entered[at]; again {
		if before == level {
			return fmt.Errorf("%s refers to itself without end", clip(at, 200))
		}
		w.back++
		return nil
	}
	if w.schemas++; w.schemas > maxSpread {
		return errors.New("its references multiply beyond all bounds")
	}
	w.entered[at] = level
	defer delete(w.entered, at)
	if err := w.follow(object, level); err != nil {
		return err
	}
	for key, value := range object {
		h, inside := keywordHolds(key)
		next := level
		if inside {
			next++
		}
		var err error
		switch h {
		case someSchema:
			err = w.below(at+"/"+key, value, next)
		case namedSchemas:
			err = w.each(at+"/"+key, value, next)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below visits a schema, or each of a list.
func (w *surveyor) below(at string, value any, level int) error {
	list, ok := value.([]any)
	if !ok {
		return w.visit(at, value, level)
	}
	for i, schema := range list {
		if err := w.visit(fmt.Sprintf("%s/%d", at, i), schema, level); err != nil {
			return err
		}
	}
	return nil
}

// each visits the schemas of an object of them.
func (w *surveyor) each(at string, value any, level int) error {
	object, _ := value.(map[string]any)
	for name, schema := range object {
		if err := w.visit(at+"/"+escapePointer(name), schema, level); err != nil {
			return err
		}
	}
	return nil
}

// follow visits what a schema refers to, which must be in the same document and
// named by where it stands.
func (w *surveyor) follow(object map[string]any, level int) error {
	for _, key := range []string{"$dynamicRef", "$recursiveRef"} {
		if _, ok := object[key]; ok {
			return fmt.Errorf("%s is not supported", key)
		}
	}
	ref, ok := object["$ref"].(string)
	if !ok {
		return nil
	}
	target, ok := w.find(ref)
	if !ok {
		return fmt.Errorf("$ref %q names no place in it of the form #/…", clip(ref, 200))
	}
	return w.visit(ref, target, level)
}

// find returns what a pointer names.
func (w *surveyor) find(ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' || strings.Contains(path, "%") {
		return nil, false
	}
	here := w.root
	for i, name := range strings.Split(path, "/") {
		if i == 0 {
			continue
		}
		switch v := here.(type) {
		case map[string]any:
			here, ok = v[unescapePointer(name)]
		case []any:
			n, err := strconv.Atoi(name)
			if ok = err == nil && n >= 0 && n < len(v); ok {
				here = v[n]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return here, true
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func unescapePointer(name string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}
