package agent_test

import (
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// planOf is the plan that is understood of what a model says, once.
func planOf(t *testing.T, r provider.Reply) []string {
	t.Helper()
	rig := agentRig(t, "plan-solve", cast{
		"plan-1": {r, says("I have no plan.")},
		"":       {says("the answer")},
	})
	_, _ = rig.Run(t.Context(), "")
	if rig.main().Work.Plan == nil {
		t.Fatal("no plan was set")
	}
	if n := len(rig.asks("plan-1")); n > 1 {
		return nil // it could not be used
	}
	return rig.main().Work.Plan.Steps
}

func TestADecisionIsReadInWhateverFormItComes(t *testing.T) {
	for text, want := range map[string][]string{
		`{"steps": ["a", "b"]}`: {"a", "b"},
		"Here is my plan:\n```json\n{\"steps\": [\"a\", \"b\"]}\n```\nI hope you like it.": {"a", "b"},
		"```\n[\"a\", \"b\"]\n```":                                    {"a", "b"},
		`["a",]`:                                                      {"a"},
		"{\"steps\": [\"a\" , \"b\",\n ] , }":                         {"a", "b"},
		`{"steps": ["a, ]", "b,}"],}`:                                 {"a, ]", "b,}"},
		`{"steps": ["no"]} no, rather {"steps": ["a"]}`:               {"a"},
		`{"steps": ["a"]} with {"note": "nothing"}`:                   {"a"},
		`<think>{"steps": ["no"]}</think>{"steps": ["a"]}`:            {"a"},
		`{"steps": ["a"]}<thinking>or {"steps": ["no"]}`:              {"a"},
		"<think>\n{\"steps\": [\"no\"]}\n</think>\n":                  nil,
		`{"plan": ["a"]}`:                                             {"a"},
		`{"currentPlan": ["a"]}`:                                      {"a"},
		`{"revised_plan": [{"step": "a"}, {"description": "b"}]}`:     {"a", "b"},
		`{"tasks": [{"title": "a"}, {"name": " b "}, "c"]}`:           {"a", "b", "c"},
		`[{"text": "看看"}, {"task": "🙂"}]`:                             {"看看", "🙂"},
		`see [1] and {x: y}: {"steps": ["a \"quoted\" {word}"]}`:      {`a "quoted" {word}`},
		`{"steps": ["a \"} b"]} `:                                     {`a "} b`},
		`{"steps": ["say \",]\" to it",],}`:                           {`say ",]" to it`},
		`[1} and {"steps": ["a"]}`:                                    {"a"},
		`{'steps': ['it\'s "a"', 'b',]}`:                              {`it's "a"`, "b"},
		`{"steps": []}`:                                               nil,
		`{"steps": "a"}`:                                              nil,
		`{"steps": ["a", ""]}`:                                        nil,
		`{"steps": ["a", 7]}`:                                         nil,
		`{"steps": ["a"`:                                              nil,
		`{"steps": ["a"]]`:                                            {"a"}, // what is whole of it
		"I would look first, and then act.":                           nil,
		`{"steps": ["` + strings.Repeat(`a","`, 12) + `b"]}`:          nil,
		`{"steps": ["` + strings.Repeat(`a","`, 11) + `b"]}`:          strings.Split(strings.Repeat("a ", 11)+"b", " "),
		strings.Repeat("[", 1<<20) + `{"steps": ["a"]}`:               nil,
		strings.Repeat(`{"a":[`, 1<<17) + strings.Repeat(`]}`, 1<<17): nil,
	} {
		checkList(t, "the plan in "+text[:min(len(text), 200)], planOf(t, says(text)), want...)
	}
}

func TestADecisionIsReadOfCalls(t *testing.T) {
	for _, c := range []struct {
		reply provider.Reply
		want  []string
	}{
		{plan("a"), []string{"a"}},
		{calls("set_plan", `{"steps":["no"]}`, "set_plan", `{"steps":["a"]}`), []string{"a"}},
		{calls("set_plan", `{"steps":["a"]}`, "set_plan", `{"steps":[]}`), []string{"a"}},
		{calls("set_plan", `{"steps":["a"],}`), []string{"a"}},
		{calls("set_plan", `["a"]`), []string{"a"}},
		{calls("set_plan", `{"steps":["a"]`), nil},
		{calls("set_plan", ``), nil},
		{calls("other", `{"steps":["a"]}`), nil},
		{provider.Reply{Stop: message.StopCalls, Parts: []message.Part{message.Text(`{"steps":["no"]}`), plan("a").Parts[0]}}, []string{"a"}},
		{provider.Reply{Stop: message.StopCalls, Parts: []message.Part{message.Text(`{"steps":["a"]}`), plan().Parts[0]}}, []string{"a"}},
	} {
		checkList(t, "the plan", planOf(t, c.reply), c.want...)
	}
}

// A list that is only talked about is no plan; one that ends what is said is.
func TestABareListInProseIsNoPlan(t *testing.T) {
	for text, want := range map[string][]string{
		`I will set args = ["--foo", "--bar"] and then run the build.`: nil,
		`["--foo"] is an argument.`:                                    nil,
		"First `[\"--foo\"]`, then 构建。":                                nil,
		"With\n```json\n[\"--foo\"]\n and so on":                       nil,
		`The steps: ["a", "b"].`:                                       {"a", "b"},
		"The steps:\n```json\n[\"a\"]\n```\nThat is all.":              {"a"},
		"~~~\n[\"看看\"]\n~~~\n就这样。":                                     {"看看"},
		`Not ["--foo"]: {"steps": ["a"]} then`:                         {"a"},
	} {
		checkList(t, "the plan in "+text, planOf(t, says(text)), want...)
	}
}

// Words beside a call of something else are on the way to a decision; those of a
// reply that was cut have lost their end.
func TestWordsThatGoOnAreNoDecision(t *testing.T) {
	text := message.Text(`{"steps":["a"]}`)
	for _, r := range []provider.Reply{
		{Stop: message.StopCalls, Parts: []message.Part{text, calls("read_file", `{}`).Parts[0]}},
		{Stop: message.StopLength, Parts: []message.Part{text}},
		{Stop: message.StopFilter, Parts: []message.Part{text}},
		{Stop: message.StopRefusal, Parts: []message.Part{text}},
	} {
		checkList(t, "the plan of a reply that ends by "+string(r.Stop), planOf(t, r))
	}
}

// A reply that can't be used is answered with what was wrong, once.
func TestWhatWasWrongWithADecisionIsSaid(t *testing.T) {
	for _, c := range []struct {
		reply provider.Reply
		want  string
	}{
		{says("no"), "call the tool set_plan"},
		{calls("set_plan", `{"steps":[]}`), "at least one step"},
		{calls("set_plan", `{"steps`), "no JSON object"},
		{calls("ghost", `{}`), "call the tool set_plan"},
		{calls("set_plan", `{"steps":["`+strings.Repeat(`a","`, 12)+`b"]}`), "13 steps, at most 12"},
		{plan("a", strings.Repeat("步", 2001)), "step 2 has 2001 characters, at most 2000"},
		{provider.Reply{Stop: message.StopLength, Parts: []message.Part{message.Text("so long")}}, "be shorter"},
		{says(""), "call the tool set_plan"},
	} {
		r := agentRig(t, "plan-solve", cast{"plan-1": {c.reply, plan("a")}, "": {together(mark("1")), says("done")}})
		r.run("", session.Completed, "")
		asks := r.asks("plan-1")
		if len(asks) != 2 {
			t.Fatalf("%d requests for a plan", len(asks))
		}
		contains(t, "the question", lastSaid(asks[1]), "Try once more", c.want)
		answered := message.User
		if len(c.reply.Parts) > 0 && c.reply.Parts[0].Call != nil {
			answered = message.Tool
		}
		check(t, "who says what was wrong", asks[1].Messages[len(asks[1].Messages)-1].Role, answered)
		paired(t, asks[1].Messages)
		checkList(t, "the plan", r.main().Work.Plan.Steps, "a")
		check(t, "replies of the child", r.log.state.Scope("plan-1").Steps, 2)
	}
}

// The child that decides is offered its own tool alone, and has to call it.
func TestADecisionIsForcedByATool(t *testing.T) {
	r := agentRig(t, "plan-solve", cast{"plan-1": {plan("a")}, "": {together(mark("1")), says("done")}}, read("look"))
	r.run("", session.Completed, "")
	ask := r.asks("plan-1")[0]
	check(t, "the tool that has to be called", ask.Choice, "set_plan")
	check(t, "tools offered", len(ask.Tools), 1)
	contains(t, "the question", lastSaid(ask), "# Task", "the task", "look")
	c := r.log.state.Scope("plan-1")
	check(t, "the child's end", c.Turn.Status, session.Completed)
	check(t, "a call of the child that waits", len(c.Pending()), 1)
}

// A reply that does nothing but open brackets must not be looked at for ever.
func TestGarbageIsLookedAtOnlySoLong(t *testing.T) {
	for _, text := range []string{strings.Repeat("[", 4<<20), strings.Repeat(`{"`, 2<<20), strings.Repeat("[{", 1<<20) + strings.Repeat("}]", 1<<20), strings.Repeat("[1] ", 1<<18) + "x"} {
		checkList(t, "the plan", planOf(t, says(text)))
	}
}
