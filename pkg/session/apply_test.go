package session_test

import (
	"encoding/json"
	"reflect"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

func TestApplyIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s session.State
		for _, e := range anything(t) {
			s.Apply(e)
			if s.Seq != e.Seq || s.Epoch != e.Epoch || !s.Updated.Equal(e.Time) {
				t.Fatalf("after event %d the state stands at %d", e.Seq, s.Seq)
			}
			// Every view must bear every state.
			status, reason := s.Status()
			if status == "" || status == session.Active && reason != "" {
				t.Fatalf("status %q, reason %q", status, reason)
			}
			for _, name := range []string{"", "plan-1"} {
				if sc := s.Scope(name); sc != nil {
					_, _, _ = sc.Messages(), sc.Answer(), sc.Unheard()
				}
			}
			_ = s.Main().Pending()
			for _, agent := range []string{"", "plan-solve", "fusion", "orchestrator"} {
				s.Settings.Agent = agent
				_, _ = s.AgentState(session.Look{}), s.Open()
			}
		}
	})
}

func TestAReplayLeadsToTheSameState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var live, replayed session.State
		for _, e := range anything(t) {
			live.Apply(e)
			b, err := json.Marshal(e)
			var back session.Event
			if err == nil {
				err = json.Unmarshal(b, &back)
			}
			if err != nil {
				return // a negative id, which no writer makes, can't be read either
			}
			replayed.Apply(back)
		}
		for _, name := range []string{"", "plan-1"} {
			a, b := live.Scope(name), replayed.Scope(name)
			if (a == nil) != (b == nil) {
				t.Fatalf("scope %q is there once only", name)
			}
			if a != nil && (!reflect.DeepEqual(a.Messages(), b.Messages()) || a.Answer() != b.Answer() || a.Turn != b.Turn) {
				t.Fatalf("scope %q differs\nlive     %+v\nreplayed %+v", name, a, b)
			}
		}
	})
}

func TestATurnThatGoesOnKeepsItsCounters(t *testing.T) {
	l := newLog(task(), turn(1), &session.StepStart{Step: 1}, reply(message.StopCalls, "", asks("c", "x")))
	l.add(ends(1, session.Interrupted, session.ReasonCrash), continued(1))
	check(t, "steps of the continued turn", l.main().Turn.Steps, 1)
	check(t, "it being open", l.main().Turn.Open, true)
	l.add(brought(id(6, 0), session.OutcomeOK), &session.StepEnd{Step: 1}, reply(message.StopEnd, "done"))
	check(t, "steps", l.main().Turn.Steps, 2)
	check(t, "steps of the scope", l.main().Steps, 2)
	check(t, "iterations", l.state.Iterations, 2)
	check(t, "tokens", l.state.Usage.Total, 20)

	l.add(ends(1, session.Completed, ""), says("more"), turn(2))
	check(t, "steps of the second turn", l.main().Turn.Steps, 0)
	check(t, "its number", l.main().Turn.N, 2)
	check(t, "its first entry", l.main().Turn.First, 3)
	check(t, "steps of the scope", l.main().Steps, 2)
	l.add(continued(1)) // of a turn that is not the current one
	check(t, "steps", l.main().Turn.Steps, 0)
}

func TestGoingOnForgetsHowTheTurnHadEnded(t *testing.T) {
	l := newLog(task(), turn(1), &session.TurnEnd{
		Turn: 1, Status: session.Interrupted, Reason: session.ReasonRateLimit, Error: &session.Failure{Kind: "rate_limit"}, RetryAt: at(900),
	})
	check(t, "retryAt", l.main().Turn.RetryAt, at(900))
	l.add(continued(1))
	if tn := l.main().Turn; tn.Status != "" || tn.Reason != "" || tn.Error != nil || !tn.RetryAt.IsZero() {
		t.Errorf("the open turn still says %+v", tn)
	}
}

// A crash must not give a turn more than it would have had: only a person, by
// going on with one that had stopped by itself, does.
func TestOnlyATurnThatHadStoppedByItselfCountsAnew(t *testing.T) {
	for status, anew := range map[session.Status]bool{
		session.Interrupted: false, session.Cancelled: false, session.Paused: true, session.Failed: true,
	} {
		l := newLog(task(), turn(1), ends(1, status, ""))
		before := l.main().Turn.Since
		now := l.add(continued(1))
		want := before
		if anew {
			want = now
		}
		check(t, "since, after "+string(status), l.main().Turn.Since, want)
	}
}

func TestTriesCountRetriesAndResumes(t *testing.T) {
	l := newLog(task(), turn(1))
	for i, d := range []session.Data{
		&session.StepStart{Step: 1}, &session.RequestRetried{Attempt: 1}, &session.RequestRetried{Attempt: 2},
		&session.StepStart{Step: 1}, // after a crash
	} {
		l.add(d)
		check(t, "tries", l.main().Tries, i+1)
	}
	l.add(reply(message.StopEnd, "yes"))
	check(t, "tries after the reply", l.main().Tries, 0)
}

