package wire

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// each runs do for every protocol, side by side, with the server to itself
// where rules count their requests.
func each(t *testing.T, scenario map[string]any, do func(t *testing.T, s *server, p protocol)) {
	for _, p := range protocols() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, scenario)
			do(t, s, p)
			s.strict(t)
		})
	}
}

// answers runs a prompt, and then further ones in the same session, and checks
// each answer.
func answers(t *testing.T, s *server, p protocol, flags []string, said ...string) {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.txt"), "alpha\n")
	for i := 0; i < len(said); i += 2 {
		args := slices.Concat([]string{"resume", "s", "-q", said[i]})
		if i == 0 {
			args = slices.Concat([]string{"run", "-q", "-s", "s", said[i]}, p.model(s, "m"), flags)
		}
		if got := kagent(t, dir, args...); got.code != 0 || got.out != said[i+1] {
			t.Errorf("%q: exit %d, answer %.300q, want %.300q; %.1000s", said[i], got.code, got.out, said[i+1], got.stderr)
		}
	}
}

func TestScenariosOfTheStrictServer(t *testing.T) {
	huge := strings.Repeat("0123456789abcdef", 1<<19) + "\n"
	shell := []string{"--allow", "execute", "--tools", "shell"}
	for _, c := range []struct {
		name  string
		flags []string
		said  []string
	}{
		{"hello", nil, []string{"hi", "Hello from m.\n", "and again", "Hello from m.\n"}},
		{"react-loop", shell, []string{
			"look around", "Finished after 3 results; the last one was: step 2\n",
			"again", "Finished after 6 results; the last one was: step 5\n",
		}},
		{"parallel-tools", shell, []string{"do it", "Got 3 results, last: three\n", "again", "Got 6 results, last: three\n"}},
		{"flaky-network", []string{"--retry-max-wait", "20ms"}, []string{"hi", "Recovered.\n"}},
		{"rate-limited", []string{"--retry-max-wait", "5s"}, []string{"hi", "Thank you for waiting.\n"}},
		{"huge-answer", []string{"--tools", "none"}, []string{"in one line", huge}},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, builtIn(t, c.name), func(t *testing.T, s *server, p protocol) {
				answers(t, s, p, c.flags, c.said...)
			})
		})
	}
}

// deciding is a model that decides by the tools it is offered: it plans two
// steps, does and marks each, and finds the result good.
func deciding() map[string]any {
	call := func(name string, args map[string]any) map[string]any {
		return map[string]any{"tool_calls": []any{map[string]any{"name": name, "args": args}}, "reasoning": "let me see"}
	}
	offered := func(tool string, results int, reply map[string]any) map[string]any {
		return map[string]any{"when": map[string]any{"tools_offered": []string{tool}, "turn_tool_results": results}, "reply": reply}
	}
	return map[string]any{"rules_on": rulesOn(), "rules": []any{
		offered("set_route", 0, call("set_route", map[string]any{"complexity": "complex", "reason": "two parts"})),
		offered("set_plan", 0, call("set_plan", map[string]any{"steps": []string{"do part A", "do part B"}})),
		offered("give_verdict", 0, call("give_verdict", map[string]any{"ok": true, "feedback": ""})),
		offered("set_graph", 0, call("set_graph", map[string]any{"nodes": []any{
			map[string]any{"id": "a", "task": "do part A"}, map[string]any{"id": "b", "task": "do part B", "needs": []string{"a"}},
		}})),
		offered("mark_step", 0, call("shell", map[string]any{"command": "echo A"})),
		offered("mark_step", 1, call("mark_step", map[string]any{"step": 1})),
		offered("mark_step", 2, map[string]any{"tool_calls": []any{
			map[string]any{"name": "shell", "args": map[string]any{"command": "echo B"}},
			map[string]any{"name": "mark_step", "args": map[string]any{"step": 2}},
		}}),
		map[string]any{"when": map[string]any{"tools_offered": []string{"shell"}}, "tool_loop": map[string]any{
			"n": 1, "name": "shell", "args": map[string]any{"command": "echo part"}, "scope": "turn",
		}, "reply": map[string]any{"text": "All is done."}},
		map[string]any{"reply": map[string]any{"text": "All is done."}},
	}}
}

func TestAllAgentsWithTheStrictServer(t *testing.T) {
	for _, agent := range []string{"react", "plan-solve", "fusion", "orchestrator"} {
		t.Run(agent, func(t *testing.T) {
			each(t, deciding(), func(t *testing.T, s *server, p protocol) {
				answers(t, s, p, []string{"-a", agent, "--allow", "execute", "--tools", "shell"}, "do it", "All is done.\n")
			})
		})
	}
	// Plans in words are understood too; steps that nobody marks are not done.
	each(t, builtIn(t, "orchestrator"), func(t *testing.T, s *server, p protocol) {
		answers(t, s, p, []string{"-a", "orchestrator"}, "a text, please", "The text is written and reviewed.\n")
	})
	each(t, builtIn(t, "plan-solve"), func(t *testing.T, s *server, p protocol) {
		got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "-a", "plan-solve", "plan it"}, p.model(s, "m"))...)
		if got.code != 1 || !strings.Contains(got.stderr, "2 of the plan's 2 steps are not done") {
			t.Errorf("exit %d: %s", got.code, got.stderr)
		}
	})
}

// A chain goes on where a model is out of reach, and says which one answered.
func TestChainsWithTheStrictServer(t *testing.T) {
	each(t, builtIn(t, "model-panel"), func(t *testing.T, s *server, p protocol) {
		chain := fmt.Sprintf("%s/panel-c,%s/panel-b", p.as, p.as)
		got := kagent(t, t.TempDir(), "run", "-q", "-o", "json", "--retries", "0", "--model", chain, "--base-url", s.url+p.path, "why is the sky blue?")
		if got.code != 0 || !strings.Contains(got.out, `"answer":"ANSWER-B: the sky scatters blue light."`) || !strings.Contains(got.out, `"warnings":["`+p.as+`/panel-b was asked instead: `) {
			t.Errorf("exit %d: %s%s", got.code, got.out, got.stderr)
		}
	})
}

// What is too long is cut and sent once more, until it fits (F127, F129).
func TestAContextThatOverflowsIsMadeToFit(t *testing.T) {
	each(t, builtIn(t, "context-overflow"), func(t *testing.T, s *server, p protocol) {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "long.txt"), strings.Repeat("many words ", 500)) // a third of the window
		got := kagent(t, dir, slices.Concat([]string{"run", "-q", "-s", "s", "--tools", "none", "one"}, p.model(s, "m"))...)
		for i := 0; i < 4 && got.code == 0; i++ {
			prompt := strings.Repeat("many words ", 500) + fmt.Sprint("TASK-", i)
			got = kagent(t, dir, "resume", "s", "-q", prompt)
		}
		if got.code != 0 || got.out != "It fits.\n" {
			t.Errorf("exit %d, answer %q: %s", got.code, got.out, got.stderr)
		}
		refused := 0
		for _, r := range s.requests(t) {
			if r.Rule == "overflow" {
				refused++
			}
		}
		if refused == 0 || refused > 3 {
			t.Errorf("%d requests were too long", refused)
		}
	})
}
