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
	"strings"
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

// drop takes them out of a schema and of what is below it, but not out of values.
func drop(v any, at string, left *[]string) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			drop(e, at+"/"+strconv.Itoa(i), left)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
			switch text, ok := v[key].(string); {
			case key == "const", key == "enum", key == "default", key == "examples":
			case key == "pattern" && ok && beyondRE2(text):
				delete(v, key)
				*left = append(*left, below)
			default:
				drop(v[key], below, left)
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
