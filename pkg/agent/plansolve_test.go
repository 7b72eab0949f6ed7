package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// broken is a tool that comes to nothing.
func broken(outcome tool.Outcome, exit int) *fake {
	f := execute("act")
	f.do = func(_ context.Context, c tool.Call) tool.Result {
		return tool.Result{Outcome: outcome, Text: "no " + arg(c.Args), ExitCode: &exit}
	}
	return f
}

func TestAPlanIsDurableBeforeItsFirstStep(t *testing.T) {
	r := agentRig(t, "plan-solve", nil, read("look"))
	c := cast{"plan-1": {plan("a")}, "": {together(act("look", "x"), mark("1")), says("done")}}
	r.Provider = model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		durable := false
		for _, e := range r.log.events[:r.log.committed] {
			_, plan := e.Data.(*session.PlanSet)
			durable = durable || plan
		}
		check(t, "a plan in the checkpoint when "+req.Label.Scope+" is asked", durable, req.Label.Scope == "")
		return c.play(ctx, req, emit)
	})
	r.run("", session.Completed, "")
}

// What stands before the plan is the same from one request to the next.
func TestThePlanStandsAtTheEndOfWhatIsSent(t *testing.T) {
	r := agentRig(t, "plan-solve", cast{
		"plan-1": {plan("look", "写")},
		"":       {together(act("look", "x"), mark("2")), together(mark("1")), says("done")},
	}, read("look"))
	r.run("", session.Completed, "")
	asks := r.asks("")
	contains(t, "the first note", asks[0].Note, "0 of 2", "1. [ ] look", "2. [ ] 写", "mark_step")
	contains(t, "the second note", asks[1].Note, "1 of 2", "1. [ ] look", "2. [x] 写")
	contains(t, "the third note", asks[2].Note, "2 of 2", "1. [x] look")
	for i, req := range asks[1:] {
		checkList(t, "the beginning of what is sent", req.Messages[:len(asks[i].Messages)], asks[i].Messages...)
	}
	for _, m := range r.main().Messages() {
		without(t, "what is kept", m.Text(), "steps are done]")
	}
	names := []string{asks[0].Tools[0].Name, asks[0].Tools[1].Name}
	checkList(t, "the tools", names, "look", "mark_step")
	check(t, "a tool that has to be called", asks[0].Choice, "")
}

func TestStepsAreMarked(t *testing.T) {
	for args, want := range map[string]string{
		`{"step":2}`: "2 is marked", `{"step":"2"}`: "2 is marked", `{"step":" 2. b"}`: "2 is marked",
		`{"step":"b"}`: "2 is marked", `{"number":2}`: "2 is marked", `{"index":2,"x":1}`: "2 is marked", `{"step":2.0}`: "2 is marked",
		`{"step":0}`: "from 1 to 3", `{"step":4}`: "from 1 to 3", `{"step":-1}`: "from 1 to 3", `{"step":"z"}`: "from 1 to 3",
		`{"step":1e30}`: "from 1 to 3", `{"step":1.5}`: "from 1 to 3", `{"step":null}`: "from 1 to 3", `{"step":[2]}`: "from 1 to 3",
		`{}`: "from 1 to 3", `[]`: "from 1 to 3", ``: "from 1 to 3", `{"step"`: "from 1 to 3", `{"step":"99999999999999999999"}`: "from 1 to 3",
	} {
		r := agentRig(t, "plan-solve", cast{"plan-1": {plan("a", "b", "c")}, "": {calls("mark_step", args), says("done")}})
		_, _ = r.Run(t.Context(), "")
		contains(t, "the result of "+args, lastSaid(r.asks("")[1]), want)
		done, outcome := 0, session.OutcomeInvalid
		if strings.HasPrefix(want, "2") {
			done, outcome = 1, session.OutcomeOK
		}
		check(t, "steps done by "+args, len(r.main().Work.Plan.Done), done)
		check(t, "the outcome of "+args, data[*session.ToolResult](r.log)[0].Outcome, outcome)
	}
}

