package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

func TestASimpleTaskIsDoneAtOnce(t *testing.T) {
	look := read("look")
	r := agentRig(t, "fusion", cast{"route-1": {route("simple")}, "": {together(act("look", "x")), says("done")}}, look)
	r.run("", session.Completed, "")
	r.answer("done")
	checkList(t, "who was asked", r.scopes(), "route-1", "")
	check(t, "tools beside the session's", len(r.asks("")[0].Tools), 1)
	check(t, "the note", r.asks("")[0].Note, "")
}

func TestTheRouteIsReadInWhateverFormItComes(t *testing.T) {
	for text, want := range map[string]string{
		`{"complexity":"simple","reason":"x"}`:                                     "simple",
		`{"complexity":" Complex ","explanation":"y"}`:                             "complex",
		`I think: {"route": "SIMPLE", "reason": "x"}.`:                             "simple",
		`<think>{"type": "complex"}</think>{"type": "simple"}`:                     "simple",
		`{"type": "simple", "reason": "x"} would be for less; this one is complex`: "complex",
		`Not {"type": "simple"}`:                                                   "complex",
		`{"type":"simple",}`:                                                       "simple",
		"The task is easy.\n{\"complexity\":\"simple\"}":                           "simple",
		"```json\n{\"complexity\":\"simple\"}\n```\nThis can be done directly.":    "simple",
		`{"complexity":"medium"}`:                                                  "complex", // the fallback
		`{"complexity":1}`:                                                         "complex",
		`simple`:                                                                   "complex",
		`["simple"]`:                                                               "complex",
	} {
		r := agentRig(t, "fusion", cast{
			"route-1": {says(text)}, "plan-1": {plan("a")}, "verify-1": {verdict(true, "")},
			"": {together(mark("1")), says("done")},
		})
		r.run("", session.Completed, "")
		check(t, "the route of "+text, r.main().Work.Route.Complexity, want)
	}
}

// Planned, done, and judged before it counts.
func TestTheAnswerToAComplexTaskIsJudged(t *testing.T) {
	r := agentRig(t, "fusion", cast{
		"route-1": {route("complex")}, "plan-1": {plan("a")}, "verify-1": {verdict(true, "")},
		"": {together(act("act", "x"), mark("1")), says("the answer")},
	}, execute("act"))
	r.run("", session.Completed, "")
	r.answer("the answer")
	checkList(t, "who was asked", r.scopes(), "route-1", "plan-1", "", "verify-1")
	ask := r.asks("verify-1")[0]
	contains(t, "the question", lastSaid(ask), "# Task", "the task", "# What was done", `act {"v":"x"}: ok`, "# The answer to judge", "the answer")
	without(t, "the question", lastSaid(ask), "# Earlier", "mark_step")
	check(t, "its tool", ask.Choice, "give_verdict")
	check(t, "verdicts", len(r.main().Work.Verdicts), 1)
}

func TestAnAnswerIsRevisedTwiceAtMost(t *testing.T) {
	for no := range 4 {
		verdicts := cast{"verify-1": {verdict(true, "well")}, "verify-2": {verdict(true, "")}, "verify-3": {verdict(true, "")}}
		for i, name := range []string{"verify-1", "verify-2", "verify-3"} {
			if i < no {
				verdicts[name] = []provider.Reply{verdict(false, "no, "+name)}
			}
		}
		verdicts["route-1"], verdicts["plan-1"] = []provider.Reply{route("complex")}, []provider.Reply{plan("a")}
		verdicts[""] = []provider.Reply{together(mark("1")), says("first"), says("second"), says("third"), says("never")}
		r := agentRig(t, "fusion", verdicts)
		want := []string{"first", "second", "third", "third"}[no]
		if no < 3 {
			r.run("", session.Completed, "")
			r.answer(want)
		} else {
			end := r.run("", session.Failed, session.ReasonIncomplete)
			contains(t, "the error", end.End.Error.Message, "2 revisions", "no, verify-3")
			check(t, "the partial answer", r.main().Draft(), want)
		}
		check(t, "verdicts", len(r.main().Work.Verdicts), min(no+1, 3))
		if no > 0 {
			contains(t, "what the model is told", lastSaid(r.asks("")[2]), "falls short", "no, verify-1")
		}
		check(t, "plans and routes asked for", len(r.asks("route-1"))+len(r.asks("plan-1")), 2)
	}
}

