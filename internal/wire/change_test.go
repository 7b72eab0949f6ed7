package wire

import (
	"slices"
	"testing"
)

// A session goes on with any other model of any service, and back, whatever ids
// and signatures the first has given (F031, F035).
func TestASessionGoesOnWithAnyOtherModel(t *testing.T) {
	call := func(id, path string) map[string]any {
		return map[string]any{"id": id, "name": "read_file", "args": map[string]any{"path": path}}
	}
	scenario := rules(map[string]any{"steps": []any{
		map[string]any{"reasoning": "hm", "text": "I look.", "tool_calls": []any{call("call_x|fc_1", "a.txt"), call("call_x|fc_2", "b.txt")}},
		map[string]any{"reasoning": "so", "text": "Seen."},
	}})
	each(t, scenario, func(t *testing.T, s *server, p protocol) {
		for _, other := range protocols() {
			dir := t.TempDir()
			line := func(p protocol, name string, args ...string) []string { return slices.Concat(args, p.model(s, name)) }
			for _, args := range [][]string{
				line(p, "a", "run", "-q", "-s", "s", "one"), line(other, "b", "resume", "-q", "s", "two"), line(p, "a", "resume", "-q", "s", "three"),
			} {
				if got := kagent(t, dir, args...); got.code != 0 || got.out != "Seen.\n" {
					t.Errorf("%s: %q: exit %d: %s%s", other.name, args, got.code, got.out, got.stderr)
				}
			}
		}
	})
}
