package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"kagent/pkg/agent"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// threeNodes are a, b and c, and d that needs them. Node a meets an error, once.
func threeNodes() cast {
	return cast{
		"split-1": {graph("set_graph", "a", "b", "c", "d: a b c")},
		"node/*":  {says("x")}, "join-1": {says("done")},
	}
}

// What concerns the session as a whole stops new work; what is in flight ends
// and is recorded, and the session takes that status.
func TestASessionsConditionInAChildIsTheSessions(t *testing.T) {
	for kind, want := range map[provider.Kind]agent.Stop{
		provider.Network:    {Status: session.Interrupted, Reason: session.ReasonNetwork},
		provider.Timeout:    {Status: session.Interrupted, Reason: session.ReasonTimeout},
		provider.Overloaded: {Status: session.Interrupted, Reason: session.ReasonOverloaded},
		provider.RateLimit:  {Status: session.Interrupted, Reason: session.ReasonRateLimit},
		provider.Server:     {Status: session.Interrupted, Reason: session.ReasonServer},
		provider.Auth:       {Status: session.Failed, Reason: session.ReasonAuth},
		provider.Permission: {Status: session.Failed, Reason: session.ReasonPermission},
		provider.Quota:      {Status: session.Failed, Reason: session.ReasonQuota},
		provider.NotFound:   {Status: session.Failed, Reason: session.ReasonNotFound},
		"strange":           {Status: session.Failed, Reason: session.ReasonInternal},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, failed, under, gate := threeNodes(), false, make(chan bool), make(chan bool)
			c["node/b"] = []provider.Reply{together(act("act", "x")), says("b")}
			acting := execute("act")
			r := agentRig(t, "orchestrator", nil, acting)
			r.set(func(s *session.Settings) { s.Limits.MaxSteps = 10 })
			plays := model(c.play)
			r.Provider = model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
				r.mu.Lock()
				r.asked = append(r.asked, req)
				first := req.Label.Scope == "node/a" && !failed
				failed = failed || first
				r.mu.Unlock()
				switch {
				case first:
					<-under
					return provider.Reply{}, &provider.Error{Kind: kind, Message: "of a"}
				case req.Label.Ordinal == 1 && (req.Label.Scope == "node/b" || req.Label.Scope == "node/c"):
					<-gate
				}
				return plays(ctx, req, emit)
			})
			go func() {
				synctest.Wait() // all three are under way
				close(under)
				synctest.Wait() // a has failed
				close(gate)
			}()
			end := r.run("", want.Status, want.Reason)
			contains(t, "the error", end.End.Error.Message, "of a")
			check(t, "replies of b", r.log.state.Scope("node/b").Steps, 1)
			check(t, "replies of c", r.log.state.Scope("node/c").Steps, 1)
			check(t, "tools that were begun", len(acting.keys), 0)
			check(t, "nodes that were begun", len(r.scopes()), 4)

			r.run("", session.Completed, "")
			r.answer("done")
			check(t, "requests of c", len(r.asks("node/c")), 1)
			check(t, "requests of b", len(r.asks("node/b")), 2)
			check(t, "requests of a", len(r.asks("node/a")), 2)
			check(t, "runs of the tool", len(acting.keys), 1)
		})
	}
}

// A limit in a child pauses the session; raised, it goes on where it was.
func TestALimitInAChildPausesTheSession(t *testing.T) {
	c := threeNodes()
	c["node/b"] = []provider.Reply{together(act("act", "1")), together(act("act", "2")), says("b")}
	acting := execute("act")
	r := agentRig(t, "orchestrator", c, acting)
	r.set(func(s *session.Settings) { s.Limits.MaxSteps = 2 })
	r.run("", session.Paused, session.ReasonMaxSteps)
	r.run("", session.Paused, session.ReasonMaxSteps)
	check(t, "requests of b", len(r.asks("node/b")), 2)
	r.set(func(s *session.Settings) { s.Limits.MaxSteps = 3 })
	r.run("", session.Completed, "")
	check(t, "requests of b", len(r.asks("node/b")), 3)
	check(t, "runs", len(acting.keys), 2)
}

// A call in doubt, in a child: the session waits for a person's word.
func TestACallInDoubtInAChildWaitsForAPerson(t *testing.T) {
	c := threeNodes()
	c["node/b"] = []provider.Reply{together(act("act", "x")), says("b")}
	acting := execute("act")
	r := agentRig(t, "orchestrator", c, acting)
	r.set(func(s *session.Settings) { s.OnUnknown = "stop" })
	r.run("", session.Completed, "")
	for i, e := range r.log.events {
		if _, ok := e.Data.(*session.ToolCall); ok {
			r.reopen(i + 1)
			break
		}
	}
	r.run("", session.Paused, session.ReasonUnknownOutcome)
	r.run("another prompt", session.Paused, session.ReasonUnknownOutcome)
	open := r.Undecided()
	check(t, "calls that wait", len(open), 1)
	sc, call := r.log.state.Find(open[0].ID)
	check(t, "whose", sc.Name, "node/b")
	_ = r.log.Append(sc.Name, &session.OutcomeSettled{Call: call.ID, Verdict: session.VerdictDone})
	r.run("", session.Completed, "")
	check(t, "runs", len(acting.keys), 1)
	contains(t, "what b is told", lastSaid(r.asks("node/b")[0]), "did happen")
}

