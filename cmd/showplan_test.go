package cmd

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// told writes a session of an agent, with events of its own scope and, where a
// string comes first, of the child of that name.
func told(t *testing.T, dir, agent string, said ...any) {
	t.Helper()
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	s := checkpoint.NewStore(filepath.Join(dir, ".kagent-sessions"), checkpoint.Options{Now: func() time.Time {
		now = now.Add(100 * time.Millisecond)
		return now
	}})
	j, err := s.Create(agent, session.Created{Task: "the task", Settings: session.Settings{Agent: agent, Model: "demo"}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	scope := ""
	said = append([]any{&session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1}}, said...)
	for _, d := range said {
		switch d := d.(type) {
		case string:
			scope = d
		case session.Data:
			err = j.Append(scope, d)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Commit(); err != nil {
		t.Fatal(err)
	}
}

func says(text string) *session.AssistantMessage {
	return &session.AssistantMessage{Parts: []message.Part{message.Text(text)}, Stop: message.StopEnd, Usage: message.Usage{Total: 7}, Model: "demo"}
}

// kagentSays runs kagent and returns both of its streams.
func kagentSays(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c, out := kagentIn(t, dir, args...)
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out.String()
}

// What nobody does any more is not shown as if it ran.
func TestShowPlanOfACancelledGraph(t *testing.T) {
	dir := t.TempDir()
	told(t, dir, "orchestrator",
		&session.GraphSet{Round: 1, Nodes: []session.GraphNode{{ID: "a", Task: "find"}, {ID: "b", Task: "tell", Needs: []string{"a"}}}},
		"node/a", &session.ChildCreated{Task: "x", Tools: []string{}}, &session.TurnStart{Turn: 1})
	if got := kagentSays(t, dir, "show", "--plan", "orchestrator"); !strings.Contains(got, "interrupted  a, since") || !strings.Contains(got, "pending      b: tell") {
		t.Errorf("when its process is gone:\n%s", got)
	}
	kagentSays(t, dir, "cancel", "orchestrator")
	if got := kagentSays(t, dir, "show", "--plan", "orchestrator"); !strings.Contains(got, "cancelled    a, since") || !strings.Contains(got, "not_run      b: tell") {
		t.Errorf("when it is cancelled:\n%s", got)
	}
	got := kagentSays(t, dir, "show", "orchestrator", "-o", "json")
	if strings.Contains(got, `"running"`) || strings.Contains(got, `"status":"active"`) {
		t.Errorf("its checkpoint:\n%s", got)
	}
}

func TestShowPlanOfEachAgent(t *testing.T) {
	dir := t.TempDir()
	told(t, dir, "react")
	told(t, dir, "plan-solve", &session.PlanSet{Steps: []string{"look\nthere", "do", "tell"}, Done: []int{1}, Replans: 1})
	told(t, dir, "fusion", &session.RouteSet{Complexity: session.Complex, Reason: "many files"},
		&session.PlanSet{Steps: []string{"look"}, Done: []int{0}}, says("done"), &session.VerdictGiven{OK: false, Feedback: "tests are missing"})
	child := &session.ChildCreated{Task: "x", Tools: []string{}}
	told(t, dir, "orchestrator",
		&session.GraphSet{Round: 1, Nodes: []session.GraphNode{{ID: "a", Task: "find"}, {ID: "b", Task: "tell", Needs: []string{"a"}}, {ID: "c", Task: "never", Needs: []string{"b"}}}},
		"node/a", child, &session.TurnStart{Turn: 1}, says("found"), &session.TurnEnd{Turn: 1, Status: session.Completed},
		"node/b", child, &session.TurnStart{Turn: 1}, &session.TurnEnd{Turn: 1, Status: session.Failed, Error: &session.Failure{Message: "no tool"}},
		"", &session.TurnEnd{Turn: 1, Status: session.Failed, Reason: session.ReasonIncomplete})
	for agent, want := range map[string]string{
		"react": "the agent react makes no plan\n",
		"plan-solve": "plan: 1 of 3 steps done, replaced 1 time\n" +
			"  [ ] 1. look there\n  [x] 2. do\n  [ ] 3. tell\n",
		"fusion": "route: complex, many files\nphase: reflecting\nplan: 1 of 1 step done\n  [x] 1. look\n" +
			"verdict: not good enough: tests are missing\n",
		"orchestrator": "graph: round 1, 1 of 3 nodes done\n" +
			"  completed    a, 300ms: find\n" +
			"  failed       b, 200ms: tell\n               after a\n               no tool\n" +
			"  not_run      c: never\n               after b\n",
	} {
		if got := kagentSays(t, dir, "show", "--plan", agent); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", agent, got, want)
		}
	}
	for agent, want := range map[string]string{"react": "{}\n", "plan-solve": `{"currentPlan":["look\nthere","do","tell"],"completedSteps":[1],"replanCount":1,"currentStep":0}` + "\n"} {
		if got := kagentSays(t, dir, "show", agent, "--plan", "-o", "json"); got != want {
			t.Errorf("%s: %s", agent, got)
		}
	}
	c, out := kagentIn(t, dir, "show", "--plan", "--events", "fusion")
	if err := c.Run(); err == nil || !strings.Contains(out.String(), "do not go together") {
		t.Errorf("%v: %s", err, out)
	}
}
