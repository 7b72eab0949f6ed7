package agent_test

import (
	"context"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

const lookThenAnswer = `
replies:
  - when: {ordinal: 1}
    text: Let me look.
    tool_calls: [{name: look, arguments: {v: a}}]
  - text: "seen: {{tool_result}}"
`

func TestALoopEndsWithTheAnswerAndWritesItsStepsInOrder(t *testing.T) {
	r := newRig(t, lookThenAnswer, read("look"))
	r.run("", session.Completed, "")
	r.answer("seen: look says a")
	var kinds []string
	for _, e := range r.log.events[2:] {
		if e.Type != "assistant/chunk" {
			kinds = append(kinds, string(e.Type))
		}
	}
	checkList(t, "the log", kinds,
		"user/message", "turn/start",
		"step/start", "request/header", "assistant/message", "tool/call", "tool/result", "step/end",
		"step/start", "request/header", "assistant/message", "step/end", "turn/end")
	check(t, "events that were observed", len(r.observed), len(r.log.events)-2)
}

func TestARequestHoldsAllThatTheModelNeeds(t *testing.T) {
	r := newRig(t, lookThenAnswer, read("look"), execute("act"))
	r.set(func(s *session.Settings) { s.Tools = []string{"look"} })
	r.run("", session.Completed, "")
	check(t, "requests", len(r.asked), 2)
	for i, req := range r.asked {
		check(t, "the system prompt", req.System, "be good")
		check(t, "the tools offered", len(req.Tools), 1)
		check(t, "the label", req.Label, provider.Label{Ordinal: i + 1, Attempt: 1, Agent: "react", System: "be good"})
		check(t, "the messages", len(req.Messages), 1+2*i)
	}
	check(t, "the task", r.asked[0].Messages[0].Text(), "the task")
	heads := data[*session.RequestHeader](r.log)
	checkList(t, "the tools in the header", heads[0].Tools, "look")
	check(t, "the prompt's hash in every header", heads[0].Prompt, heads[1].Prompt)
}

func TestTheCheckpointShowsAStepBeforeTheNextModelCall(t *testing.T) {
	r := newRig(t, model(nil), read("look"))
	asked := 0
	r.Provider = model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		asked++
		// All but this step's own start, which nothing depends on.
		if open := len(r.log.events) - r.log.committed; open != 2 {
			t.Errorf("request %d: %d events are not in the checkpoint", asked, open)
		}
		return parse(t, lookThenAnswer).Stream(ctx, req, emit)
	})
	r.run("", session.Completed, "")
	check(t, "requests", asked, 2)
}

func TestACompletedSessionIsNotRunAgain(t *testing.T) {
	r := newRig(t, `replies: [{text: done}]`)
	r.run("", session.Completed, "")
	n := len(r.log.events)
	r.run("", session.Completed, "")
	r.run(" \n", session.Completed, "") // a blank prompt is none
	check(t, "events", len(r.log.events), n)
	check(t, "requests", len(r.asked), 1)
}

func TestAPromptIsANewTurn(t *testing.T) {
	r := newRig(t, `replies: [{text: "you said {{last_user}}"}]`)
	r.run("", session.Completed, "")
	r.run("go on\x00", session.Completed, "")
	r.answer("you said go on\uFFFD")
	check(t, "the turn", r.log.state.Main().Turn.N, 2)
	check(t, "its steps", r.log.state.Main().Turn.Steps, 1)
}

// F041: whatever is said when, the model hears all of it, once and in order.
func TestNoPromptIsLost(t *testing.T) {
	full := newRig(t, `replies: [{when: {last_user: two}, text: b}, {text: a}]`)
	full.run("", session.Completed, "")
	full.run("two", session.Completed, "")
	for k := 2; k <= len(full.log.events); k++ {
		r := newRig(t, `replies: [{text: c}]`)
		r.log = full.log.reopened(k)
		r.Journal = r.log
		heard := 0
		for _, e := range full.log.events[:k] {
			if d, ok := e.Data.(*session.UserMessage); ok && d.Source == session.FromUser {
				heard++
			}
		}
		r.run("three", session.Completed, "")
		want := []string{"the task", "three"}
		if heard > 0 {
			want = []string{"the task", "two", "three"}
		}
		var got []string
		for _, m := range r.asked[len(r.asked)-1].Messages {
			if m.Role == "user" {
				got = append(got, m.Text())
			}
		}
		checkList(t, "what the model heard", got, want...)
	}
}