// Whoever goes on after the last "no" gives it two revisions more.
func TestAnAnswerThatFellShortIsRevisedWhenGoneOnWith(t *testing.T) {
	c := cast{
		"route-1": {route("complex")}, "plan-1": {plan("a")}, "verify-*": {verdict(false, "no")},
		"": {together(mark("1")), says("one"), says("two"), says("three"), says("four"), says("five"), says("six")},
	}
	r := agentRig(t, "fusion", c)
	r.run("", session.Failed, session.ReasonIncomplete)
	check(t, "the partial answer", r.main().Draft(), "three")
	c["verify-5"] = []provider.Reply{verdict(true, "")}
	r.run("", session.Completed, "")
	r.answer("five")
	check(t, "plans and routes asked for", len(r.asks("route-1"))+len(r.asks("plan-1")), 2)
}

func TestWithoutAVerdictTheAnswerDoesNotPass(t *testing.T) {
	for _, reply := range []provider.Reply{says("fine"), says(""), calls("give_verdict", `{"feedback":"ok"}`), calls("give_verdict", `{"ok":"maybe"}`), refuses("no")} {
		c := cast{
			"route-1": {route("complex")}, "plan-1": {plan("a")}, "verify-1": {reply}, "verify-2": {reply},
			"verify-3": {verdict(true, "")}, "": {together(mark("1")), says("the answer"), says("another")},
		}
		r := agentRig(t, "fusion", c)
		end := r.run("", session.Failed, session.ReasonIncomplete)
		contains(t, "the error", end.End.Error.Message, "no usable verdict")
		check(t, "the partial answer", r.main().Draft(), "the answer")
		check(t, "requests for a verdict", len(r.asks("verify-1")), 2)

		// Gone on with, it is judged again, and not written anew.
		r.run("", session.Failed, session.ReasonIncomplete)
		r.run("", session.Completed, "")
		r.answer("the answer")
		check(t, "requests of the work itself", len(r.asks("")), 2)
	}
}

func TestTheVerdictIsReadInWhateverFormItComes(t *testing.T) {
	for text, want := range map[string]bool{
		`{"ok":true}`: true, `{"pass":true,"feedback":"x"}`: true, `{"approved":true}`: true, `{"complete": true,}`: true,
		`{"ok":false,"feedback":"x"}`: false, `{"satisfied":false,"issues":"x"}`: false, `{"success":false}`: false,
		`{"ok":false,"feedback":"x"} no wait {"ok":true,"feedback":""}`: true, "```json\n{\"passed\": false, \"suggestions\": \"x\"}\n```": false,
	} {
		r := agentRig(t, "fusion", cast{
			"route-1": {route("complex")}, "plan-1": {plan("a")}, "verify-1": {says(text)}, "verify-2": {verdict(true, "")},
			"": {together(mark("1")), says("the answer"), says("another")},
		})
		r.run("", session.Completed, "")
		v := r.main().Work.Verdicts[0]
		check(t, "the verdict "+text, v.OK, want)
		if !v.OK {
			check(t, "there being feedback in "+text, v.Feedback != "", true)
		}
	}
}

