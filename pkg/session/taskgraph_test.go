package session_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"kagent/pkg/session"
)

// graphOf makes a graph of nodes written as "id" or "id:need,need".
func graphOf(nodes ...string) *session.GraphSet {
	g := &session.GraphSet{Round: 1, From: "split-1"}
	for _, text := range nodes {
		id, needs, some := strings.Cut(text, ":")
		n := session.GraphNode{ID: id, Task: "do " + id, Needs: []string{}, Round: 1}
		if some {
			n.Needs = strings.Split(needs, ",")
		}
		g.Nodes = append(g.Nodes, n)
	}
	return g
}

func orchestrated(l *log) *session.OrchestratorState {
	return l.state.AgentState(session.Look{}).(*session.OrchestratorState)
}

// statuses lists the nodes as "id status attempts".
func statuses(l *log) string {
	var out []string
	for _, n := range orchestrated(l).TaskGraph.Nodes {
		out = append(out, n.ID+" "+string(n.Status)+strings.Repeat("!", n.Attempts))
	}
	return strings.Join(out, ", ")
}

func TestNodesPassThroughTheirStatuses(t *testing.T) {
	l := agentLog("orchestrator")
	wantState(t, "before the graph", l, `{"taskGraph":null,"completedNodes":{},"currentRound":0,"synthesisResult":null}`)
	l.add(graphOf("a", "b:a", "c:b", "d"))
	check(t, "the graph", statuses(l), "a pending, b pending, c pending, d pending")
	l.child("node/a")
	l.child("node/d")
	check(t, "the graph", statuses(l), "a running!, b pending, c pending, d running!")
	l.ended("node/d", session.Completed, "D 完")
	l.in("node/a", ends(1, session.Failed, "tool"))
	check(t, "after the first failure", statuses(l), "a pending!, b pending, c pending, d completed!")
	l.child("node/a/try-2")
	l.in("node/a/try-2", ends(1, session.Interrupted, session.ReasonNetwork))
	check(t, "when it was interrupted", statuses(l), "a running!!, b pending, c pending, d completed!")
	l.in("node/a/try-2", continued(1), ends(1, session.Failed, "tool"))
	l.child("node/a/try-3")
	l.in("node/a/try-3", &session.TurnEnd{Turn: 1, Status: session.Failed, Error: &session.Failure{Message: "坏了"}})
	check(t, "after the last", statuses(l), "a failed!!!, b not_run, c not_run, d completed!")
	o := orchestrated(l)
	check(t, "the error", o.TaskGraph.Nodes[0].Error, "坏了")
	if len(o.CompletedNodes) != 1 || o.CompletedNodes["d"] != "D 完" || o.CurrentRound != 1 {
		t.Errorf("%+v", o)
	}
}

func TestANodeThatFailedHasFailedWhenTheTurnIsOver(t *testing.T) {
	l := agentLog("orchestrator")
	l.add(graphOf("a", "b:a"))
	l.child("node/a")
	l.ended("node/a", session.Failed, "")
	l.add(ends(1, session.Failed, session.ReasonIncomplete))
	check(t, "the graph", statuses(l), "a failed!, b not_run")
	l.add(continued(1))
	check(t, "the graph, when it goes on", statuses(l), "a pending!, b pending")
}

func TestTheTimesOfANodeAreThoseOfItsFirstAndLastAttempt(t *testing.T) {
	l := agentLog("orchestrator")
	l.add(graphOf("a", "b"))
	from := l.state.Seq + 1
	l.child("node/a")
	l.ended("node/a", session.Failed, "")
	l.child("node/a/try-2")
	l.ended("node/a/try-2", session.Completed, "A")
	n := orchestrated(l).TaskGraph.Nodes[0]
	check(t, "the attempts", n.Attempts, 2)
	check(t, "the time", n.EndedAt.Sub(*n.StartedAt), time.Duration(l.state.Seq-from)*time.Second)
	l.child("node/b")
	if n := orchestrated(l).TaskGraph.Nodes[1]; n.EndedAt != nil || n.Status != session.NodeRunning {
		t.Errorf("while it runs: %+v", n)
	}
}

// A graph is taken in as it was recorded, whatever it says.
func TestImpossibleGraphsAreShown(t *testing.T) {
	l := agentLog("orchestrator")
	l.add(graphOf("a:b", "b:a", "a", "c:nobody", ""))
	l.child("node/")
	l.add(ends(1, session.Failed, ""))
	check(t, "the graph", statuses(l), "a pending, b pending, a pending, c pending,  interrupted!")
}

func TestTheNextTaskHasItsOwnNodes(t *testing.T) {
	l := agentLog("orchestrator")
	l.add(graphOf("a"))
	l.child("node/a")
	l.ended("node/a", session.Completed, "A")
	l.add(&session.AnswerAdopted{From: "node/a"}, ends(1, session.Completed, ""))
	if r := orchestrated(l).SynthesisResult; r == nil || *r != "A" {
		t.Errorf("the result is %v", r)
	}
	l.add(says("another"), turn(2), graphOf("a"))
	check(t, "the graph", statuses(l), "a pending")
	if r := orchestrated(l).SynthesisResult; r != nil {
		t.Errorf("the result of the next is %q", *r)
	}
}

// Nobody is told that a node runs, or will, in a session that nobody runs.
func TestANodeRunsOnlyWhileItsSessionDoes(t *testing.T) {
	for end, want := range map[session.Status]string{
		session.Active:      "a running!, b pending, c completed!",
		session.Interrupted: "a interrupted!, b pending, c completed!",
		session.Paused:      "a interrupted!, b pending, c completed!",
		session.Cancelled:   "a cancelled!, b not_run, c completed!",
	} {
		l := agentLog("orchestrator")
		l.add(graphOf("a", "b:a", "c"))
		l.child("node/a")
		l.child("node/c")
		l.ended("node/c", session.Completed, "C")
		if end != session.Active {
			l.add(ends(1, end, ""))
		}
		check(t, "when it is "+string(end), statuses(l), want)
		if n := l.state.Nodes("")[0]; n.Status != session.NodeRunning {
			t.Errorf("when it is %s, the agent takes the node for %s", end, n.Status)
		}
		if end != session.Active {
			continue
		}
		o := l.state.AgentState(session.Look{Dead: true}).(*session.OrchestratorState)
		check(t, "in a session whose process has died", o.TaskGraph.Nodes[0].Status, session.NodeInterrupted)
	}
}

func TestTheLongestTextsOfAGraphAreCutFirst(t *testing.T) {
	l := agentLog("orchestrator")
	l.add(graphOf("a", "b", "c"))
	for _, id := range []string{"a", "b", "c"} {
		l.child("node/" + id)
	}
	l.ended("node/a", session.Completed, strings.Repeat("大", 50_000))
	l.ended("node/b", session.Completed, "short")
	l.ended("node/c", session.Failed, "")
	o := l.state.AgentState(session.Look{Brief: true}).(*session.OrchestratorState)
	check(t, "what is short", o.CompletedNodes["b"], "short")
	if n := utf8.RuneCountInString(o.CompletedNodes["a"]); n < 30_000 || n > 33_000 || !strings.Contains(o.CompletedNodes["a"], " characters …] ") {
		t.Errorf("what is long has %d characters", n)
	}
}
