package checkpoint

import (
	"encoding/json"
	"fmt"
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
	v, err := s.Read("s")
	check(t, err)
	b, err := v.Image()
	check(t, err)
	if string(fields(t, b)["agentState"]) != string(fields(t, slurp(t, j.paths.checkpoint))["agentState"]) {
		t.Error("a reader sees another state of the agent than its owner")
	}
	check(t, j.Close())
	if h, err := readHead(OS{}, j.paths.checkpoint); err != nil || h.SessionID != "s" || h.Metadata.Iterations != 2 {
		t.Errorf("%+v, %v", h, err)
	}
	report, err := s.Verify("s")
	check(t, err)
	if len(report.Problems) > 0 {
		t.Errorf("%+v", report.Problems)
	}
}

// A node that brings much makes no checkpoint longer than what is told of it,
// and what was joined hardly at all.
func TestResultsOfNodesMakeNoCheckpointGrow(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	c := task
	c.Settings.Agent = "orchestrator"
	j, err := s.Create("s", c)
	check(t, err)
	defer j.Close()
	check(t, j.Append("", &session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1}))
	text := strings.Repeat("word ", 8000)
	g := &session.GraphSet{Round: 1}
	for i := range 20 {
		g.Nodes = append(g.Nodes, session.GraphNode{ID: fmt.Sprint("n", i), Task: text, Needs: []string{}, Round: 1})
	}
	check(t, j.Append("", g))
	bring := func(scope string) {
		t.Helper()
		check(t, j.Append(scope, &session.ChildCreated{Task: "do", System: "be", Tools: []string{}}, &session.TurnStart{Turn: 1},
			&session.AssistantMessage{Parts: []message.Part{message.Text(text)}, Stop: message.StopEnd},
			&session.TurnEnd{Turn: 1, Status: session.Completed}))
	}
	for _, n := range g.Nodes {
		bring("node/" + n.ID)
	}
	check(t, j.Commit())
	if n := len(slurp(t, j.paths.checkpoint)); n > 80<<10 {
		t.Errorf("while the nodes work the checkpoint has %d bytes", n)
	}
	bring("join-1")
	check(t, j.Append("", &session.AnswerAdopted{From: "join-1"}, &session.TurnEnd{Turn: 1, Status: session.Completed}))
	check(t, j.Commit())
	b := slurp(t, j.paths.checkpoint)
	if n := len(b) - 3*len(text); n > 10<<10 { // the answer, as a message, and as what was made of the results
		t.Errorf("when they are joined the checkpoint has %d bytes beside the answer", n)
	}
	if !strings.Contains(string(b), "characters …]") {
		t.Error("nothing says what is missing")
	}
	o := j.State().AgentState(session.Look{}).(*session.OrchestratorState)
	if o.CompletedNodes["n3"] != text || o.TaskGraph.Nodes[3].Task != text {
		t.Error("the whole is cut, too")
	}
}
