package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"kagent/pkg/message"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// plays is a script whose first reply makes calls and whose second is the
// answer. A call is "tool value".
func plays(calls ...string) string {
	var b strings.Builder
	b.WriteString("replies:\n  - when: {tool_results: 0}\n    tool_calls:\n")
	for _, c := range calls {
		name, v, _ := strings.Cut(c, " ")
		fmt.Fprintf(&b, "      - {name: %q, arguments: {v: %q}}\n", name, v)
	}
	return b.String() + "  - text: done\n"
}

func TestCallsOfAReplyRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which knows a deadlock when it sees one
		barrier := make(chan int)
		first, second := read("first"), read("second")
		first.do = func(context.Context, tool.Call) tool.Result { barrier <- 1; return tool.Success("") }
		second.do = func(context.Context, tool.Call) tool.Result { <-barrier; return tool.Success("") }
		r := newRig(t, plays("first a", "second b"), first, second)
		r.run("", session.Completed, "")
		checkList(t, "results", results(r.log), "0 ok", "1 ok")
	})
}

func TestNoMoreThanParallelCallsRunAtOnce(t *testing.T) {
	for parallel, want := range map[int]int{1: 1, 3: 3, 0: 8, 100: 10} {
		synctest.Test(t, func(t *testing.T) {
			running, release := make(chan int, 10), make(chan int)
			wait := read("wait")
			wait.do = func(context.Context, tool.Call) tool.Result {
				running <- 1
				<-release
				<-running
				return tool.Success("")
			}
			r := newRig(t, plays("wait 0", "wait 1", "wait 2", "wait 3", "wait 4", "wait 5", "wait 6", "wait 7", "wait 8", "wait 9"), wait)
			r.Parallel = parallel
			go func() {
				for left := 10; left > 0; left-- {
					synctest.Wait()
					check(t, "calls that run", len(running), min(want, left))
					release <- 1
				}
			}()
			r.run("", session.Completed, "")
			check(t, "results", len(results(r.log)), 10)
		})
	}
}

func TestResultsAreRecordedInCallOrderWhateverOrderTheyComeIn(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}} {
		synctest.Test(t, func(t *testing.T) {
			var turns [4]chan int // a call waits for its turn and then gives the next its own
			for i := range turns {
				turns[i] = make(chan int, 1)
			}
			slow := read("slow")
			slow.do = func(_ context.Context, c tool.Call) tool.Result {
				me := int(arg(c.Args)[0] - '0')
				<-turns[me]
				for i, o := range order {
					if o == me && i < 2 {
						turns[order[i+1]] <- 1
					}
				}
				return tool.Success(arg(c.Args))
			}
			turns[order[0]] <- 1
			r := newRig(t, plays("slow 0", "slow 1", "slow 2"), slow)
			r.run("", session.Completed, "")
			checkList(t, "results", results(r.log), "0 ok", "1 ok", "2 ok")
			for i, res := range data[*session.ToolResult](r.log) {
				check(t, "a text", res.Text, fmt.Sprint(i))
			}
		})
	}
}

func TestEveryCallHasItsOwnKeyAndTheToolGetsIt(t *testing.T) {
	act := execute("act")
	r := newRig(t, plays("act a", "act b"), act)
	r.Parallel = 1
	r.run("", session.Completed, "")
	begun := data[*session.ToolCall](r.log)
	check(t, "calls begun", len(begun), 2)
	for i, c := range begun {
		check(t, "the key", c.Key, fmt.Sprintf("key-%d", i+1))
		check(t, "the attempt", c.Attempt, 1)
		check(t, "the tool", c.Tool, "act")
	}
	check(t, "runs", len(act.keys), 2)
}

func TestNoToolStartsBeforeItsIntentIsDurable(t *testing.T) {
	var r *rig
	act := execute("act")
	act.do = func(_ context.Context, c tool.Call) tool.Result {
		if !r.log.intended(c.Key) {
			t.Errorf("call %s has begun, and a power cut would hide it", c.Key)
		}
		return tool.Success("")
	}
	r = newRig(t, plays("act a", "act b"), act)
	r.run("", session.Completed, "")
}