// What the user adds is told to the nodes that work, each once; those that have
// ended stay as they are, those to come know the whole.
func TestAPromptIsToldToTheNodesThatWork(t *testing.T) {
	c := threeNodes()
	c["node/b"] = []provider.Reply{together(act("look", "x")), says("b")}
	r := agentRig(t, "orchestrator", interruptedOnce("node/b", 2, c), read("look"))
	r.run("", session.Interrupted, session.ReasonNetwork)
	nodes := len(r.log.state.Open())
	check(t, "nodes at work", nodes >= 1, true)
	// What it asks a child of its own, and what the session itself is told, are
	// no words of the user to it.
	_ = r.log.Append("node/b/summarise-1", &session.ChildCreated{Task: "what was said", Before: 1, Tools: []string{}}, &session.TurnStart{Turn: 1})
	_ = r.log.Append("", &session.Repaired{From: "x", Note: "something was lost"})
	n := len(r.log.events)
	r.run("in rhyme", session.Completed, "")
	for _, e := range r.log.events[n:] {
		check(t, "its own question being told", e.Scope == "node/b/summarise-1", false)
	}
	b := r.log.state.Scope("node/b")
	told := 0
	for _, e := range b.Entries {
		if e.User != nil && e.User.Source == session.FromAgent {
			contains(t, "what b is told", e.User.Text, "added to the request", "in rhyme")
			told++
		}
	}
	check(t, "times that b was told", told, 1)
	contains(t, "what d is told", lastSaid(r.asks("node/d")[0]), "the task", "in rhyme")
	contains(t, "what the join is told", lastSaid(r.asks("join-1")[0]), "the task", "in rhyme")
	check(t, "splits", len(r.asks("split-1")), 1)
	r.run("", session.Completed, "")

	// Killed between the prompt and what is told: told by the next run.
	for i, e := range r.log.events {
		if d, ok := e.Data.(*session.UserMessage); ok && d.Source == session.FromUser {
			r.reopen(i + 1)
			break
		}
	}
	r.run("", session.Completed, "")
	told = 0
	for _, e := range r.log.state.Scope("node/b").Entries {
		if e.User != nil && e.User.Source == session.FromAgent {
			told++
		}
	}
	check(t, "times that b was told after a kill", told, 1)
}

// A call that waited when the user spoke is not run any more, in a node either.
func TestAPromptSettlesTheOpenCallsOfNodes(t *testing.T) {
	c := threeNodes()
	c["node/b"] = []provider.Reply{together(act("act", "x"), act("act", "y")), says("b")}
	acting := execute("act")
	r := agentRig(t, "orchestrator", c, acting)
	r.run("", session.Completed, "")
	for i, e := range r.log.events {
		if _, ok := e.Data.(*session.AssistantMessage); ok && e.Scope == "node/b" {
			r.reopen(i + 1)
			break
		}
	}
	acting.keys = nil
	r.run("in rhyme", session.Completed, "")
	check(t, "runs", len(acting.keys), 0)
	contains(t, "what b is told", lastSaid(r.asks("node/b")[0]), "added to the request", "in rhyme")
	paired(t, r.log.state.Scope("node/b").Messages())
}

// The reply of a question is no open call: killed before it was understood, it
// is not asked for again, unless what the user added makes it another question.
func TestTheReplyOfAQuestionIsKept(t *testing.T) {
	for _, name := range []string{"split-1", "join-1"} {
		c := threeNodes()
		c["split-1/try-2"], c["join-1/try-2"] = c["split-1"], c["join-1"]
		c["join-1"] = []provider.Reply{graph("add_nodes", "a"), says("done")}
		r := agentRig(t, "orchestrator", c)
		r.run("", session.Completed, "")
		n := 0
		for i, e := range r.log.events {
			if _, ok := e.Data.(*session.AssistantMessage); ok && e.Scope == name {
				n = i + 1
				break
			}
		}
		whole := r.log
		r.reopen(n)
		r.run("", session.Completed, "")
		check(t, "requests of "+name, len(r.asks(name)), map[string]int{"join-1": 1}[name])
		r.log = whole
		r.reopen(n)
		r.run("in rhyme", session.Completed, "")
		check(t, "requests of "+name+" in other words", len(r.asks(name+"/try-2")), 1)
		contains(t, "the question", lastSaid(r.asks(name + "/try-2")[0]), "the task", "in rhyme")
		for _, e := range r.log.events[n:] {
			check(t, name+" being touched", e.Scope == name, false)
		}
		check(t, "children that are open", len(r.log.state.Open()), 0)
	}
}