// Marks come last: what they say is done may be called for beside them.
func TestMarksAreTakenAfterTheOtherCallsOfTheReply(t *testing.T) {
	look := read("look")
	r := agentRig(t, "plan-solve", cast{
		"plan-1": {plan("a", "b", "c")},
		"": {
			together(mark("3"), act("look", "x"), mark("7"), mark("3"), act("look", "y")),
			together(mark("1"), mark("3"), mark("2")), says("done"),
		},
	}, look)
	r.run("", session.Completed, "")
	checkList(t, "results", results(r.log), "1 ok", "4 ok", "0 ok", "2 invalid", "3 ok", "0 ok", "1 ok", "2 ok")
	checkList(t, "what was done", r.main().Work.Plan.Done, 0, 1, 2)
	check(t, "runs of the tool", len(look.keys), 2)
}

// Two steps that fail, and no words, make another plan.
func TestTwoFailingStepsAskForAnotherPlan(t *testing.T) {
	ok := func(context.Context, tool.Call) tool.Result { return tool.Success("well") }
	look := read("look")
	look.do = ok
	fails := together(act("act", "x"))
	for name, c := range map[string]struct {
		act    *fake
		steps  []provider.Reply
		replan bool
	}{
		"errors":                  {broken(tool.Failed, 0), []provider.Reply{fails, fails}, true},
		"a timeout":               {broken(tool.Timeout, 0), []provider.Reply{fails, fails}, true},
		"exit codes":              {broken(tool.OK, 3), []provider.Reply{fails, fails}, true},
		"a zero":                  {broken(tool.OK, 0), []provider.Reply{fails, fails}, false},
		"one":                     {broken(tool.Failed, 1), []provider.Reply{fails}, false},
		"not in a row":            {broken(tool.Failed, 1), []provider.Reply{fails, together(act("look", "x")), fails}, false},
		"beside a success":        {broken(tool.Failed, 1), []provider.Reply{fails, together(act("act", "x"), act("look", "x"))}, false},
		"beside a mark":           {broken(tool.Failed, 1), []provider.Reply{together(act("act", "x"), mark("1")), together(act("act", "x"), mark("1"))}, true},
		"a mark between":          {broken(tool.Failed, 1), []provider.Reply{fails, together(mark("1")), fails}, false},
		"wrong marks alone":       {broken(tool.OK, 0), []provider.Reply{together(mark("9")), together(mark("0"), mark("7"))}, true},
		"calls that can't run":    {broken(tool.OK, 0), []provider.Reply{calls("ghost", "{}"), calls("act", "[]")}, true},
		"calls that are denied":   {broken(tool.OK, 0), []provider.Reply{together(act("put", "x")), together(act("put", "x"))}, true},
		"words that tell of them": {broken(tool.OK, 0), []provider.Reply{says("error: exit 1, it failed")}, false},
	} {
		r := agentRig(t, "plan-solve", cast{
			"plan-1": {plan("first", "second")}, "plan-2": {plan("other")},
			"": append(c.steps, says("I give up")),
		}, c.act, look, newFile())
		r.set(func(s *session.Settings) { s.Tools = []string{"act", "look"} })
		_, _ = r.Run(t.Context(), "")
		check(t, name+": plans asked for anew", len(r.asks("plan-2")), map[bool]int{true: 1}[c.replan])
	}
}

func TestAnotherPlanKeepsWhatIsDone(t *testing.T) {
	r := agentRig(t, "plan-solve", cast{
		"plan-1": {plan("first", "second", "third")}, "plan-2": {plan("other", "last")},
		"": {
			together(act("look", "x"), mark("2")), together(act("act", "boo")), together(act("act", "b\noo")),
			together(act("look", "y"), mark("2"), mark("3")), says("done"),
		},
	}, broken(tool.Failed, 2), read("look"))
	r.run("", session.Completed, "")
	ask := lastSaid(r.asks("plan-2")[0])
	contains(t, "the question", ask, "# Task", "the task", "# Steps that are done", "second", "# Why another plan", `act {"v":"boo"}: error: no boo`, "no b oo")
	without(t, "the question", ask, "first")
	w := r.main().Work
	checkList(t, "the plan", w.Plan.Steps, "second", "other", "last")
	checkList(t, "what was done", w.Plan.Done, 0, 1, 2)
	check(t, "plans that failed", w.Plan.Replans, 1)
	r.answer("done")
}

