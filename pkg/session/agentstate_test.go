package session_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// in appends events of a child.
func (l *log) in(scope string, data ...session.Data) {
	for _, d := range data {
		seq := l.state.Seq + 1
		e := session.Event{Seq: seq, Epoch: 1, Time: at(seq), Scope: scope, Type: d.Type(), Data: d}
		l.events = append(l.events, e)
		l.state.Apply(e)
	}
}

// child begins a child and opens its turn; ended answers and ends it.
func (l *log) child(scope string) {
	l.in(scope, &session.ChildCreated{Task: "do " + scope, System: "be", Tools: []string{}}, turn(1))
}

func (l *log) ended(scope string, status session.Status, answer string) {
	l.in(scope, reply(message.StopEnd, answer), ends(1, status, ""))
}

// agentLog is a log of one of the agents whose task has begun.
func agentLog(agent string) *log {
	l := &log{}
	l.add(&session.Created{Schema: session.Schema, ID: "s", Task: "the task", Settings: session.Settings{Agent: agent}}, task(), turn(1))
	return l
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func wantState(t *testing.T, when string, l *log, want string) {
	t.Helper()
	if got := asJSON(t, l.state.AgentState(session.Look{})); got != want {
		t.Errorf("%s: the agent's state is\n%s, want\n%s", when, got, want)
	}
}

func TestAgentStateOfReactIsNothing(t *testing.T) {
	l := agentLog("react")
	l.add(&session.PlanSet{Steps: []string{"a"}})
	wantState(t, "with a plan that is not its own", l, "null")
}

func TestAgentStateOfPlanSolve(t *testing.T) {
	l := agentLog("plan-solve")
	wantState(t, "before the plan", l, `{"currentPlan":[],"completedSteps":[],"replanCount":0,"currentStep":0}`)
	l.add(&session.PlanSet{Steps: []string{"看", "b", "c"}, Done: []int{2, 0, 0, 7, -1}, Replans: 1, From: "plan-2"})
	wantState(t, "out of order", l, `{"currentPlan":["看","b","c"],"completedSteps":[0,2],"replanCount":1,"currentStep":1}`)
	l.add(&session.PlanSet{Steps: []string{"a"}, Done: []int{0}, Replans: 1, From: "plan-2"})
	wantState(t, "when all is done", l, `{"currentPlan":["a"],"completedSteps":[0],"replanCount":1,"currentStep":1}`)
	l.add(ends(1, session.Interrupted, session.ReasonNetwork), says("go on"), turn(2))
	wantState(t, "in a turn that adds to the task", l, `{"currentPlan":["a"],"completedSteps":[0],"replanCount":1,"currentStep":1}`)
	l.add(ends(2, session.Completed, ""), says("another"), turn(3))
	wantState(t, "for a new task", l, `{"currentPlan":[],"completedSteps":[],"replanCount":0,"currentStep":0}`)
}

func TestPhasesOfFusion(t *testing.T) {
	l := agentLog("fusion")
	phase := func(when, want string) {
		t.Helper()
		check(t, "the phase "+when, l.state.AgentState(session.Look{}).(*session.FusionState).Phase, want)
	}
	wantState(t, "at the beginning", l, `{"routingResult":null,"currentPlan":[],"completedSteps":[],"reflectionHistory":[],"phase":"routing"}`)
	l.child("route-1")
	phase("while it is asked for", session.PhaseRouting)
	l.ended("route-1", session.Completed, "")
	l.add(&session.RouteSet{Complexity: session.Complex, Reason: "多", From: "route-1"})
	phase("once it is routed", session.PhasePlanning)
	l.child("plan-1")
	l.ended("plan-1", session.Completed, "")
	l.add(&session.PlanSet{Steps: []string{"a"}, Done: []int{}, From: "plan-1"})
	phase("with a plan", session.PhaseExecuting)
	l.child("plan-2")
	phase("while it is planned anew", session.PhasePlanning)
	l.ended("plan-2", session.Completed, "")
	l.child("node/x/route-1") // of a child of another kind
	phase("while a child routes", session.PhaseExecuting)
	seq := l.add(reply(message.StopEnd, "the answer"))
	phase("with an answer", session.PhaseReflecting)
	l.add(&session.VerdictGiven{OK: false, Feedback: "more", Reply: seq, From: "verify-1"}, goOn())
	phase("for a revision", session.PhaseExecuting)
	wantState(t, "then", l, `{"routingResult":{"complexity":"complex","reason":"多"},"currentPlan":["a"],"completedSteps":[],`+
		`"reflectionHistory":[{"ok":false,"feedback":"more","reply":`+asJSON(t, seq)+`}],"phase":"executing"}`)
	l.child("verify-2")
	phase("while it is judged", session.PhaseReflecting)

	l = agentLog("fusion")
	l.add(&session.RouteSet{Complexity: session.Simple}, reply(message.StopEnd, "at once"))
	phase("of what is simple", session.PhaseExecuting)

	l = agentLog("fusion")
	l.add(&session.SettingsChanged{Settings: session.Settings{Agent: "fusion", ConfirmPlan: true}},
		&session.RouteSet{Complexity: session.Complex}, &session.PlanSet{Steps: []string{"a"}})
	phase("before a person consents", session.PhasePlanning)
	l.add(&session.ApprovalGiven{What: "plan"})
	phase("after that", session.PhaseExecuting)
}

func TestOpenChildrenAreThoseOfThePresentWork(t *testing.T) {
	names := func(l *log) (out []string) {
		for _, sc := range l.state.Open() {
			out = append(out, sc.Name)
		}
		return out
	}
	l := agentLog("orchestrator")
	l.child("node/b")
	l.child("node/a")
	l.child("node/c")
	l.in("strange", turn(1)) // that nobody created
	l.ended("node/a", session.Completed, "a")
	l.in("node/c", ends(1, session.Interrupted, session.ReasonNetwork))
	if got := names(l); !slices.Equal(got, []string{"node/b", "node/c"}) {
		t.Errorf("open are %q", got)
	}
	l.ended("node/b", session.Failed, "")
	l.add(ends(1, session.Completed, ""), says("another"), turn(2))
	l.child("split-2")
	if got := names(l); !slices.Equal(got, []string{"split-2"}) {
		t.Errorf("in the next task, open are %q", got)
	}
	if n := len(l.state.Children()); n != 5 {
		t.Errorf("%d children", n)
	}
}

// What the agent's state says follows from the log alone.
func TestAgentStateIsTheSameAfterAReplay(t *testing.T) {
	l := agentLog("orchestrator")
	l.add(graphOf("a", "b:a"))
	l.child("node/a")
	l.ended("node/a", session.Completed, "A")
	var replayed session.State
	for _, e := range l.events {
		var back session.Event
		if err := json.Unmarshal([]byte(asJSON(t, e)), &back); err != nil {
			t.Fatal(err)
		}
		replayed.Apply(back)
	}
	if !reflect.DeepEqual(l.state.AgentState(session.Look{}), replayed.AgentState(session.Look{})) {
		t.Errorf("live %+v, replayed %+v", l.state.AgentState(session.Look{}), replayed.AgentState(session.Look{}))
	}
}
