package session_test

import (
	"fmt"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// asked is a request of so many characters and a reply that tells its tokens.
func asked(model string, chars int, tokens int64) []session.Data {
	r := &session.AssistantMessage{Parts: []message.Part{message.Text("yes")}, Model: model, Usage: message.Usage{Input: tokens, Total: tokens + 1}}
	return []session.Data{&session.RequestHeader{Model: model, Chars: chars}, r}
}

func TestTheBudgetIsWhatWasSaidElseWhatFitsIntoTheWindow(t *testing.T) {
	l := newLog(&session.SettingsChanged{Settings: session.Settings{Model: "p/m"}}, task(), turn(1))
	check(t, "a budget of nothing known", l.state.ContextBudget(0), 0)
	check(t, "a first budget", l.state.ContextBudget(1000), 2400)
	l.add(asked("p/m", 1500, 1000)...)
	check(t, "a budget of Chinese", l.state.ContextBudget(1000), 1200)
	for range 20 {
		l.add(asked("p/m", 4000, 1000)...)
	}
	if n := l.state.ContextBudget(1000); n < 3190 || n > 3210 {
		t.Errorf("a budget of English is %d", n)
	}
	l.add(asked("p/other", 1, 1000)...) // a child's, of another model
	l.add(asked("p/m", 0, 1000)...)     // an older version did not write it down
	l.add(asked("p/m", 100, 0)...)      // a service that does not count
	if n := l.state.ContextBudget(1000); n < 3190 || n > 3210 {
		t.Errorf("after replies that tell nothing it is %d", n)
	}
	chain := newLog(&session.SettingsChanged{Settings: session.Settings{Model: "p/n, p/m"}}, task(), turn(1))
	chain.add(asked("p/m", 1500, 1000)...)
	check(t, "a budget of a chain's second", chain.state.ContextBudget(1000), 1200)
	l.add(&session.SettingsChanged{Settings: session.Settings{Model: "p/m", ContextChars: 500}})
	check(t, "a budget that was said", l.state.ContextBudget(1000), 500)
	l.add(&session.SettingsChanged{Settings: session.Settings{Model: "p/new"}})
	check(t, "a budget of another model", l.state.ContextBudget(1000), 2400)
}

func TestAServiceThatCountsNonsenseDoesNotChangeMuch(t *testing.T) {
	for _, tokens := range []int64{1, 1 << 40} {
		l := newLog(&session.SettingsChanged{Settings: session.Settings{Model: "p/m"}}, task(), turn(1))
		l.add(asked("p/m", 10000, tokens)...)
		if n := l.state.CharsPerToken(); n < 0.2 || n > 10 {
			t.Errorf("%d tokens: %v characters each", tokens, n)
		}
	}
}

func TestARequestThatWasTooLongIsKnownUntilTheReply(t *testing.T) {
	tooLong := &session.RequestRetried{Attempt: 1, Error: &session.Failure{Kind: "context_length", Message: "too long"}}
	l := newLog(task(), turn(1), &session.RequestHeader{Chars: 1234}, &session.RequestRetried{Attempt: 1, Error: &session.Failure{Kind: "server"}})
	check(t, "what was refused by a broken service", l.main().Refused, 0)
	l.add(tooLong)
	check(t, "what was refused", l.main().Refused, 1234)
	l.add(reply(message.StopEnd, "yes"))
	check(t, "what was refused before the reply", l.main().Refused, 0)
	l.add(says("more"), turn(2), tooLong)
	check(t, "what was refused of an unknown size", l.main().Refused, 1)
	l.add(ends(2, session.Paused, session.ReasonContextLength), continued(2))
	check(t, "what was refused before the turn went on", l.main().Refused, 0)
}

// A question for a summary that was too long tells how small a request has to
// be.
func TestAQuestionThatWasTooLongTellsMore(t *testing.T) {
	tooLong := &session.Failure{Kind: "context_length"}
	l := newLog(task(), turn(1), &session.RequestHeader{Chars: 9000}, &session.RequestRetried{Error: tooLong})
	for i, c := range []struct{ asked, refused int }{{5000, 5000}, {7000, 5000}, {0, 5000}, {2500, 2500}} {
		name := fmt.Sprint("summarise-", i+1)
		l.state.Apply(session.Event{Seq: l.state.Seq + 1, Scope: name, Data: &session.RequestHeader{Chars: c.asked}})
		l.add(&session.CompactFailed{Error: tooLong, From: name})
		check(t, "what is too long", l.main().Refused, c.refused)
	}
}

// What was tried counts for the turn; a child that brought a summary, or none,
// is let go of.
func TestSummariesOfATurnAreCounted(t *testing.T) {
	l := newLog(task(), turn(1))
	failed := func(kind string) session.Data {
		return &session.CompactFailed{Error: &session.Failure{Kind: kind}, From: "summarise-1"}
	}
	l.state.Apply(session.Event{Seq: l.state.Seq + 1, Scope: "summarise-1", Data: &session.ChildCreated{Task: "long"}})
	l.add(failed("context_length"))
	if l.state.Scope("summarise-1") != nil {
		t.Error("the child is still there")
	}
	l.add(failed("empty"), failed("superseded"), &session.CompactFailed{}, &session.ContextCompacted{Summary: "so far", From: "summarise-5"}, &session.ContextCompacted{Summary: " "})
	l.main().Summing.Why = nil
	check(t, "what was tried", l.main().Summing, session.Summing{Done: 1, Failed: 2, Long: 1})
	check(t, "questions asked", l.main().Concluded("summarise"), 4)
	check(t, "the summary", l.main().Cut.Summary, "so far")
	l.add(ends(1, session.Interrupted, session.ReasonCrash), continued(1))
	check(t, "failures of a turn that goes on", l.main().Summing.Failed, 2)
	l.add(ends(1, session.Paused, session.ReasonContextLength), continued(1))
	check(t, "what was tried since it had stopped", l.main().Summing, session.Summing{})
}
