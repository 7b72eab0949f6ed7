package cmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kagent/pkg/provider/providertest"
)

// A fakeAgent is a session against the strict fake server. Each rule is for one
// reply, which says its name, so that whoever reads the session's log knows
// which replies it has.
type fakeAgent struct {
	name   string
	rules  []fakeRule
	exit   int
	answer string
}

type fakeRule struct {
	name  string
	when  map[string]any
	calls []any
}

// decided is a reply that a tool is forced for.
func decided(name, tool string, args any, more ...string) fakeRule {
	when := map[string]any{"tools_offered": []string{tool}}
	if len(more) > 0 {
		when["any_contains"] = more
	}
	return fakeRule{name: name, when: when, calls: []any{map[string]any{"name": tool, "args": args}}}
}

// fakeTurn is the n-th reply of a conversation that holds some text, or is offered a
// tool.
func fakeTurn(name, tool, holds string, n int, calls ...any) fakeRule {
	when := map[string]any{"assistant_turns": n}
	if tool != "" {
		when["tools_offered"] = []string{tool}
	}
	if holds != "" {
		when["any_contains"] = holds
	}
	return fakeRule{name: name, when: when, calls: calls}
}

// effectOf is an effect, beside a look: a call in doubt must not make the step fail.
func effectOf(effect string) []any {
	return []any{
		map[string]any{"name": "shell", "args": map[string]any{"command": "echo " + effect + " >>effects"}},
		map[string]any{"name": "list_files", "args": map[string]any{"path": "."}},
	}
}

func callOf(name string, args map[string]any) any { return map[string]any{"name": name, "args": args} }

func markOf(n int) any { return callOf("mark_step", map[string]any{"step": n}) }

func failOf(code int) any {
	return callOf("shell", map[string]any{"command": fmt.Sprint("exit ", code)})
}

func fakeAgents() []fakeAgent {
	plan := func(name string, more ...string) fakeRule {
		return decided(name, "set_plan", map[string]any{"steps": []string{"first of " + name, "second of " + name}}, more...)
	}
	node := func(id string, needs ...string) map[string]any {
		return map[string]any{"id": id, "task": "TASK-" + id, "needs": append([]string{}, needs...)}
	}
	return []fakeAgent{
		{name: "react", answer: "<react-2>", rules: []fakeRule{
			fakeTurn("react-0", "", "", 0, effectOf("r0")...), fakeTurn("react-1", "", "", 1, effectOf("r1")...), fakeTurn("react-2", "", "", 2),
		}},
		{name: "plan-solve", answer: "<work-5>", rules: []fakeRule{
			plan("plan-2", "# Why another plan"), plan("plan-1"),
			fakeTurn("work-0", "mark_step", "", 0, append(effectOf("p0"), markOf(1))...),
			fakeTurn("work-1", "mark_step", "", 1, failOf(3)), fakeTurn("work-2", "mark_step", "", 2, failOf(4)),
			fakeTurn("work-3", "mark_step", "", 3, append(effectOf("p3"), markOf(2))...),
			fakeTurn("work-4", "mark_step", "", 4, append(effectOf("p4"), markOf(3))...),
			fakeTurn("work-5", "mark_step", "", 5),
		}},
		{name: "fusion", answer: "<work-2>", rules: []fakeRule{
			decided("route-1", "set_route", map[string]any{"complexity": "complex", "reason": "parts"}), plan("plan-1"),
			decided("verify-2", "give_verdict", map[string]any{"ok": true, "feedback": ""}, "<work-2>"),
			decided("verify-1", "give_verdict", map[string]any{"ok": false, "feedback": "once more"}, "<work-1>"),
			fakeTurn("work-0", "mark_step", "", 0, append(effectOf("f0"), markOf(2), markOf(1))...),
			fakeTurn("work-1", "mark_step", "", 1), fakeTurn("work-2", "mark_step", "", 2),
		}},
		{name: "orchestrator", answer: "<join-2>", rules: []fakeRule{
			decided("split-1", "set_graph", map[string]any{"nodes": []any{node("a"), node("b"), node("c", "a", "b"), node("d")}}),
			fakeTurn("join-2", "add_nodes", "Result of e", 0),
			fakeTurn("join-1", "add_nodes", "", 0, callOf("add_nodes", map[string]any{"nodes": []any{node("e", "c")}})),
			fakeTurn("a-0", "", "Your part\n\nTASK-a", 0, effectOf("a0")...), fakeTurn("a-1", "", "Your part\n\nTASK-a", 1),
			fakeTurn("b-0", "", "Your part\n\nTASK-b", 0, effectOf("b0")...), fakeTurn("b-1", "", "Your part\n\nTASK-b", 1, effectOf("b1")...),
			fakeTurn("b-2", "", "Your part\n\nTASK-b", 2),
			fakeTurn("c-0", "", "Your part\n\nTASK-c", 0), fakeTurn("d-0", "", "Your part\n\nTASK-d", 0), fakeTurn("e-0", "", "Your part\n\nTASK-e", 0),
		}},
	}
}