// A wrong yes is far worse than a question more: what is talked about is no
// verdict, nor is what nobody knows the end of.
func TestAnAnswerPassesOnlyByAVerdictThatIsMeant(t *testing.T) {
	const yes, no = `{"ok": true, "feedback": ""}`, `{"ok": false, "feedback": "no"}`
	cut := func(stop message.StopReason, parts ...message.Part) provider.Reply {
		return provider.Reply{Stop: stop, Parts: parts}
	}
	call := func(name, args string) message.Part { return calls(name, args).Parts[0] }
	for name, reply := range map[string]provider.Reply{
		"quoted":              says(`No. The user wanted {"success": false}; the answer has {"success": true}.`),
		"the format":          says(`The format is {"ok": true, "feedback": "..."}; my verdict: the answer is wrong.`),
		"in a fence":          says("For one that is right:\n```json\n" + yes + "\n```\nThis one is wrong."),
		"asked":               says("Is it " + yes + "?"),
		"followed by another": says(yes + " {}"),
		"in thoughts":         says("<think>" + yes + "</think>不对。"),
		"cut":                 cut(message.StopLength, message.Text("At first glance: "+yes+". But looking closer")),
		"cut behind it":       cut(message.StopLength, message.Text(yes)),
		"a call, cut":         cut(message.StopLength, call("give_verdict", yes)),
		"filtered":            cut(message.StopFilter, message.Text(yes)),
		"a call, filtered":    cut(message.StopFilter, call("give_verdict", yes)),
		"refused":             cut(message.StopRefusal, message.Text(yes)),
		"beside another call": cut(message.StopCalls, message.Text("Before I say "+yes), call("read_file", "{}")),
		"beside a broken one": cut(message.StopCalls, message.Text(yes), call("give_verdict", `{"ok"`)),
		"one of two broken":   calls("give_verdict", `{"ok": fal`, "give_verdict", yes),
	} {
		r := agentRig(t, "fusion", cast{
			"route-1": {route("complex")}, "plan-1": {plan("a")}, "verify-1": {reply}, "": {together(mark("1")), says("the answer")},
		})
		end, err := r.Run(t.Context(), "")
		if err != nil || end.Status != session.Failed || end.Reason != session.ReasonIncomplete {
			t.Errorf("a verdict %s: ended %s %s, %v", name, end.Status, end.Reason, err)
		}
		check(t, "requests for a verdict "+name, len(r.asks("verify-1")), 2)
	}
	for name, reply := range map[string]provider.Reply{
		"first":                     calls("give_verdict", no, "give_verdict", yes),
		"last":                      calls("give_verdict", yes, "give_verdict", no),
		"with another tool's call":  calls("give_verdict", no, "read_file", "{}"),
		"behind what it talked of":  says("Not " + yes + " but " + no + "."),
		"after an unclosed thought": says(no + "<think>or " + yes),
	} {
		r := agentRig(t, "fusion", cast{
			"route-1": {route("complex")}, "plan-1": {plan("a")}, "verify-1": {reply}, "verify-2": {verdict(true, "")},
			"": {together(mark("1")), says("the answer"), says("another")},
		})
		r.run("", session.Completed, "")
		r.answer("another")
		check(t, "the no "+name, r.main().Work.Verdicts[0].Feedback, "no")
	}
}

// A verdict in words ends them; what it stands in does not matter.
func TestAVerdictThatEndsAReplyCounts(t *testing.T) {
	for _, text := range []string{
		"I looked at [1] and {x}: {\"ok\": true, \"feedback\": \"\"}.", "很好。\n```json\n{\"passed\": true, \"suggestions\": \"\",}\n```\n",
		"<think>{\"ok\": false}</think>\n{\"ok\": true}", "{\"ok\": true, \"feedback\": \"\"}\nThe answer is complete and correct.", "{\"ok\": true} ✅",
		"```json\n{\"ok\": true, \"feedback\": \"\"}\n```\nLet me know if you need anything else!", "<answer>{\"ok\": true}</answer>", "```\n{'ok': True}\n```", "**`{\"ok\": true, \"feedback\": \"🙂\"}`**",
	} {
		r := agentRig(t, "fusion", cast{
			"route-1": {route("complex")}, "plan-1": {plan("a")}, "verify-1": {says(text)}, "": {together(mark("1")), says("the answer")},
		})
		r.run("", session.Completed, "")
		check(t, "requests for the verdict "+text, len(r.asks("verify-1")), 1)
	}
}

// Nothing is no answer, whoever would say it is good; neither is a refusal.
func TestAnEmptyAnswerNeverPasses(t *testing.T) {
	for _, reply := range []provider.Reply{says(""), says(" \n\t"), refuses(""), {Stop: message.StopFilter}} {
		r := agentRig(t, "fusion", cast{
			"route-1": {route("complex")}, "plan-1": {plan("a")}, "verify-*": {verdict(true, "")},
			"": {together(mark("1")), reply},
		})
		end, err := r.Run(t.Context(), "")
		if err != nil || end.Status != session.Failed {
			t.Errorf("%+v: ended %s, %v", reply, end.Status, err)
		}
		check(t, "verdicts asked for", len(r.asks("verify-1")), 0)
	}
}

