package session_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// FuzzFold folds whatever decodes, in whatever order: every view bears every
// state, and what a model would be sent keeps calls and results together.
func FuzzFold(f *testing.F) {
	f.Add(jsonLines(f, newLog(examples()...).events))
	f.Add(jsonLines(f, spoken().events))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s session.State
		for _, e := range decoded(b) {
			s.Apply(e)
			sc := s.Scope(e.Scope)
			if err := illegal(sc.Messages(), len(sc.Pending()) > 0); err != nil {
				t.Fatalf("after %s %+v: %v\n%+v", e.Type, e.Data, err, sc.Messages())
			}
		}
		looked(t, &s)
	})
}

// spoken is a log with all that views look at.
func spoken() *log {
	l := newLog(task(), turn(1), &session.StepStart{Step: 1})
	r := l.add(reply(message.StopCalls, "look", asks("c", "x"), asks("c", "y")))
	l.add(begun(id(r, 0), 1), brought(id(r, 0), session.OutcomeOK), ends(1, session.Interrupted, session.ReasonCrash), continued(1))
	l.add(begun(id(r, 1), 2), brought(id(r, 1), session.OutcomeUnknown), &session.StepEnd{Step: 1}, says("more"))
	l.add(reply(message.StopEnd, "the answer"), ends(1, session.Completed, ""))
	l.child("summarise-1")
	l.ended("summarise-1", session.Completed, "in short")
	l.add(&session.ContextCompacted{Turns: 1, Before: r + 1, Summary: "in short", From: "summarise-1"}, turn(2), says("next"))
	return l
}

func jsonLines(f *testing.F, events []session.Event) []byte {
	var b bytes.Buffer
	for _, e := range events {
		if err := json.NewEncoder(&b).Encode(e); err != nil {
			f.Fatal(err)
		}
	}
	return b.Bytes()
}

// decoded are the lines that are events, as many as one try has time for.
func decoded(b []byte) (events []session.Event) {
	for line := range bytes.Lines(b) {
		var e session.Event
		if len(events) < 100 && json.Unmarshal(line, &e) == nil && e.Data != nil {
			events = append(events, e)
		}
	}
	return events
}

// looked takes every view of a state.
func looked(t *testing.T, s *session.State) {
	if status, reason := s.Status(); status == "" || status == session.Active && reason != "" {
		t.Fatalf("status %q, reason %q", status, reason)
	}
	for _, agent := range []string{"", "react", "plan-solve", "fusion", "orchestrator"} {
		s.Settings.Agent = agent
		if _, err := json.Marshal(s.AgentState(session.Look{})); err != nil {
			t.Fatalf("%s: %v", agent, err)
		}
	}
	_, _ = s.Open(), s.Nodes("")
	for _, sc := range append(s.Open(), s.Main()) {
		_, _, _ = sc.Answer(), sc.Unheard(), sc.Question("plan")
		if p := sc.Past(100); len(p.Entries) > len(sc.Entries) || p.Chars < 0 {
			t.Fatalf("a past of %d entries, %d characters", len(p.Entries), p.Chars)
		}
		if s.Size(sc.Name) < 0 || s.View(sc.Name).Chars() < 0 {
			t.Fatalf("scope %q has a negative size", sc.Name)
		}
		_ = s.Trim(sc.Name, session.Budget{Chars: 50, Hard: true})
	}
}