// F095, F103: nothing runs on a guess, the model is told, the loop goes on.
func TestCallsThatCannotRunAreObservations(t *testing.T) {
	for name, c := range map[string]struct {
		tool, arguments string
		outcome         session.Outcome
		text            string
	}{
		"trailing comma":      {"look", `{"v": "a", }`, session.OutcomeInvalid, "not valid JSON"},
		"cut":                 {"look", `{`, session.OutcomeInvalid, "end too early"},
		"an array":            {"look", `[1]`, session.OutcomeInvalid, "an array"},
		"a string":            {"look", `"x"`, session.OutcomeInvalid, "a string"},
		"two objects":         {"look", `{"v":"a"}{"v":"b"}`, session.OutcomeInvalid, "more text"},
		"nothing":             {"look", ``, session.OutcomeInvalid, `"v" is missing`},
		"a wrong type":        {"look", `{"v": 1}`, session.OutcomeInvalid, "v"},
		"no such tool":        {"no_such_tool", `{"v":"a"}`, session.OutcomeInvalid, "those there are: look"},
		"an illegal name":     {"read file!", `{"v":"a"}`, session.OutcomeInvalid, "no tool"},
		"a long name":         {strings.Repeat("n", 300), `{"v":"a"}`, session.OutcomeInvalid, "no tool"},
		"a tool not allowed":  {"hidden", `{"v":"a"}`, session.OutcomeDenied, "does not allow hidden"},
		"bytes that are none": {"look", "{\"v\": \"\xff", session.OutcomeInvalid, "end too early"},
	} {
		look, hidden := read("look"), execute("hidden")
		r := newRig(t, model(twice(message.ToolCall{ID: "c", Name: c.tool, Arguments: c.arguments})), look, hidden)
		r.set(func(s *session.Settings) { s.Tools = []string{"look"} })
		r.run("", session.Completed, "")
		res := data[*session.ToolResult](r.log)
		if len(res) != 1 || res[0].Outcome != c.outcome || !strings.Contains(res[0].Text, c.text) {
			t.Errorf("%s: %+v", name, res[0])
		}
		check(t, name+": runs", len(look.keys)+len(hidden.keys), 0)
		check(t, name+": calls begun", len(data[*session.ToolCall](r.log)), 0)
		told := r.asked[1].Messages[2].Parts[0].Result
		if told.ID != "c" || !told.IsError || told.Text != res[0].Text {
			t.Errorf("%s: the model is told %+v", name, told)
		}
	}
}

func TestTheCallsBesideOneThatCannotRunStillDo(t *testing.T) {
	look, hidden := read("look"), execute("hidden")
	r := newRig(t, plays("ghost x", "look a", "hidden b", "look c"), look, hidden)
	r.set(func(s *session.Settings) { s.Tools = []string{"look"} })
	r.run("", session.Completed, "")
	checkList(t, "results", results(r.log), "0 invalid", "1 ok", "2 denied", "3 ok")
	checkList(t, "denied", r.log.state.Denied, "hidden")
	check(t, "calls that ran", r.log.state.ToolCalls, 2)
}

func TestArgumentsThatWereCutSaySo(t *testing.T) {
	r := newRig(t, `
replies:
  - when: {ordinal: 1}
    tool_calls: [{name: look, arguments: '{"v": "abc'}]
    stop: length
  - text: done
`, read("look"))
	r.run("", session.Completed, "")
	if res := data[*session.ToolResult](r.log)[0]; !strings.Contains(res.Text, "cut at the output limit") {
		t.Errorf("the model is told %q", res.Text)
	}
}

// The second call's "before" is the first one's "after".
func TestWritesToTheSameFileTakeTurns(t *testing.T) {
	put := newFile()
	r := newRig(t, plays("put one", "look a", "put two", "look b", "put three"), put, read("look"))
	r.run("", session.Completed, "")
	var changes []string
	for _, c := range data[*session.ToolCall](r.log) {
		if c.Change != nil {
			changes = append(changes, c.Change.Before+">"+c.Change.After)
		}
	}
	checkList(t, "changes", changes, ">one", "one>two", "two>three")
	checkList(t, "results", results(r.log), "0 ok", "1 ok", "2 ok", "3 ok", "4 ok")
	check(t, "steps", len(data[*session.StepEnd](r.log)), 2)
}

func TestAWriteThatIsRefusedBeforehandIsAnObservation(t *testing.T) {
	put := newFile()
	r := newRig(t, plays("put refuse", "put unrecognisable"), put)
	r.run("", session.Completed, "")
	checkList(t, "results", results(r.log), "0 error", "1 ok")
	check(t, "runs", len(put.keys), 1)
}

func TestAToolThatPanicsIsAnObservation(t *testing.T) {
	bad := execute("bad")
	bad.do = func(context.Context, tool.Call) tool.Result { panic("at \xff the disco") }
	r := newRig(t, plays("bad x", "look a"), bad, read("look"))
	r.run("", session.Completed, "")
	checkList(t, "results", results(r.log), "0 error", "1 ok")
	if text := data[*session.ToolResult](r.log)[0].Text; !strings.Contains(text, "at \uFFFD the disco") {
		t.Errorf("the model is told %q", text)
	}
}

func TestAToolsResultIsRecordedWhole(t *testing.T) {
	code := 3
	sh := execute("sh")
	sh.do = func(context.Context, tool.Call) tool.Result {
		return tool.Result{Outcome: tool.Failed, Text: "no\x00 \xff", ExitCode: &code, Omitted: 7}
	}
	r := newRig(t, plays("sh x"), sh)
	r.run("", session.Completed, "")
	res := data[*session.ToolResult](r.log)[0]
	if res.Outcome != session.OutcomeError || res.Text != "no\uFFFD \uFFFD" || *res.ExitCode != 3 || res.Omitted != 7 {
		t.Errorf("recorded %+v", res)
	}
}