// A user's message and no turn that took it up: the next run does.
func TestAMessageThatNoTurnHasHeardBeginsOne(t *testing.T) {
	r := newRig(t, `replies: [{text: "you said {{last_user}}"}]`)
	r.run("", session.Completed, "")
	_ = r.log.Append("", &session.UserMessage{Source: session.FromUser, Text: "one more"})
	r.reopen(len(r.log.events))
	r.run("", session.Completed, "")
	r.answer("you said one more")
	check(t, "the turn", r.log.state.Main().Turn.N, 2)
}

func TestTooManyStepsPauseAndMoreGoOn(t *testing.T) {
	r := newRig(t, `
replies:
  - when: {ordinal: {max: 3}}
    tool_calls: [{name: look, arguments: {v: "{{ordinal}}"}}]
  - text: enough
`, read("look"))
	r.set(func(s *session.Settings) { s.Limits.MaxSteps = 2 })
	r.run("", session.Paused, session.ReasonMaxSteps)
	check(t, "model calls", len(r.asked), 2)
	checkList(t, "results", results(r.log), "0 ok", "0 ok") // the step is whole

	r.run("", session.Paused, session.ReasonMaxSteps) // the limit is absolute
	check(t, "model calls", len(r.asked), 2)
	r.set(func(s *session.Settings) { s.Limits.MaxSteps = 4 })
	r.run("", session.Completed, "")
	check(t, "model calls", len(r.asked), 4)
	r.run("and now?", session.Completed, "") // a new turn has all its steps
	r.answer("enough")
}

func TestACutReplyIsContinuedAndJoined(t *testing.T) {
	r := newRig(t, `
replies:
  - {when: {ordinal: 1}, text: "one ", stop: length}
  - {when: {ordinal: 2}, text: "two ", stop: length}
  - {when: {last_user: "Go on exactly"}, text: three}
`)
	r.run("", session.Completed, "")
	r.answer("one two three")

	r = newRig(t, `replies: [{text: x, stop: length}]`)
	r.run("", session.Paused, session.ReasonMaxOutput)
	check(t, "model calls", len(r.asked), 4)
	r.run("", session.Paused, session.ReasonMaxOutput)
	check(t, "model calls, after a person went on", len(r.asked), 8)
	r.answer("xxxxxxxx")
}

func TestABlankReplyIsAskedForOnceMore(t *testing.T) {
	r := newRig(t, `replies: [{when: {ordinal: 1}, text: " "}, {text: here}]`)
	r.run("", session.Completed, "")
	r.answer("here")
	checkList(t, "the second request", r.asked[1].Messages, r.asked[0].Messages...)

	r = newRig(t, `replies: [{text: ""}]`)
	r.run("", session.Failed, session.ReasonIncomplete)
	check(t, "model calls", len(r.asked), 2)
}

// What a strategy may get wrong is a failed turn, not a lost session.
func TestAnUnknownActionFailsTheTurn(t *testing.T) {
	r := newRig(t, `replies: [{text: x}]`)
	r.Strategy = func(*session.State, string) agent.Action { return nil }
	end := r.run("", session.Failed, session.ReasonInternal)
	if end.End.Error == nil {
		t.Error("it does not say why")
	}
}

func TestASessionGoesOnAfterEveryWayToEnd(t *testing.T) {
	for _, status := range []session.Status{session.Interrupted, session.Failed, session.Paused, session.Cancelled} {
		r := newRig(t, `replies: [{text: done}]`)
		_ = r.log.Append("", &session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1},
			&session.TurnEnd{Turn: 1, Status: status})
		r.run("", session.Completed, "")
		check(t, "the turn after "+string(status), r.log.state.Main().Turn.N, 1)
	}
}
