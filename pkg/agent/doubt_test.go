package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// inDoubt runs until the calls of the first reply have begun, and goes on as
// if the process had been killed there. What the tools did is undone; key-1…
// are the keys of the calls.
func inDoubt(t *testing.T, script string, tools ...tool.Tool) *rig {
	t.Helper()
	r := newRig(t, script, tools...)
	r.run("", session.Completed, "")
	for i, e := range r.log.events {
		if e.Type == "tool/result" {
			r.reopen(i)
			break
		}
	}
	for _, t := range tools {
		switch f := t.(type) {
		case *fake:
			f.keys = nil
		case *file:
			f.keys, f.content = nil, map[string]string{}
		}
	}
	if len(r.log.state.Main().Pending()) == 0 {
		t.Fatal("nothing is in doubt")
	}
	return r
}

func (r *rig) lastResult() *session.ToolResult {
	r.Helper()
	all := data[*session.ToolResult](r.log)
	if len(all) == 0 {
		r.Fatal("there is no result")
	}
	return all[len(all)-1]
}

func TestACallThatMayBeRepeatedIs(t *testing.T) {
	idempotent := &fake{name: "ping", traits: tool.Traits{Class: tool.Network, Idempotent: true}}
	for _, f := range []*fake{read("look"), idempotent} {
		for _, policy := range []string{"tell", "stop", "rerun"} {
			r := inDoubt(t, plays(f.name+" a"), f)
			r.set(func(s *session.Settings) { s.OnUnknown = policy })
			r.run("", session.Completed, "")
			checkList(t, "runs", f.keys, "key-1")
			check(t, "the outcome", r.lastResult().Outcome, session.OutcomeOK)
			begun := data[*session.ToolCall](r.log)
			check(t, "the second attempt", begun[1].Attempt, 2)
			check(t, "its key", begun[1].Key, begun[0].Key)
		}
	}
}

func TestTheOtherCallsOfTheReplyRunAsUsual(t *testing.T) {
	look, act := read("look"), execute("act")
	r := inDoubt(t, plays("act a", "look b", "act c"), act, look)
	r.run("", session.Completed, "")
	checkList(t, "results", results(r.log), "0 unknown", "1 ok", "2 unknown")
	check(t, "runs that could be the second", len(act.keys), 0)
}

func TestAnUnknownOutcomeIsToldNotGuessed(t *testing.T) {
	act := execute("act")
	r := inDoubt(t, plays("act a"), act)
	r.run("", session.Completed, "")
	check(t, "runs", len(act.keys), 0)
	check(t, "the outcome", r.lastResult().Outcome, session.OutcomeUnknown)
	told := r.asked[0].Messages[2].Parts[0].Result
	if !told.IsError || !strings.Contains(told.Text, "unknown") {
		t.Errorf("the model is told %+v", told)
	}
}

func TestOnUnknownStopWaitsForAPerson(t *testing.T) {
	act := execute("act")
	r := inDoubt(t, plays("act a", "look b"), act, read("look"))
	r.set(func(s *session.Settings) { s.OnUnknown = "stop" })
	for range 2 { // asking again changes nothing
		end := r.run("", session.Paused, session.ReasonUnknownOutcome)
		call := r.log.state.Main().Pending()[0].ID.String()
		if end.End.Error == nil || !strings.Contains(end.End.Error.Message, call) {
			t.Errorf("the end does not name call %s: %+v", call, end.End.Error)
		}
	}
	check(t, "runs", len(act.keys), 0)
	check(t, "model calls", len(r.asked), 0)

	call := r.log.state.Main().Pending()[0].ID
	_ = r.log.Append("", &session.OutcomeSettled{Call: call, Verdict: session.VerdictDone, Text: "it is in the list"})
	r.run("", session.Completed, "")
	checkList(t, "results", results(r.log), "0 ok", "1 ok")
}

func TestOnUnknownRerunRunsWithTheSameKey(t *testing.T) {
	act := execute("act")
	r := inDoubt(t, plays("act a"), act)
	r.set(func(s *session.Settings) { s.OnUnknown = "rerun" })
	r.run("", session.Completed, "")
	checkList(t, "runs", act.keys, "key-1")

	for range 3 { // killed again and again
		for i, e := range r.log.events {
			if e.Type == "tool/result" {
				r.reopen(i)
				break
			}
		}
		r.run("", session.Completed, "")
	}
	for i, c := range data[*session.ToolCall](r.log) {
		check(t, "the attempt", c.Attempt, i+1)
		check(t, "the key", c.Key, "key-1")
	}
	check(t, "attempts", len(data[*session.ToolCall](r.log)), 5)
}

