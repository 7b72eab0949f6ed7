package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxDigits bounds the numbers that are reckoned with: 1e999999999 is ten bytes,
// and would take all memory that there is.
const maxDigits = 1000

// exactly decodes JSON with its numbers as they are written.
func exactly(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return v, d.Decode(&v)
}

// bounded reports whether a number can be reckoned with.
func bounded(n json.Number) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	size, err := strconv.Atoi(exponent)
	return len(n) <= maxDigits && (exponent == "" || err == nil && max(size, -size) <= maxDigits)
}

// exact is a number that is bounded.
func exact(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// multiple reports whether v is a whole number of steps.
func multiple(v, step json.Number) bool {
	by := exact(step)
	return by.Sign() == 0 || new(big.Rat).Quo(exact(v), by).IsInt()
}

// wholeOf is a keyword's number of something; more than anything can have is as good
// as the most that can be told.
func wholeOf(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, _ := exact(n).Float64()
	return int(min(f, 1<<53)), true
}

// canonical is a value as a text that only equal ones have: 1.0 and 1 are.
func canonical(v any) string {
	raw, _ := json.Marshal(canonicalNumbers(v)) // was parsed
	return string(raw)
}

func canonicalNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return []any{"number", exact(v).RatString()}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = canonicalNumbers(item)
		}
		return []any{"list", out}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = canonicalNumbers(item)
		}
		return out
	}
	return v
}

// same reports whether two values are equal; 1.0 and 1 are.
func same(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || exact(a).Cmp(exact(b)) == 0)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	}
	return a == b
}

// unbounded finds a number that can't be reckoned with, and reports whether there
// is one that is not a float64 to the last digit.
func unbounded(v any, at string) (wrong string, inexact bool) {
	each := func(item any, at string) {
		if wrong != "" {
			return
		}
		below, odd := unbounded(item, at)
		wrong, inexact = below, inexact || odd
	}
	switch v := v.(type) {
	case json.Number:
		if !bounded(v) {
			return placed(at) + fmt.Sprintf("the number %s has more digits than can be reckoned with (%d)", shown(v), maxDigits), true
		}
		f, err := v.Float64()
		return "", err != nil || new(big.Rat).SetFloat64(f).Cmp(exact(v)) != 0
	case []any:
		for i, item := range v {
			each(item, itemAt(at, i))
		}
	case map[string]any:
		for name, item := range v {
			each(item, at+"/"+escapePointer(name))
		}
	}
	return wrong, inexact
}