// interruptedOnce fails the first request of a scope.
func interruptedOnce(scope string, ordinal int, c cast) model {
	var done atomic.Bool
	return func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		if req.Label.Scope == scope && req.Label.Ordinal == ordinal && !done.Swap(true) {
			return provider.Reply{}, &provider.Error{Kind: provider.Network, Message: "gone"}
		}
		return c.play(ctx, req, emit)
	}
}

// Whatever it was in the middle of: what was routed and planned stays, and what
// the user says on resuming is added, not taken for the task.
func TestAResumeNeitherRoutesNorPlansAgain(t *testing.T) {
	for _, prompt := range []string{"", "in rhyme"} {
		for _, at := range []struct {
			scope   string
			ordinal int
		}{{"route-1", 1}, {"plan-1", 1}, {"", 1}, {"", 2}, {"verify-1", 1}, {"", 3}, {"verify-2", 1}} {
			r := agentRig(t, "fusion", interruptedOnce(at.scope, at.ordinal, cast{
				"route-*": {route("complex")}, "plan-*": {plan("a")}, "verify-1": {verdict(false, "no")}, "verify-*": {verdict(true, "")},
				"": {together(mark("1")), says("one"), says("two"), says("three")},
			}))
			r.run("", session.Interrupted, session.ReasonNetwork)
			before := len(r.asked)
			r.run(prompt, session.Completed, "")
			w := r.main().Work
			check(t, "the task", w.Task, "the task")
			checkList(t, "what was added", w.Added, append([]string{}, map[string][]string{"in rhyme": {"in rhyme"}}[prompt]...)...)
			heard := false
			for _, req := range r.asked[before:] {
				asked := lastSaid(req)
				if len(req.Tools) == 1 && req.Choice != "" {
					contains(t, "the question of "+req.Label.Scope+" after a stop in "+at.scope, asked, "# Task", "the task", prompt)
				}
				for _, m := range req.Messages {
					heard = heard || prompt != "" && req.Label.Scope == "" && m.Text() == prompt
				}
			}
			check(t, "the prompt being heard", heard, prompt != "")
			routes, plans := 0, 0
			for _, e := range r.log.events {
				switch e.Data.(type) {
				case *session.RouteSet:
					routes++
				case *session.PlanSet:
					plans++
				}
			}
			check(t, "routes", routes, 1)
			check(t, "plans and marks", plans, 2)
		}
	}
}

// A verdict is about the answer that it was asked about.
func TestAVerdictOfAnOlderAnswerDoesNotCount(t *testing.T) {
	r := agentRig(t, "fusion", interruptedOnce("verify-1", 1, cast{
		"route-1": {route("complex")}, "plan-1": {plan("a")}, "verify-*": {verdict(true, "")},
		"": {together(mark("1")), says("the old answer"), says("the new answer")},
	}))
	r.run("", session.Interrupted, session.ReasonNetwork)
	r.run("in rhyme", session.Completed, "")
	r.answer("the new answer")
	v := r.main().Work.Verdicts
	check(t, "verdicts", len(v), 1)
	ask := r.asks(v[0].From)[0]
	contains(t, "the question", lastSaid(ask), "in rhyme", "# The answer to judge", "the new answer")
	check(t, "children that are open", len(r.log.state.Open()), 0)
	check(t, "the next question", r.main().Question("verify"), "verify-2")
}

// What was done is told of the present task alone, and not without end.
func TestAQuestionTellsWhatWasDoneOfThisTask(t *testing.T) {
	replies := []provider.Reply{together(act("act", "of the first"), mark("1")), says("the first answer")}
	for i := range 45 {
		replies = append(replies, together(act("act", fmt.Sprint("number ", i, "."))))
	}
	r := agentRig(t, "fusion", cast{
		"route-*": {route("complex")}, "plan-*": {plan("a")}, "verify-*": {verdict(true, "")},
		"": append(replies, together(mark("1")), says("the second answer")),
	}, execute("act"))
	r.run("", session.Completed, "")
	r.run("and now?", session.Completed, "")
	ask := lastSaid(r.asks("verify-2")[0])
	contains(t, "the question", ask, "# Earlier", "the first answer", "# Task", "and now?", "(5 earlier ones are left out)", "number 5.", "number 44.", "# The answer to judge")
	without(t, "the question", ask, "of the first", "number 4.")
	check(t, "times that the task is told", strings.Count(ask, "and now?"), 1)
}
