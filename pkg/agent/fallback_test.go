package agent_test

import (
	"context"
	"slices"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// fallbacks are what is told of a run, each once.
func (r *rig) fallbacks() (all []string) {
	for _, e := range r.log.events {
		if text := agent.Fallback(r.log.state, e.Scope, e.Data); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// refusing is a service that refuses what some scopes ask.
func refusing(c cast, scopes ...string) model {
	return func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		if slices.Contains(scopes, req.Label.Scope) {
			return provider.Reply{}, &provider.Error{Kind: provider.ContentFilter, Provider: "p", Message: "不行 🙂."}
		}
		return c.play(ctx, req, emit)
	}
}

func TestADecisionThatCouldNotBeHadIsToldOfWithItsReason(t *testing.T) {
	c := cast{"plan-*": {plan("a", "b")}, "": {says("done")}, "node/*": {says("part")}, "join-1": {says("all")}}
	for _, x := range []struct {
		agent, scope string
		want         []string
		status       session.Status
	}{
		{"plan-solve", "plan-1", []string{"no plan: p: content_filter: 不行 🙂; the task is one step"}, session.Completed},
		{"orchestrator", "split-1", []string{"no task graph: p: content_filter: 不行 🙂; the task is one node"}, session.Completed},
		{"fusion", "route-1", []string{"no route: p: content_filter: 不行 🙂; the task is taken for complex"}, session.Failed},
	} {
		r := agentRig(t, x.agent, refusing(c, x.scope))
		reason := session.Reason("")
		if x.status == session.Failed { // nobody marks the steps that fusion has planned
			reason = session.ReasonIncomplete
		}
		r.run("", x.status, reason)
		checkList(t, "what is told of "+x.agent, r.fallbacks(), x.want...)
		checkList(t, "what the work of "+x.agent+" stands on", agent.Fallbacks(r.log.state), x.want...)
		r.reopen(len(r.log.events))
		checkList(t, "what is told in another process", agent.Fallbacks(r.log.state), x.want...)
	}
}

func TestAVerdictThatCouldNotBeHadIsToldOfInTheError(t *testing.T) {
	route := calls("set_route", `{"complexity":"complex","reason":"x"}`)
	r := agentRig(t, "fusion", refusing(cast{"route-1": {route}, "": {says("done")}}, "plan-1", "verify-1"))
	end := r.run("", session.Failed, session.ReasonIncomplete)
	contains(t, "the error", end.End.Error.Message, "no usable verdict", "不行")
	contains(t, "what is told", r.fallbacks()[1], "no verdict: p: content_filter: 不行 🙂; ")
}

func TestAnotherPlanThatCouldNotBeHadKeepsWhatIsDone(t *testing.T) {
	act := func(v string) provider.Reply { return calls("act", `{"v":"`+v+`"}`) }
	r := agentRig(t, "plan-solve", refusing(cast{
		"plan-1": {plan("a", "b")}, "": {calls("mark_step", `{"step":1}`), act("x"), act("y"), says("done")},
	}, "plan-2"), broken("error", 1))
	r.set(func(s *session.Settings) { s.Allow = []string{"execute"} })
	r.run("", session.Completed, "")
	checkList(t, "what is told", r.fallbacks(), "no plan: p: content_filter: 不行 🙂; what is left of the task is one step")
}

func TestADecisionThatWasMadeIsNothingToTellOf(t *testing.T) {
	r := agentRig(t, "plan-solve", cast{"plan-1": {says("hm"), plan("a")}, "": {calls("mark_step", `{"step":1}`), says("done")}})
	r.run("", session.Completed, "")
	checkList(t, "what is told", r.fallbacks())
}

func TestWhatTheServiceRefusesOfTheWorkItselfFailsTheSession(t *testing.T) {
	r := agentRig(t, "react", refusing(cast{}, ""))
	end := r.run("", session.Failed, session.ReasonContentFilter)
	check(t, "the error", *end.End.Error, session.Failure{Kind: "content_filter", Message: "p: content_filter: 不行 🙂."})
	checkList(t, "what is told", r.fallbacks())
}

func TestASummaryThatCouldNotBeHadIsToldOf(t *testing.T) {
	r := agentRig(t, "react", cast{})
	failed := func(kind string) session.Data {
		return &session.CompactFailed{Error: &session.Failure{Kind: kind, Message: "why"}}
	}
	for kind, want := range map[string]string{
		"server": "no summary: why; what is too much for a request is left out", session.FailureSuperseded: "", "context_length": "",
	} {
		check(t, kind, agent.Fallback(r.log.state, "", failed(kind)), want)
	}
	check(t, "no error", agent.Fallback(r.log.state, "", &session.CompactFailed{}), "")
	check(t, "no child", agent.Fallback(r.log.state, "", &session.PlanSet{Steps: []string{"a"}, From: "plan-9"}), "")
	check(t, "something else", agent.Fallback(r.log.state, "", &session.AssistantMessage{Parts: []message.Part{message.Text("x")}}), "")
}

// A script that knows no reply to a question must not be taken for a model that
// has none.
func TestAnErrorThatConcernsTheSessionIsNoFallback(t *testing.T) {
	const script = "strict: true\nreplies: [{when: {scope: ''}, text: done}, {when: {scope: 'route-1'}, text: '{\"complexity\":\"complex\",\"reason\":\"x\"}'}]"
	for agent, scope := range map[string]string{"plan-solve": "plan-1", "fusion": "plan-1", "orchestrator": "split-1"} {
		r := agentRig(t, agent, script)
		end := r.run("", session.Failed, session.ReasonInvalidRequest)
		contains(t, agent, end.End.Error.Message, "no reply in test.yaml fits: scope \""+scope)
		checkList(t, "what is told of "+agent, r.fallbacks())
		check(t, "the child of "+agent+" is open", r.log.state.Scope(scope).Turn.Open, true)
	}
}

func TestOnlyWhatAPersonGaveOfASystemPromptIsTold(t *testing.T) {
	c := cast{"split-1": {graph("set_graph", "a")}, "node/*": {says("part")}, "join-1": {says("all")}}
	r := agentRig(t, "orchestrator", c)
	r.run("", session.Completed, "")
	for scope, want := range map[string]string{"": "be good", "split-1": "", "node/a": "be good", "join-1": ""} {
		check(t, scope, agent.GivenSystem(r.log.state, r.log.state.Scope(scope)), want)
	}
	r.set(func(s *session.Settings) { s.System = agent.DefaultSystem() })
	check(t, "built in", agent.GivenSystem(r.log.state, r.main()), "")
	writer := &session.Scope{Name: "node/b", Child: &session.ChildCreated{Profile: "writer"}}
	check(t, "a profile that is gone", agent.GivenSystem(r.log.state, writer), "")
	r.set(func(s *session.Settings) { s.Profiles = []session.Profile{{Name: "writer", System: "write 写"}} })
	check(t, "a profile's", agent.GivenSystem(r.log.state, writer), "write 写")
}