func TestStreamedTextIsVoidAfterARetryAndAReply(t *testing.T) {
	chunk := func(s string) session.Data { return &session.AssistantChunk{Text: s} }
	l := newLog(task(), turn(1), &session.StepStart{Step: 1}, chunk("Hel"), chunk("lo"))
	check(t, "partial", l.main().Partial(), "Hello")
	for _, d := range []session.Data{
		&session.RequestRetried{Attempt: 1}, &session.StepStart{Step: 1}, turn(2), reply(message.StopEnd, "Hello there"),
	} {
		l.add(chunk("x"), d)
		check(t, "partial after "+string(d.Type()), l.main().Partial(), "")
	}
	l.add(chunk("cut"), ends(2, session.Interrupted, session.ReasonNetwork))
	check(t, "partial of the ended turn", l.main().Partial(), "cut")
}

func TestAttemptsCountOpeningsWithoutAFinishedStep(t *testing.T) {
	l := newLog(task(), turn(1))
	l.add(&session.Opened{Attempt: 2}, &session.Opened{Attempt: 3})
	check(t, "attempts", l.state.Attempts, 3)
	l.add(&session.StepEnd{Step: 1})
	check(t, "attempts", l.state.Attempts, 0)
}

func TestACallIsInDoubtFromItsBeginningToItsResult(t *testing.T) {
	l := newLog(task(), turn(1))
	r := l.add(reply(message.StopCalls, "", asks("a", "x"), asks("b", "y")))
	c := l.main().Pending()[0]
	check(t, "in doubt before it began", c.InDoubt(), false)
	l.add(begun(c.ID, 1))
	check(t, "in doubt", c.InDoubt(), true)
	l.add(&session.OutcomeSettled{Call: c.ID, Verdict: session.VerdictRerun})
	check(t, "the verdict", c.Verdict.Verdict, session.VerdictRerun)
	l.add(begun(c.ID, 2))
	check(t, "attempt", c.Attempt, 2)
	check(t, "a verdict on an attempt that came later", c.Verdict, nil)
	l.add(brought(c.ID, session.OutcomeOK))
	check(t, "in doubt after its result", c.InDoubt(), false)
	check(t, "the pending call", l.main().Pending()[0].ID, id(r, 1))
	l.add(brought(c.ID, session.OutcomeError)) // a second result
	check(t, "the outcome", c.Result.Outcome, session.OutcomeOK)
	check(t, "calls that ran", l.state.ToolCalls, 1)
	l.add(brought(id(r, 1), session.OutcomeDenied))
	check(t, "calls that ran", l.state.ToolCalls, 1)
	if d := l.state.Denied; len(d) != 1 || d[0] != "y" {
		t.Errorf("denied: %v", d)
	}
}

// What the model was told of a reply stays, whatever is said of it later.
func TestEventsOfCallsThatWereLeftBehindChangeNothing(t *testing.T) {
	l := newLog(task(), turn(1))
	r := l.add(reply(message.StopCalls, "", asks("a", "x")))
	l.add(says("stop that"))
	before := l.main().Messages()
	l.add(brought(id(r, 0), session.OutcomeOK), begun(id(r, 0), 1))
	if after := l.main().Messages(); !reflect.DeepEqual(before, after) {
		t.Errorf("before %+v\nafter  %+v", before, after)
	}
}

func TestAChildKeepsItsOwnConversation(t *testing.T) {
	l := newLog(task(), turn(1))
	seq := l.state.Seq + 1
	d := reply(message.StopEnd, "the plan")
	l.state.Apply(session.Event{Seq: seq, Scope: "plan-1", Type: d.Type(), Data: d})
	check(t, "entries of the session", len(l.main().Entries), 1)
	check(t, "the child's answer", l.state.Scope("plan-1").Answer(), "the plan")
	check(t, "iterations, children included", l.state.Iterations, 1)
	if l.state.Scope("other") != nil {
		t.Error("a scope in which nothing happened is there")
	}
}

// A reply of many pieces is gathered in memory that grows as it does: eight
// times as many pieces allocate about eight times as much, not 64 times.
func TestAStreamedReplyGrowsWithoutBeingCopiedEachTime(t *testing.T) {
	allocated := func(pieces int) uint64 {
		var before, after runtime.MemStats
		var s session.State
		runtime.ReadMemStats(&before)
		s.Apply(session.Event{Seq: 1, Data: &session.StepStart{}})
		for i := range pieces {
			s.Apply(session.Event{Seq: int64(i) + 2, Data: &session.AssistantChunk{Text: "0123456789abcdef"}})
		}
		runtime.ReadMemStats(&after)
		check(t, "the text", len(s.Main().Partial()), 16*pieces)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(2000), allocated(16000); many > 24*few {
		t.Errorf("2000 pieces allocate %d bytes, 16000 pieces %d", few, many)
	}
}

// What no writer makes, and a log may still say: it can be gone on with.
func TestATurnThatEndsWithoutAStatusIsInterrupted(t *testing.T) {
	l := newLog(task(), turn(1), ends(1, "", session.ReasonCrash))
	status, reason := l.state.Status()
	check(t, "status", status, session.Interrupted)
	check(t, "reason", reason, session.ReasonCrash)
}
