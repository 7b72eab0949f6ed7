package wire

import (
	"slices"
	"strings"
	"testing"
)

// A service that refuses what it has not signed takes a conversation in whose
// thoughts, calls and texts keys were masked: what is not sound any more is not sent.
func TestAStrictServiceTakesWhatKeysWereMaskedIn(t *testing.T) {
	const keys = "test-openai test-anthropic test-gemini"
	read := func(path string) map[string]any {
		return map[string]any{"name": "read_file", "args": map[string]any{"path": path}}
	}
	step := func(thought, text string, calls ...any) map[string]any {
		return map[string]any{"reasoning": thought, "text": text, "tool_calls": calls}
	}
	scenario := rules(map[string]any{"steps": []any{
		step("I was sent "+keys, "I look.", read("a"), read("b")),
		step("hm", "I look again.", read("c")),
		step("hm", "I have "+keys, read("d")),
		step("hm", "And again.", read(keys), read("e")),
		step("so", "Seen."),
	}})
	scenario["rules_on"] = slices.DeleteFunc(rulesOn(), func(rule string) bool {
		return rule == "reasoning_replay" || rule == "thinking_required" // what can't be kept
	})
	each(t, scenario, func(t *testing.T, s *server, p protocol) {
		for _, model := range []string{"m", "claude-sonnet-4-5", "claude-opus-4-6", "gemini-3-pro-preview", "gpt-5"} {
			for _, more := range [][]string{nil, {"--effort", "high"}} {
				dir := t.TempDir()
				for _, args := range [][]string{{"run", "-q", "-s", "s", "one"}, {"resume", "-q", "s", "two"}} {
					got := kagent(t, dir, slices.Concat(args, p.model(s, model), more)...)
					if got.code != 0 || !strings.HasSuffix(got.out, "Seen.\n") {
						t.Errorf("%s %q %q: exit %d: %s%s", model, more, args, got.code, got.out, got.stderr)
					}
				}
			}
		}
	})
}
