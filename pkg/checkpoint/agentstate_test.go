package checkpoint

import (
	"encoding/json"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// orchestrate makes a session of the orchestrator with a node that is done and
// one that is at work, in the middle of a call.
func orchestrate(t tb, s *Store, id, text string) *Journal {
	t.Helper()
	c := task
	c.Settings.Agent = "orchestrator"
	j, err := s.Create(id, c)
	check(t, err)
	check(t, j.Append("", &session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1}))
	check(t, j.Append("", &session.GraphSet{Round: 1, Nodes: []session.GraphNode{
		{ID: "a", Task: text, Needs: []string{}, Round: 1}, {ID: "b", Task: "do b", Needs: []string{"a"}, Round: 1},
	}}))
	for _, scope := range []string{"node/a", "node/b"} {
		check(t, j.Append(scope, &session.ChildCreated{Task: text, System: "be", Tools: []string{"shell"}}, &session.TurnStart{Turn: 1}))
	}
	check(t, j.Append("node/a", &session.AssistantMessage{Parts: []message.Part{message.Text(text)}, Stop: message.StopEnd},
		&session.TurnEnd{Turn: 1, Status: session.Completed}))
	check(t, j.Append("node/b", &session.AssistantMessage{Stop: message.StopCalls, Parts: []message.Part{
		message.Call(message.ToolCall{ID: "x", Name: "shell", Arguments: "{}"}),
	}}))
	call := j.State().Scope("node/b").Pending()[0]
	check(t, j.Append("node/b", &session.ToolCall{Call: call.ID, Tool: "shell", Attempt: 1, Key: "k"}))
	check(t, j.Commit())
	return j
}

func TestOpenChildrenStandInTheAgentsState(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := orchestrate(t, s, "s", "do a")
	defer j.Close()
	var got struct {
		TaskGraph      session.TaskGraph
		CompletedNodes map[string]string
		Children       []child
	}
	check(t, json.Unmarshal(fields(t, slurp(t, j.paths.checkpoint))["agentState"], &got))
	if n := got.TaskGraph.Nodes; len(n) != 2 || n[0].Status != session.NodeCompleted || n[1].Status != session.NodeRunning || got.CompletedNodes["a"] != "do a" {
		t.Errorf("%+v", got)
	}
	if len(got.Children) != 1 {
		t.Fatalf("%d children", len(got.Children))
	}
	c := got.Children[0]
	if c.Scope != "node/b" || c.Status != session.Active || c.Task != "do a" || c.System != "be" || len(c.Tools) != 1 {
		t.Errorf("%+v", c)
	}
	if len(c.Messages) != 2 || c.Messages[0].Content != "do a" || c.Messages[1].ToolCalls[0].Function.Name != "shell" {
		t.Errorf("messages %+v", c.Messages)
	}
	if len(c.Pending) != 1 || c.Pending[0].State != "unknown" {
		t.Errorf("pending %+v", c.Pending)
	}
}

// Whatever the agents conclude, a list finds metadata in the part that it reads.
func TestTheAgentsStateStandsBehindTheHead(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := orchestrate(t, s, "s", strings.Repeat("大", 10_000))
	check(t, j.Close())
	if h, err := readHead(OS{}, j.paths.checkpoint); err != nil || h.SessionID != "s" || h.Metadata.Iterations != 2 {
		t.Errorf("%+v, %v", h, err)
	}
	report, err := s.Verify("s")
	check(t, err)
	if len(report.Problems) > 0 {
		t.Errorf("%+v", report.Problems)
	}
	v, err := s.Read("s")
	check(t, err)
	b, err := v.Image()
	check(t, err)
	if string(fields(t, b)["agentState"]) != string(fields(t, slurp(t, j.paths.checkpoint))["agentState"]) {
		t.Error("a reader sees another state of the agent than its owner")
	}
}