// Three other plans, then it is over; who goes on gives it another chance.
func TestNoMoreThanThreeOtherPlans(t *testing.T) {
	c := cast{"plan-*": {plan("try")}, "": {together(act("act", "x"))}}
	r := agentRig(t, "plan-solve", c, broken(tool.Failed, 2))
	end := r.run("", session.Failed, session.ReasonIncomplete)
	contains(t, "the error", end.End.Error.Message, "no plan is left")
	checkList(t, "who was asked", r.scopes(), "plan-1", "", "plan-2", "plan-3", "plan-4")
	check(t, "steps", len(r.asks("")), 8)
	check(t, "plans that failed", r.main().Work.Plan.Replans, 3)

	r.run("", session.Failed, session.ReasonIncomplete)
	check(t, "steps when gone on with", len(r.asks("")), 10)
	c[""] = append(c[""], c[""][0], c[""][0], c[""][0], c[""][0], c[""][0], c[""][0], c[""][0], c[""][0], c[""][0], together(mark("1")), says("done"))
	r.run("try that", session.Completed, "")
	check(t, "plans asked for in all", len(r.scopes()), 5)
	r.answer("done")
}

func TestStepsThatAreLeftAreRemindedOfOnce(t *testing.T) {
	r := agentRig(t, "plan-solve", cast{
		"plan-1": {plan("a", "b")},
		"": {
			says("early"), together(mark("1")), says("again early"), // incomplete
			together(mark("2")), says("done"),
		},
	})
	end := r.run("", session.Failed, session.ReasonIncomplete)
	contains(t, "the error", end.End.Error.Message, "1 of the plan's 2 steps")
	check(t, "the partial answer", r.main().Draft(), "again early")
	contains(t, "the reminder", lastSaid(r.asks("")[1]), "not marked as done", "mark_step")
	check(t, "requests", len(r.asks("")), 3)

	r.run("", session.Completed, "") // gone on with: reminded once more
	contains(t, "the reminder", lastSaid(r.asks("")[3]), "not marked as done")
	r.answer("done")
	check(t, "plans asked for", len(r.asks("plan-1")), 1)
}

// Nobody could be told to mark the one step of a plan that could not be had.
func TestWithoutAPlanTheTaskIsOneStep(t *testing.T) {
	for _, reply := range []provider.Reply{says("no"), says(""), refuses("never"), calls("ghost", "{}")} {
		r := agentRig(t, "plan-solve", cast{"plan-1": {reply}, "": {says("the answer")}})
		r.run("", session.Completed, "")
		r.answer("the answer")
		check(t, "requests for a plan", len(r.asks("plan-1")), 2)
		check(t, "steps", len(r.main().Work.Plan.Steps), 1)
		check(t, "the child's end", r.log.state.Scope("plan-1").Turn.Reason, session.ReasonIncomplete)
	}
	// A service that refuses the very question: not asked again.
	r := agentRig(t, "plan-solve", model(func(_ context.Context, req provider.Request, _ func(provider.Event)) (provider.Reply, error) {
		if req.Label.Scope != "" {
			return provider.Reply{}, &provider.Error{Kind: provider.ContentFilter}
		}
		return says("the answer"), nil
	}))
	r.run("", session.Completed, "")
	r.answer("the answer")
	check(t, "requests for a plan", len(r.asks("plan-1")), 1)
}

func TestAPlanIsShownAndApproved(t *testing.T) {
	for _, name := range []string{"plan-solve", "fusion"} {
		r := agentRig(t, name, cast{
			"route-1": {route("complex")}, "plan-*": {plan("one", "two")}, "verify-*": {verdict(true, "")},
			"": {together(mark("1"), mark("2")), says("done")},
		})
		r.set(func(s *session.Settings) { s.ConfirmPlan = true })
		end := r.run("", session.Paused, session.ReasonPlan)
		contains(t, "what is said", end.End.Error.Message, "--approve all", "prompt")
		asked := len(r.asked)
		r.run("", session.Paused, session.ReasonPlan)
		check(t, "requests without a word", len(r.asked), asked)

		for i := range 4 { // changes don't count as plans that failed
			r.run(fmt.Sprint("shorter ", i), session.Paused, session.ReasonPlan)
		}
		contains(t, "the question", lastSaid(r.asks("plan-5")[0]), "# Task", "the task", "shorter 3", "wants it changed", "shorter 3")
		without(t, "the question", strings.SplitN(lastSaid(r.asks("plan-5")[0]), "wants it changed", 2)[1], "shorter 2")
		check(t, "plans that failed", r.main().Work.Plan.Replans, 0)
		check(t, "requests of the work itself", len(r.asks("")), 0)

		_ = r.log.Append("", &session.ApprovalGiven{What: "plan"})
		r.run("", session.Completed, "")
		r.answer("done")
		r.run("another", session.Paused, session.ReasonPlan) // another plan needs another word
		check(t, "the plan of the next task", r.main().Work.Plan.From, "plan-6")
	}
}

