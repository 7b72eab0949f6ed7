package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
)

// withoutPatterns returns a schema without the patterns that linear-time
// expressions don't have, look-around and back-references, and where these stood.
// Generators write them for addresses and decimals; a model can read what nobody
// here checks.
func withoutPatterns(raw json.RawMessage) (json.RawMessage, []string) {
	if !bytes.Contains(raw, []byte(`"pattern"`)) {
		return raw, nil
	}
	var root any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&root) != nil {
		return raw, nil // told elsewhere
	}
	var left []string
	drop(root, "", &left)
	if left == nil {
		return raw, nil
	}
	out, err := json.Marshal(root)
	if err != nil {
		return raw, nil
	}
	return out, left
}

// drop takes them out of a schema and of those below it.
func drop(schema any, at string, left *[]string) {
	object, _ := schema.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		below, value := at+"/"+escapePointer(key), object[key]
		switch h, _ := keywordHolds(key); h {
		case someSchema:
			list, _ := value.([]any)
			for i, one := range list {
				drop(one, below+"/"+strconv.Itoa(i), left)
			}
			drop(value, below, left)
		case namedSchemas, keptSchemas:
			named, _ := value.(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(named)) {
				drop(named[name], below+"/"+escapePointer(name), left)
			}
		case noSchema:
			if text, ok := value.(string); ok && key == "pattern" && beyondRE2(text) {
				delete(object, key)
				*left = append(*left, below)
			}
		}
	}
}

// beyondRE2 reports whether a pattern is one, but of a richer language.
func beyondRE2(pattern string) bool {
	_, err := regexp.Compile(pattern)
	var e *syntax.Error
	return errors.As(err, &e) && (e.Code == syntax.ErrInvalidPerlOp || e.Code == syntax.ErrInvalidEscape)
}