// A signal in the middle of children's model calls and tools: the turn is saved,
// then the tools see the end; all that has finished is recorded, durably.
func TestAStopInTheMiddleOfChildrenSavesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := threeNodes()
		c["node/a"] = []provider.Reply{together(act("wait", "1"), act("quick", "1")), says("a")}
		c["node/b"] = []provider.Reply{together(act("quick", "2"), act("wait", "2")), says("b")}
		wait, quick := execute("wait"), execute("quick")
		r := agentRig(t, "orchestrator", nil, wait, quick)
		saved := make(chan bool, 2)
		wait.do = func(ctx context.Context, _ tool.Call) tool.Result {
			<-ctx.Done()
			saved <- r.log.closed()
			return tool.Result{Outcome: tool.Stopped, Text: "stopped"}
		}
		r.Provider = model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
			r.mu.Lock()
			r.asked = append(r.asked, req)
			r.mu.Unlock()
			if req.Label.Scope == "node/c" && req.Label.Attempt == 1 {
				<-ctx.Done()
				return provider.Reply{}, context.Cause(ctx)
			}
			return c.play(ctx, req, emit)
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			synctest.Wait()
			cancel(&agent.Stop{Status: session.Interrupted, Reason: session.ReasonSignal})
		}()
		r.runIn(ctx, "", session.Interrupted, session.ReasonSignal)
		check(t, "saved before the first tool saw the end", <-saved, true)
		check(t, "saved before the second tool saw the end", <-saved, true)
		check(t, "results", len(results(r.log)), 2)
		check(t, "calls in doubt", len(r.log.state.Scope("node/a").Pending())+len(r.log.state.Scope("node/b").Pending()), 2)

		r.reopen(r.log.durable) // a power cut now
		wait.do = nil
		r.run("", session.Completed, "")
		r.answer("done")
		check(t, "runs of the quick tool", len(quick.keys), 2)
		check(t, "runs of the other", len(wait.keys), 2)
		check(t, "requests of a", len(r.asks("node/a")), 1)
	})
}

// The first reason counts, whatever comes while the others end.
func TestTheFirstReasonCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := threeNodes()
		c["node/b"] = []provider.Reply{together(act("wait", "2")), says("b")}
		wait := execute("wait")
		wait.do = func(ctx context.Context, _ tool.Call) tool.Result {
			<-ctx.Done()
			return tool.Result{Outcome: tool.Stopped}
		}
		gate := make(chan bool)
		r := agentRig(t, "orchestrator", model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
			if req.Label.Scope == "node/a" {
				<-gate
				return provider.Reply{}, &provider.Error{Kind: provider.Auth}
			}
			return c.play(ctx, req, emit)
		}), wait)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait()
			close(gate)
			synctest.Wait()
			cancel()
		}()
		r.runIn(ctx, "", session.Failed, session.ReasonAuth)
	})
}

// A disk that fails in one child ends them all, and loses nothing.
func TestADiskThatFailsInAChildEndsTheRun(t *testing.T) {
	for n := 1; ; n++ {
		c := threeNodes()
		c["node/a"] = []provider.Reply{together(act("act", "a")), says("a")}
		c["node/b"] = []provider.Reply{together(act("act", "b"), act("look", "b")), says("b")}
		acting := execute("act")
		r := agentRig(t, "orchestrator", c, acting, read("look"))
		r.log.ops = 0
		failed := false
		r.log.fail = func(_ string, i int) error {
			if i >= n {
				failed = true
				return errDisk
			}
			return nil
		}
		end, err := r.Run(t.Context(), "")
		if !failed {
			if n < 40 {
				t.Errorf("only %d operations were seen", n)
			}
			return
		}
		if !errors.Is(err, errDisk) || end.Reason != session.ReasonStorage {
			t.Errorf("operation %d: ended %s %s, %v", n, end.Status, end.Reason, err)
		}
		r.reopen(r.log.durable)
		r.run("", session.Completed, "")
		r.answer("done")
		if len(acting.keys) > 2 {
			t.Errorf("operation %d: two effects happened %d times", n, len(acting.keys))
		}
	}
}

// Another program may have closed the turn of a child that has not ended.
func TestAChildWhoseTurnWasClosedIsGoneOnWith(t *testing.T) {
	c := threeNodes()
	c["node/b"] = []provider.Reply{together(act("look", "x")), says("b")}
	r := agentRig(t, "orchestrator", interruptedOnce("node/b", 2, c), read("look"))
	r.run("", session.Interrupted, session.ReasonNetwork)
	_ = r.log.Append("node/b", &session.TurnEnd{Turn: 1, Status: session.Interrupted, Reason: session.ReasonNetwork})
	r.run("", session.Completed, "")
	b := r.log.state.Scope("node/b")
	check(t, "the child's turn", b.Turn.N, 1)
	check(t, "its end", b.Turn.Status, session.Completed)
	check(t, "its steps", b.Turn.Steps, 2)
	starts := 0
	for _, e := range r.log.events {
		if _, ok := e.Data.(*session.TurnStart); ok && e.Scope == "node/b" {
			starts++
		}
	}
	check(t, "its turn's starts", starts, 2)
}
