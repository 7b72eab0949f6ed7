package session_test

import (
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// A further try at a question is the same question: once it has been concluded,
// the next one has the next number.
func TestAFurtherTryCountsAsItsQuestion(t *testing.T) {
	l := agentLog("fusion")
	check(t, "the first question", l.main().Question("plan"), "plan-1")
	l.add(&session.PlanSet{Steps: []string{"a"}, From: "plan-1/try-2"})
	check(t, "the next question", l.main().Question("plan"), "plan-2")
	l.add(&session.VerdictGiven{From: "verify-1"}, &session.VerdictGiven{From: "verify-2/try-12"}, &session.VerdictGiven{From: "strange"}, &session.VerdictGiven{From: "try-2"})
	check(t, "another kind", l.main().Question("verify"), "verify-3")
	l.in("node/x", &session.PlanSet{Steps: []string{"a"}, From: "node/x/plan-1"})
	check(t, "a child's", l.state.Scope("node/x").Question("plan"), "node/x/plan-2")
}

func TestWhatIsAQuestionIsSaidByItsName(t *testing.T) {
	l := agentLog("orchestrator")
	l.child("node/x")
	for name, want := range map[string]bool{
		"split-1": true, "join-2/try-3": true, "node/x/verify-1": true, "node/x/verify-1/try-2": true,
		"node/x/try-2": false, "node/x/task-2": false, "node/plan-2": false, "node/plan-2/try-2": false, "node/x/task-2/try-2": false, "plan": false, "plan-0": false, "-1": false,
	} {
		l.child(name)
		check(t, name+" being a question", l.state.Asks(l.state.Scope(name)), want)
	}
	check(t, "the session itself being one", l.state.Asks(l.main()), false)
}

// Nobody goes on with a question that was asked anew, whose answer is known, or
// whose conversation has gone on without it.
func TestAQuestionThatIsOvertakenIsNotOpen(t *testing.T) {
	open := func(l *log, want ...string) {
		t.Helper()
		var names []string
		for _, sc := range l.state.Open() {
			names = append(names, sc.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("open are %q, want %q", names, want)
		}
	}
	l := agentLog("fusion")
	l.add(&session.RouteSet{Complexity: session.Complex})
	l.child("plan-1")
	open(l, "plan-1")
	l.child("plan-1/try-2")
	open(l, "plan-1/try-2")
	l.add(&session.PlanSet{Steps: []string{"a"}, From: "plan-1/try-2"})
	open(l)
	l.add(reply(message.StopEnd, "the answer"))
	l.child("verify-1")
	l.child("node/a")
	open(l, "verify-1", "node/a")
	l.add(says("and in rhyme"))
	open(l, "node/a")
	check(t, "the phase", l.state.AgentState(session.Look{}).(*session.FusionState).Phase, session.PhaseExecuting)
}

// What is said in the middle of a turn stands where it was said, so that what
// has left is told in the right words.
func TestWordsThatHaveLeftAreToldWithTheirOwn(t *testing.T) {
	l := agentLog("react")
	l.add(&session.UserMessage{Source: session.FromUser, Text: "the letter", Inbox: "1"}, reply(message.StopEnd, "half"))
	l.add(ends(1, session.Interrupted, session.ReasonNetwork))
	at := l.add(says("the prompt"))
	l.add(turn(2), reply(message.StopEnd, "x"))
	l.add(&session.ContextTrimmed{Turns: 1, Before: at})
	aside := l.state.Aside(l.main())
	for text, want := range map[string]bool{"the task": true, "the letter": true, "the prompt": false} {
		check(t, "the aside telling of "+text, strings.Contains(aside, text), want)
	}
}

// A scope does not adopt what it said itself, nor what nobody said.
func TestOnlyAChildsAnswerIsAdopted(t *testing.T) {
	l := agentLog("orchestrator")
	l.add(reply(message.StopEnd, "mine"))
	n := len(l.main().Entries)
	l.add(&session.AnswerAdopted{From: ""}, &session.AnswerAdopted{From: "ghost"})
	check(t, "entries", len(l.main().Entries), n)
	l.child("join-1")
	l.ended("join-1", session.Completed, "theirs")
	l.add(&session.AnswerAdopted{From: "join-1"})
	check(t, "the answer", l.main().Answer(), "theirs")
	check(t, "the next question", l.main().Question("join"), "join-2")
}
