package sse

import (
	"encoding/json"
	"testing"
)

func TestAnIndexIsAnyWholeNumber(t *testing.T) {
	for raw, want := range map[string]Integer{
		"0": {0, true}, "-1": {-1, true}, `"7"`: {7, true}, "0.0": {0, true}, "2.0": {2, true}, "-0.0": {0, true}, `"3.0"`: {3, true}, "1e1": {10, true}, "null": {},
	} {
		var i Integer
		if err := json.Unmarshal([]byte(raw), &i); err != nil || i != want {
			t.Errorf("%s: %+v, %v; want %+v", raw, i, err, want)
		}
	}
	for _, raw := range []string{"0.5", "1e99", `"x"`, `""`, "true", "{}", "[0]", `"NaN"`, `"Inf"`} {
		var i Integer
		if err := json.Unmarshal([]byte(raw), &i); err == nil {
			t.Errorf("%s is taken for %+v", raw, i)
		}
	}
}
