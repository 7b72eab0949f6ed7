package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// looking asks for a look again and again and uses 10 tokens each time, until
// it is asked the sixth time.
func looking() model {
	asked := 0
	return func(context.Context, provider.Request, func(provider.Event)) (provider.Reply, error) {
		if asked++; asked > 5 {
			return says("done"), nil
		}
		return provider.Reply{
			Stop: message.StopCalls, Usage: message.Usage{Input: 8, Output: 2, Total: 10},
			Parts: []message.Part{message.Call(message.ToolCall{ID: "1", Name: "look", Arguments: `{"v":"x"}`})},
		}, nil
	}
}

func perTokenCent(_ string, u message.Usage) *float64 {
	cost := float64(u.Input+u.Output) / 100
	return &cost
}

// A limit of the session pauses it with what it has; a higher one goes on; and
// resuming it without does not get around it.
func TestLimitsOfASessionPauseItUntilTheyAreRaised(t *testing.T) {
	for name, c := range map[string]struct {
		limits, higher session.Limits
		reason         session.Reason
		asked          int
	}{
		"steps":  {session.Limits{MaxTotalSteps: 2}, session.Limits{MaxTotalSteps: 10}, session.ReasonMaxSteps, 2},
		"tokens": {session.Limits{MaxTotalTokens: 25}, session.Limits{MaxTotalTokens: 1000}, session.ReasonMaxTokens, 3},
		"cost":   {session.Limits{MaxCost: 0.15}, session.Limits{}, session.ReasonMaxCost, 2},
	} {
		t.Run(name, func(t *testing.T) {
			look := read("look")
			r := newRig(t, looking(), look)
			r.Price = perTokenCent
			r.set(func(s *session.Settings) { s.Limits = c.limits })
			end := r.run("", session.Paused, c.reason)
			check(t, "requests", len(r.asked), c.asked)
			check(t, "calls", len(look.keys), c.asked) // the step that reached it was finished
			if end.End.Error == nil || !strings.Contains(end.End.Error.Message, "raises it") {
				t.Errorf("%+v", end.End.Error)
			}
			r.run("", session.Paused, c.reason)
			r.run("and more", session.Paused, c.reason)
			check(t, "requests", len(r.asked), c.asked)
			r.set(func(s *session.Settings) { s.Limits = c.higher })
			r.run("", session.Completed, "")
			check(t, "requests", len(r.asked), 6)
		})
	}
}

// sharing runs n children whose model calls all last until each child has
// decided to ask, and returns how many of them asked.
func sharing(t *testing.T, n int, limits session.Limits, task string, reason session.Reason) int {
	t.Helper()
	var asked atomic.Int32
	decided, all := 0, make(chan struct{})
	r := newRig(t, model(nil))
	r.Runner.Provider = model(func(context.Context, provider.Request, func(provider.Event)) (provider.Reply, error) {
		asked.Add(1)
		<-all
		return says("x"), nil
	})
	decide := func(s *session.State, scope string) agent.Action {
		if decided++; decided == n {
			close(all)
		}
		return agent.React(s, scope)
	}
	r.Strategy = func(*session.State, string) agent.Action {
		var children []agent.Child
		for i := range n {
			children = append(children, agent.Child{Scope: fmt.Sprint("child-", i), Begin: session.ChildCreated{Task: task}, Strategy: decide})
		}
		return agent.Spawn{Children: children}
	}
	r.Price = perTokenCent
	r.set(func(s *session.Settings) { s.Limits = limits })
	r.run("", session.Paused, reason)
	check(t, "replies", r.log.state.Iterations, int(asked.Load())) // what was under way is recorded
	return int(asked.Load())
}

// Of children that run together none spends what another has in hand.
func TestChildrenThatRunTogetherShareALimit(t *testing.T) {
	check(t, "calls of 3 allowed", sharing(t, 4, session.Limits{MaxTotalSteps: 3}, "x", session.ReasonMaxSteps), 3)
	long := strings.Repeat("x", 4000) // some 1000 tokens, or 10 dollars
	check(t, "calls for 9 dollars", sharing(t, 2, session.Limits{MaxCost: 9}, long, session.ReasonMaxCost), 1)
	check(t, "calls for 1500 tokens", sharing(t, 3, session.Limits{MaxTotalTokens: 1500}, long, session.ReasonMaxTokens), 2)
}

// The time is over in the middle of a model call or of a tool: the turn is
// closed as paused, and the call is made again when there is more time.
func TestADeadlineEndsWhateverIsWaitedFor(t *testing.T) {
	said := map[string]string{"active": "of work for the session is reached", "moment": "the deadline 20"}
	for name, limit := range map[string]func(*session.Limits){
		"active": func(l *session.Limits) { l.MaxActive = session.Duration(time.Millisecond) },
		"moment": func(l *session.Limits) { l.Until = epoch.Add(time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			r := newRig(t, model(func(ctx context.Context, _ provider.Request, _ func(provider.Event)) (provider.Reply, error) {
				if asked++; asked == 1 {
					<-ctx.Done()
					return provider.Reply{}, ctx.Err()
				}
				return says("done"), nil
			}))
			r.set(func(s *session.Settings) { limit(&s.Limits) })
			end := r.run("", session.Paused, session.ReasonDeadline)
			if end.End.Error == nil || !strings.Contains(end.End.Error.Message, said[name]) {
				t.Errorf("%+v", end.End.Error)
			}
			r.set(func(s *session.Settings) { s.Limits = session.Limits{} })
			r.run("", session.Completed, "")
			check(t, "requests", asked, 2)
		})
	}
	over := read("look")
	r := newRig(t, looking(), over)
	r.set(func(s *session.Settings) { s.Limits.Until = epoch })
	r.run("", session.Paused, session.ReasonDeadline) // over before it began
	check(t, "requests", len(r.asked), 0)
}