// Calls of a reply that was filtered are not run, marks neither.
func TestPlanSolveRunsNoCallOfAFilteredReply(t *testing.T) {
	tried := execute("act")
	filtered := together(act("act", "x"), mark("1"))
	filtered.Stop = message.StopFilter
	r := agentRig(t, "plan-solve", cast{"plan-1": {plan("a")}, "": {filtered, says("sorry")}}, tried)
	r.run("", session.Failed, session.ReasonContentFilter)
	check(t, "runs", len(tried.keys), 0)
	check(t, "steps done", len(r.main().Work.Plan.Done), 0)
}

// A completed task and then another: another plan, other names.
func TestAnotherTaskIsPlannedAnew(t *testing.T) {
	r := agentRig(t, "plan-solve", cast{
		"plan-1": {plan("a")}, "plan-2": {plan("b", "c")},
		"": {together(mark("1")), says("the first answer"), together(mark("2"), mark("1")), says("the second")},
	})
	r.run("", session.Completed, "")
	r.run("and now?", session.Completed, "")
	r.answer("the second")
	ask := lastSaid(r.asks("plan-2")[0])
	contains(t, "the question", ask, "# Earlier", "the task", "the first answer", "# Task", "and now?")
	check(t, "plans that failed", r.main().Work.Plan.Replans, 0)
	checkList(t, "who was asked", r.scopes(), "plan-1", "", "plan-2")
}

// A mark where there is no plan is a call like any other.
func TestAMarkWithoutAPlanIsNoTool(t *testing.T) {
	r := agentRig(t, "plan-solve", cast{"plan-1": {plan("a")}, "": {says("no"), together(mark("1")), says("done")}})
	_ = r.log.Append("", &session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1}, reply(message.StopCalls, "", "mark_step"))
	r.run("", session.Completed, "")
	checkList(t, "results", results(r.log), "0 invalid", "0 ok")
}

// A strategy changes nothing of the state that it is shown.
func TestMarksAreTakenWithoutATouchOfTheState(t *testing.T) {
	done := append(make([]int, 0, 4), 2)
	s := fold(&session.PlanSet{Steps: []string{"a", "b", "c"}, Done: done}, reply(message.StopCalls, "", "mark_step"))
	s.Main().LastReply().Calls[0].Wire.Arguments = `{"step":1}`
	for range 2 {
		a, ok := agent.PlanSolve(s, "").(agent.Record)
		if !ok {
			t.Fatalf("%#v", a)
		}
		checkList(t, "what is recorded as done", a.Events[0].(*session.PlanSet).Done, 0, 2)
		checkList(t, "what the state shows as done", s.Main().Work.Plan.Done, 2)
	}
}

// The question for another plan tells what failed since the last one.
func TestAQuestionForAPlanTellsOfTheLastOneAlone(t *testing.T) {
	r := agentRig(t, "plan-solve", cast{
		"plan-*": {plan("try")},
		"":       {together(act("act", "1")), together(act("act", "2")), together(act("act", "3")), together(act("act", "4")), together(mark("1")), says("done")},
	}, broken(tool.Failed, 2))
	r.run("", session.Completed, "")
	ask := lastSaid(r.asks("plan-3")[0])
	contains(t, "the question", ask, `act {"v":"3"}: error`, `act {"v":"4"}: error`)
	without(t, "the question", ask, `{"v":"1"}`, `{"v":"2"}`)
}
