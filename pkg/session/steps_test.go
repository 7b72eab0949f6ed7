package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// stepsOf lists the steps of a log as "id status attempts output".
func stepsOf(l *log) (out []string) {
	var s session.Steps
	for _, e := range l.events {
		s.See(e)
	}
	for _, x := range s.All() {
		text := "-"
		if x.Output != nil {
			text = *x.Output
		}
		out = append(out, fmt.Sprintf("%s %s %d %s", x.ID, x.Status, x.Attempts, text))
	}
	return out
}

func wantSteps(t *testing.T, l *log, want ...string) {
	t.Helper()
	if got := strings.Join(stepsOf(l), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the steps are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestAStepPassesThroughItsStatuses(t *testing.T) {
	l := newLog(task(), turn(1), &session.StepStart{Step: 1})
	wantSteps(t, l, "llm-5 pending 1 -")
	l.add(&session.AssistantChunk{Text: "Le"})
	wantSteps(t, l, "llm-5 streaming 1 -")
	l.add(&session.RequestRetried{Attempt: 1, Error: &session.Failure{Kind: "server"}}, &session.AssistantChunk{Text: "Let me"})
	wantSteps(t, l, "llm-5 streaming 2 -")
	r := l.add(reply(message.StopCalls, "Let me look", asks("a", "x"), asks("b", "y")))
	wantSteps(t, l, "llm-5 completed 2 Let me look", "tool-9.0 pending 0 -", "tool-9.1 pending 0 -")
	l.add(begun(id(r, 0), 1))
	wantSteps(t, l, "llm-5 completed 2 Let me look", "tool-9.0 running 1 -", "tool-9.1 pending 0 -")
	l.add(begun(id(r, 0), 2), brought(id(r, 0), session.OutcomeOK), brought(id(r, 1), session.OutcomeDenied), brought(id(r, 1), session.OutcomeOK))
	wantSteps(t, l, "llm-5 completed 2 Let me look", "tool-9.0 completed 2 result of 9.0", "tool-9.1 failed 0 result of 9.1")
}

func TestARequestThatBroughtNoReplyHasFailed(t *testing.T) {
	l := newLog(task(), turn(1), &session.StepStart{Step: 1}, &session.AssistantChunk{Text: "cut"},
		ends(1, session.Interrupted, session.ReasonCrash), continued(1), &session.StepStart{Step: 1}, &session.AssistantChunk{Text: "cu"}, &session.StepStart{Step: 1})
	wantSteps(t, l, "llm-5 failed 1 cut", "llm-9 failed 1 cu", "llm-11 pending 1 -")
	var s session.Steps
	for _, e := range l.events {
		s.See(e)
	}
	s.Abandon(at(99))
	last := s.All()[2]
	if last.Status != session.StepFailed || last.Error == nil || !last.EndedAt.Equal(at(99)) {
		t.Errorf("where nobody asks any more: %+v", last)
	}
}

func TestThoughtsAndArgumentsAreShown(t *testing.T) {
	l := newLog(task(), turn(1), &session.RequestHeader{Model: "p/m", Tools: nil})
	cost := 0.5
	l.add(&session.AssistantMessage{Model: "p/n", Usage: message.Usage{Total: 7}, CostUSD: &cost, Parts: []message.Part{
		{Type: message.TypeReasoning, Text: "想"},
		{Type: message.TypeReasoning, Opaque: json.RawMessage(`{}`)},
		message.Call(message.ToolCall{Name: "a", Arguments: `{"x": [1]}`}), message.Call(message.ToolCall{Name: "b", Arguments: "{broken"}),
	}})
	wantSteps(t, l, "llm-5 completed 1 ", "thinking-6.0 completed 1 想", "tool-6.0 pending 0 -", "tool-6.1 pending 0 -")
	var s session.Steps
	for _, e := range l.events {
		s.See(e)
	}
	all := s.All()
	if a := all[0]; string(a.Input) != `{"model":"p/m","tools":[]}` || a.Model != "p/n" || a.Usage.Total != 7 || *a.Cost != 0.5 {
		t.Errorf("%+v", a)
	}
	if string(all[2].Input) != `{"x": [1]}` || string(all[3].Input) != `"{broken"` {
		t.Errorf("%s, %s", all[2].Input, all[3].Input)
	}
}

func TestDecisionsEndWithTheirChild(t *testing.T) {
	l := agentLog("plan-solve")
	l.child("plan-1")
	l.in("plan-1", reply(message.StopCalls, "", asks("d", "set_plan")))
	wantSteps(t, l, "llm-6 completed 1 ", "tool-6.0 pending 0 -")
	l.in("plan-1", ends(1, session.Completed, ""))
	wantSteps(t, l, "llm-6 completed 1 ", "tool-6.0 completed 0 -")
}

// Whatever a log holds, its steps can be told, in bounds and as JSON.
func TestStepsAndStatsAreTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, brief, tally := session.Steps{}, session.Steps{Brief: 2}, session.NewTally()
		for _, e := range anything(t) {
			whole.See(e)
			brief.See(e)
			tally.See(e)
		}
		whole.Abandon(at(99))
		if len(whole.All()) != len(brief.All()) {
			t.Fatalf("%d steps, in short %d", len(whole.All()), len(brief.All()))
		}
		ids := map[string]bool{}
		for i, s := range whole.All() {
			if b, err := json.Marshal(s); err != nil || !utf8.Valid(b) {
				t.Fatalf("%+v: %v", s, err)
			}
			if short := brief.All()[i]; short.Output != nil && len(*short.Output) > 2 {
				t.Fatalf("in short: %q", *short.Output)
			}
			ids[s.ID] = true
		}
		stats := tally.Stats(false)
		n := stats.LLM.Count
		for _, f := range stats.Tools {
			n += f.Count
		}
		if n > len(whole.All()) {
			t.Fatalf("%d steps are counted of %d", n, len(whole.All()))
		}
	})
}

func TestStatsCountTurnsAndTime(t *testing.T) {
	l := newLog(task(), turn(1), &session.StepStart{Step: 1}, &session.RequestRetried{Attempt: 1})
	r := l.add(reply(message.StopCalls, "", asks("a", "x")))
	l.add(begun(id(r, 0), 1), brought(id(r, 0), session.OutcomeError), ends(1, session.Interrupted, session.ReasonNetwork), continued(1),
		reply(message.StopEnd, "done"), ends(1, session.Completed, ""))
	l.child("plan-1")
	l.child("node/a/try-2")
	tally := session.NewTally()
	for _, e := range l.events {
		tally.See(e)
	}
	s := tally.Stats(false)
	check(t, "turns", fmt.Sprint(s.TurnEnds), "map[completed:1 interrupted: network:1]")
	check(t, "children", fmt.Sprint(s.Children), "map[node:1 plan:1]")
	check(t, "the model", s.LLM, session.Effort{Count: 2, TotalMs: 2000, MaxMs: 2000})
	check(t, "the tool", s.Tools["x"], session.Effort{Count: 1, Failed: 1, TotalMs: 1000, MaxMs: 1000})
	check(t, "retries", s.Retries, 1)
	check(t, "tokens", s.Usage.Total, 20)
}
