package cmd

import (
	"slices"
	"testing"
)

func TestAMisspeltNameIsAnsweredWithTheNearest(t *testing.T) {
	names := []string{"list", "max-steps", "model", "rm", "run", "show", "status", "version"}
	for wrong, want := range map[string][]string{
		"modle": {"model"}, "max-step": {"max-steps"}, "sttus": {"status"}, "rum": {"rm", "run"}, "lst": {"list"},
		"max": {"max-steps"}, "shwo": {"show"}, "versoin": {"version"}, "nonsense": nil, "x": nil, "修复": nil, "": nil,
		"max_steps": {"max-steps"},
	} {
		if got := nearest(wrong, names); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", wrong, got, want)
		}
	}
}