func (f fakeAgent) scenario(t *testing.T) []byte {
	t.Helper()
	rules := []any{}
	for _, r := range f.rules {
		reply := map[string]any{"text": "<" + r.name + ">"}
		if len(r.calls) > 0 {
			reply["tool_calls"] = r.calls
		}
		rules = append(rules, map[string]any{"name": r.name, "when": r.when, "reply": reply, "wire": map[string]any{"delay_ms": 2}})
	}
	b, err := json.Marshal(map[string]any{"name": f.name, "rules": rules})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fakeRun is a session that is killed again and again.
type fakeRun struct {
	*testing.T
	dir, url, log string
	agent         fakeAgent
}

// goOn starts the program and kills it when it has told of so many events; it
// returns the exit code, -1 when it was killed.
func (r *fakeRun) goOn(events int) int {
	r.Helper()
	args := []string{"resume", "s"}
	if _, err := os.Stat(filepath.Join(r.dir, ".kagent-sessions", "s.json")); err != nil {
		args = []string{
			"run", "-s", "s", "--if-exists", "resume", "-a", r.agent.name, "-m", "openai-compatible/fake", "--base-url", r.url + "/v1",
			"--allow", "execute", "--stdin", "none", "THE TASK",
		}
	}
	c, out := kagentIn(r.T, r.dir, append(args, "-q", "-o", "jsonl")...)
	c.Env = append(os.Environ(), "OPENAI_API_KEY=test-key")
	c.Stdout = nil
	pipe, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		r.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	lines.Buffer(nil, 16<<20)
	for n := 0; lines.Scan(); n++ {
		if n == events {
			c.Process.Kill()
		}
	}
	c.Wait()
	code := c.ProcessState.ExitCode()
	if code > 1 {
		r.Fatalf("exit %d\n%s", code, out)
	}
	return code
}

// recorded counts how often the session's log holds each reply.
func (r *fakeRun) recorded() map[string]int {
	b, _ := os.ReadFile(filepath.Join(r.dir, ".kagent-sessions", "s", "events.jsonl"))
	n := map[string]int{}
	for line := range bytes.Lines(b) {
		if !bytes.HasSuffix(line, []byte("\n")) || !bytes.Contains(line, []byte(`"type":"assistant/message"`)) {
			continue
		}
		var e struct {
			Data struct{ Parts []struct{ Text string } }
		}
		if err := json.Unmarshal(line, &e); err != nil {
			r.Fatal(err)
		}
		n[strings.Trim(e.Data.Parts[0].Text, "<>")]++
	}
	return n
}

// paid are the replies that the server gave whole, in order.
func (r *fakeRun) paid() (names []string) {
	b, err := os.ReadFile(r.log)
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(b) {
		var e struct{ Rule, Outcome string }
		if json.Unmarshal(line, &e) == nil && e.Outcome == "complete" {
			names = append(names, e.Rule)
		}
	}
	return names
}

// Each agent over HTTP, against a server that checks each request as strictly
// as a service: killed at random moments and resumed, it asks for no reply that
// it has, does nothing twice, breaks no rule and ends as if nothing had been.
func TestAgentsSurviveKillsOnTheWire(t *testing.T) {
	for _, f := range fakeAgents() {
		t.Run(f.name, func(t *testing.T) {
			for seed := range uint64(1) {
				url, log, check := providertest.FakeLogged(t, f.scenario(t))
				r := &fakeRun{T: t, dir: t.TempDir(), url: url, log: log, agent: f}
				rng := rand.New(rand.NewPCG(seed, 4))
				code := -1
				for kills := 0; code < 0; kills++ {
					had, before := r.recorded(), len(r.paid())
					events := 2 + rng.IntN(14)
					if kills > 40 {
						events = 1 << 30
					}
					code = r.goOn(events)
					for _, name := range r.paid()[before:] {
						if had[name] > 0 {
							t.Errorf("seed %d, after %d kills: %s was asked for again", seed, kills, name)
						}
					}
				}
				r.ended(code, check())
			}
		})
	}
}

// The scenarios that the fake server brings along for these agents know nothing
// of kagent's tools: decisions come as text. No rule is broken.
func TestAgentsUnderstandTheScenariosOfTheFakeServer(t *testing.T) {
	for name, answer := range map[string]string{"orchestrator": "The text is written and reviewed.", "plan-solve": ""} {
		b, err := os.ReadFile(filepath.Join(providertest.Shared(t, "fakellm/scenarios"), name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		url, check := providertest.Fake(t, b)
		c, out := kagentIn(t, t.TempDir(), "run", "-q", "-a", name, "-m", "openai-compatible/fake", "--base-url", url+"/v1", "--stdin", "none", "go")
		c.Env = append(os.Environ(), "OPENAI_API_KEY=test-key")
		c.Run()
		if broken := check(); broken != "" || !strings.Contains(out.String(), answer) {
			t.Errorf("%s: rules broken: %s\n%s", name, broken, out)
		}
	}
}

// What a service says of requests that are too long, in the words of each
// protocol: the conversation goes on with a summary, and no rule is broken.
func TestTheFakeServersOverflowIsSurvived(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(providertest.Shared(t, "fakellm/scenarios"), "context-overflow.json"))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("look at this, ", 500)
	for _, model := range []string{"openai-compatible/fake", "openai-responses/fake", "anthropic/fake", "gemini/fake", "ollama/fake"} {
		url, check := providertest.Fake(t, b)
		if strings.HasPrefix(model, "openai") {
			url += "/v1"
		}
		dir := t.TempDir()
		for i, args := range [][]string{
			{"run", "-s", "s", "--tools", "none", "-m", model, "--base-url", url, "--api-key-env", "FAKE_KEY", "--stdin", "none", long},
			{"resume", "s", long},
			{"resume", "s", long},
			{"compact", "s"},
			{"resume", "s", "and?"},
		} {
			c, out := kagentIn(t, dir, args...)
			c.Env = append(os.Environ(), "FAKE_KEY=test-key")
			if err := c.Run(); err != nil {
				t.Fatalf("%s, %d: %v\n%.3000s", model, i, err, out)
			}
		}
		if broken := check(); broken != "" {
			t.Errorf("%s: rules broken: %s", model, broken)
		}
		c, out := kagentIn(t, dir, "show", "s", "--messages")
		if c.Run(); !strings.Contains(out.String(), "SUMMARY: the user works on a task") {
			t.Errorf("%s: sent is %s", model, out)
		}
	}
}

// F131: a turn whose requests are summarised and cut again and again breaks no
// rule of any protocol.
func TestRequestsThatAreCutBreakNoRule(t *testing.T) {
	list := map[string]any{"tool_calls": []any{callOf("list_files", map[string]any{"path": "."}), callOf("glob", map[string]any{"pattern": "*9*"})}, "text": "I look."}
	for _, summary := range []string{"in short", " "} {
		b, err := json.Marshal(map[string]any{"name": "long", "rules": []any{
			map[string]any{"when": map[string]any{"last_user_contains": "Write the summary of all this now"}, "reply": map[string]any{"text": summary}},
			map[string]any{"when": map[string]any{"request": map[string]any{"max": 24}}, "reply": list},
			map[string]any{"reply": map[string]any{"text": "done"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, model := range []string{"openai-compatible/fake", "openai-responses/fake", "anthropic/fake", "gemini/fake", "ollama/fake"} {
			url, check := providertest.Fake(t, b)
			if strings.HasPrefix(model, "openai") {
				url += "/v1"
			}
			dir := t.TempDir()
			for i := range 40 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("a-file-with-a-rather-long-name-%d", i)), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c, out := kagentIn(t, dir, "run", "-s", "s", "--max-steps", "0", "--context-chars", "9000", "-m", model,
				"--base-url", url, "--api-key-env", "FAKE_KEY", "--stdin", "none", "look around")
			c.Env = append(os.Environ(), "FAKE_KEY=test-key")
			if err := c.Run(); err != nil || !strings.HasSuffix(out.String(), "done\n") {
				t.Errorf("%s, %q: %v\n%.3000s", model, summary, err, out)
			}
			if broken := check(); broken != "" {
				t.Errorf("%s, %q: rules broken: %s", model, summary, broken)
			}
			log, err := os.ReadFile(filepath.Join(dir, ".kagent-sessions", "s", "events.jsonl"))
			if cut := bytes.Count(log, []byte(`"type":"context/`)); err != nil || cut < 2 {
				t.Errorf("%s, %q: cut %d times, %v", model, summary, cut, err)
			}
		}
	}
}

// ended checks how the session has ended.
func (r *fakeRun) ended(code int, broken string) {
	r.Helper()
	if broken != "" {
		r.Errorf("rules were broken: %s", broken)
	}
	if code != r.agent.exit {
		r.Errorf("exit %d, want %d", code, r.agent.exit)
	}
	had := r.recorded()
	for _, rule := range r.agent.rules {
		if had[rule.name] != 1 {
			r.Errorf("reply %s was recorded %d times", rule.name, had[rule.name])
		}
	}
	c, out := kagentIn(r.T, r.dir, "resume", "s", "-q")
	c.Env = append(os.Environ(), "OPENAI_API_KEY=test-key")
	if err := c.Run(); err != nil || !strings.HasSuffix(out.String(), "\n"+r.agent.answer+"\n") {
		r.Errorf("the answer is %q, %v; want %q", out, err, r.agent.answer)
	}
	effects, _ := os.ReadFile(filepath.Join(r.dir, "effects"))
	n := map[string]int{}
	for _, e := range strings.Fields(string(effects)) {
		if n[e]++; n[e] > 1 {
			r.Errorf("effect %s happened %d times", e, n[e])
		}
	}
}