func TestAPersonsWordSettlesACall(t *testing.T) {
	for verdict, c := range map[session.Verdict]struct {
		outcome session.Outcome
		text    string
		runs    int
	}{
		session.VerdictDone:    {session.OutcomeOK, "did happen. They add: by hand", 0},
		session.VerdictNotDone: {session.OutcomeError, "did not happen. They add: by hand", 0},
		session.VerdictRerun:   {session.OutcomeOK, "act says a", 1},
	} {
		for _, policy := range []string{"tell", "stop"} {
			act := execute("act")
			r := inDoubt(t, plays("act a"), act)
			r.set(func(s *session.Settings) { s.OnUnknown = policy })
			_ = r.log.Append("", &session.OutcomeSettled{Call: r.log.state.Main().Pending()[0].ID, Verdict: verdict, Text: "by hand"})
			r.run("", session.Completed, "")
			check(t, "the outcome", r.lastResult().Outcome, c.outcome)
			check(t, "runs", len(act.keys), c.runs)
			if !strings.Contains(r.lastResult().Text, c.text) {
				t.Errorf("%s: the model is told %q", verdict, r.lastResult().Text)
			}
		}
	}
}

func TestAFileTellsWhatBecameOfItsWrite(t *testing.T) {
	for name, c := range map[string]struct {
		now     string
		err     error
		outcome session.Outcome
		runs    int
	}{
		"as wanted":          {"new", nil, session.OutcomeOK, 0},
		"as before":          {"", nil, session.OutcomeOK, 1},
		"something else":     {"other", nil, session.OutcomeUnknown, 0},
		"it can't be looked": {"new", errors.New("gone"), session.OutcomeUnknown, 0},
	} {
		put := newFile()
		r := inDoubt(t, plays("put new"), put)
		put.content["f"], put.hashErr = c.now, c.err
		r.run("", session.Completed, "")
		check(t, name+": the outcome", r.lastResult().Outcome, c.outcome)
		check(t, name+": runs", len(put.keys), c.runs)
	}
	// No hash was recorded: it is as any other effect.
	put := newFile()
	r := inDoubt(t, plays("put unrecognisable"), put)
	r.run("", session.Completed, "")
	check(t, "the outcome", r.lastResult().Outcome, session.OutcomeUnknown)
}

func TestACallInDoubtOfAToolThatIsGoneStaysUnknown(t *testing.T) {
	for _, name := range []string{"act", "put", "look"} {
		put := newFile()
		r := inDoubt(t, plays(name+" new"), put, execute("act"), read("look"))
		r.Tools = newRig(t, `replies: [{text: x}]`, read("other")).Tools
		r.run("", session.Completed, "")
		check(t, "the outcome of "+name, r.lastResult().Outcome, session.OutcomeUnknown)
	}
}

// F026: the user speaks while calls are open. None of them runs, none twice,
// and the history stays whole.
func TestANewPromptSettlesWhatIsOpen(t *testing.T) {
	act, look, put := execute("act"), read("look"), newFile()
	for _, policy := range []string{"tell", "rerun"} {
		for calls, want := range map[string][]string{"act a, look b": {"0 unknown", "1 not_run"}, "look b, put new": {"0 not_run", "1 ok"}} {
			r := inDoubt(t, plays(strings.Split(calls, ", ")...), act, look, put)
			r.set(func(s *session.Settings) { s.OnUnknown = policy })
			put.content["f"] = "new"
			r.run("do something else", session.Completed, "")
			checkList(t, policy+": results of "+calls, results(r.log), want...)
			check(t, policy+": runs", len(act.keys)+len(look.keys)+len(put.keys), 0)
			msgs := r.asked[0].Messages
			check(t, "what the model hears last", msgs[len(msgs)-1].Text(), "do something else")
			check(t, "the turn", r.log.state.Main().Turn.N, 2)
		}
	}
}

func TestCallsThatHadNotBegunAreNotRunAfterANewPrompt(t *testing.T) {
	act := execute("act")
	r := newRig(t, plays("act a"), act)
	ctx, cancel := context.WithCancel(t.Context())
	r.Observe = func(_ string, d session.Data) {
		if d.Type() == "assistant/message" {
			cancel()
		}
	}
	r.runIn(ctx, "", session.Interrupted, session.ReasonSignal)
	r.run("stop that", session.Completed, "")
	check(t, "the outcome", r.lastResult().Outcome, session.OutcomeNotRun)
	check(t, "runs", len(act.keys), 0)
	check(t, "steps begun and ended", len(data[*session.StepEnd](r.log)), 2)
}

// The prompt is not taken up; that is said, and the session is as it was.
func TestANewPromptDoesNotOverruleOnUnknownStop(t *testing.T) {
	act := execute("act")
	r := inDoubt(t, plays("act a"), act)
	r.set(func(s *session.Settings) { s.OnUnknown = "stop" })
	end := r.run("go on", session.Paused, session.ReasonUnknownOutcome)
	if end.End.Error == nil || !strings.Contains(end.End.Error.Message, "prompt was not taken up") {
		t.Errorf("the end says %+v", end.End.Error)
	}
	check(t, "model calls", len(r.asked), 0)
	check(t, "calls in doubt", len(r.log.state.Main().Pending()), 1)
}
