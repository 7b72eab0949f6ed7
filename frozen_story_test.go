package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

func writeV1(t *testing.T) {
	a := newAuthor(t, v1, "v1.0.0")
	a.create("gone", "v1.0.0")
	a.say(&session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1}, &session.Removed{})
	a.close()
	a.create("frozen", "v1.0.0")
	a.firstTurn()
	a.close()
	log, err := os.OpenFile(filepath.Join(v1, "frozen", "events.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = log.WriteString(`{"crc":"12345678","prev":"0badc0de","dur":2`) // a power cut
	must(t, err)
	must(t, log.Close())
	a.j, _, err = a.store.Open("frozen")
	must(t, err)
	a.secondEpoch()
	a.open("frozen")
	a.laterTurns()
	a.agents()
	a.close()
}

// firstTurn has every kind of part, and one call of each outcome that a tool or
// a policy gives. It stops in the middle of a call.
func (a *author) firstTurn() {
	failure := &session.Failure{Kind: "server", Message: "HTTP 503: 服务器忙", Status: 503}
	a.say(&session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1})
	a.commit()
	a.say(&session.StepStart{Step: 1}, &session.AssistantChunk{Text: "Let"}, &session.RequestRetried{Attempt: 1, DelayMs: 250, Error: failure},
		&session.AssistantChunk{Text: "Let me "}, &session.AssistantChunk{Text: "look 👀"})
	call := func(id, name, arguments string) message.Part {
		return message.Call(message.ToolCall{ID: id, Name: name, Arguments: arguments})
	}
	write := call("c", "write_file", `{"path":"文件.txt","content":"<b>&amp;\u0000"}`)
	write.Opaque = json.RawMessage(`{"thoughtSignature":"AbC+/=="}`)
	a.ask(message.StopCalls,
		message.Part{Type: message.TypeReasoning, Text: "想一想 🤔", Opaque: json.RawMessage(`{"signature":"a\u003cb/+==","n":12345678901234567890,"x":1.0,"N":[1,{"a":1,"a":2}]}`)},
		message.Text("Let me look 👀 at <all> of it:\n\t"+rtl), write,
		call("c", "shell", `{"command":"ls"}`), call("", "shell", `{"command":"rm -rf /"}`), call("x|y z", "no such tool", `{broken`),
		call("t", "shell", `{"command":"sleep 1000"}`), call("e", "read_file", `[]`), call("s", "shell", ``))
	a.begin(0, 1, &message.FileChange{Path: "文件.txt", After: strings.Repeat("ef", 32)})
	a.begin(1, 1, nil)
	must(a.T, a.j.Sync())
	a.result(0, session.OutcomeOK, "wrote 11 bytes")
	a.artifact(1, strings.Repeat("一行输出 of a tool\n", 500))
	a.result(2, session.OutcomeDenied, "shell(rm *) is not allowed")
	a.result(3, session.OutcomeInvalid, "there is no tool \"no such tool\"")
	a.result(4, session.OutcomeTimeout, "stopped after 10 s")
	a.result(5, session.OutcomeError, "path is missing")
	a.result(6, session.OutcomeStopped, "")
	a.endStep()
	a.ask(message.StopCalls, message.Text(""), call("", "shell", `{"command":"mail"}`), call("", "shell", `{"command":"deploy"}`), call("", "read_file", `{"path":"a"}`))
	a.begin(0, 1, nil)
	a.begin(1, 1, nil)
	must(a.T, a.j.Sync())
}

func (a *author) artifact(i int, text string) {
	f, err := a.j.Artifacts().Create()
	must(a.T, err)
	_, err = f.Write([]byte(text))
	must(a.T, err)
	kept, err := f.Keep()
	must(a.T, err)
	code := 3
	a.say(&session.ToolResult{Call: a.call(i), Outcome: session.OutcomeOK, Text: text[:30], ExitCode: &code, Omitted: int64(len(text) - 30), Artifact: &kept, DurationMs: 1500})
}

// secondEpoch comes after the crash: a person decides about one call in doubt,
// the model is told that the other is unknown, the third runs.
func (a *author) secondEpoch() {
	s := frozenSettings()
	s.Limits.MaxSteps, s.OnUnknown, s.Tools = 2, "stop", []string{"read_file", "shell"}
	a.say(&session.SettingsChanged{Settings: s}, &session.OutcomeSettled{Call: a.call(0), Verdict: session.VerdictDone, Text: "我看过了"},
		&session.TurnStart{Turn: 1, Continues: 1})
	a.commit()
	a.result(0, session.OutcomeOK, "done, the user has checked: 我看过了")
	a.result(1, session.OutcomeUnknown, "nobody knows")
	a.begin(2, 1, nil)
	a.begin(2, 2, nil)
	a.result(2, session.OutcomeOK, "package a")
	a.endStep()
	a.say(&session.TurnEnd{Turn: 1, Status: session.Paused, Reason: session.ReasonMaxSteps, Error: &session.Failure{Kind: "max_steps", Message: "the limit of 2"}})
	a.commit()
}

// laterTurns are cut by a service, by a signal, and one is completed.
func (a *author) laterTurns() {
	a.say(&session.UserMessage{Source: session.FromUser, Text: "and now? " + family}, &session.TurnStart{Turn: 2})
	a.commit()
	a.ask(message.StopLength, message.Text("The first half, "))
	a.endStep()
	a.say(&session.UserMessage{Source: session.FromAgent, Text: "go on"}, &session.StepStart{Step: 4}, &session.AssistantChunk{Text: "cut o"})
	a.say(&session.TurnEnd{
		Turn: 2, Status: session.Interrupted, Reason: session.ReasonRateLimit, RetryAt: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC),
		Error: &session.Failure{Kind: "rate_limit", Message: "later", Status: 429},
	})
	a.commit()
	a.open("frozen")
	lost := []session.Lost{{First: 3, Last: 4, Offset: 900, Bytes: 700, Why: "its checksum does not fit"}}
	a.say(&session.Repaired{From: "older", Lost: lost, Note: "[A part of this session's record was lost.]"}, &session.TurnStart{Turn: 2, Continues: 2})
	a.commit()
	must(a.T, a.j.Append("plan-1", &session.StepStart{Step: 1}, // a child's question
		&session.AssistantMessage{Parts: []message.Part{message.Text("1. 看")}, Stop: message.StopEnd, Usage: message.Usage{Total: 7}, Model: "openai/m"},
		&session.StepEnd{Step: 1}))
	a.ask(message.StopEnd, message.Text("and the second. 完了 ✅"))
	a.endStep()
	a.say(&session.TurnEnd{Turn: 2, Status: session.Completed})
	a.commit()
}

// agents is a turn with all that the agents conclude; no one agent concludes it
// all.
func (a *author) agents() {
	a.say(&session.UserMessage{Source: session.FromUser, Text: "now the hard one 🧗"}, &session.TurnStart{Turn: 3})
	a.child("route-1", "route", "")
	a.say(&session.RouteSet{Complexity: session.Complex, Reason: "多步", From: "route-1"})
	a.child("plan-2", "plan", "")
	a.say(&session.PlanSet{Steps: []string{"看", "do"}, Done: []int{}, From: "plan-2"}, &session.ApprovalGiven{What: "plan"},
		&session.PlanSet{Steps: []string{"看", "do"}, Done: []int{0}, From: "plan-2"})
	a.child("split-1", "split", "")
	a.say(&session.GraphSet{Round: 1, From: "split-1", Nodes: []session.GraphNode{
		{ID: "a", Task: "左", Needs: []string{}, Round: 1}, {ID: "b", Task: "right", Needs: []string{"a"}, Profile: "writer", Round: 1},
	}})
	a.child("node/a", "", "左 is done")
	a.child("join-1", "", "both are done: "+rtl)
	a.say(&session.AnswerAdopted{From: "join-1"})
	a.say(&session.VerdictGiven{OK: true, Feedback: "", Reply: a.j.State().Seq, From: "verify-1"})
	a.say(&session.ContextTrimmed{Turns: 0, Before: 0, Outputs: 20}, &session.ContextCompacted{}, &session.CompactFailed{Error: &session.Failure{Kind: "incomplete", Message: "empty"}},
		&session.Forked{From: "older", At: 17}, &session.Imported{Format: "kagent-ts", Origin: "older.json"})
	a.say(&session.TurnEnd{Turn: 3, Status: session.Completed})
	a.commit()
}

// child is a question that is answered in words, or by a tool.
func (a *author) child(scope, decide, answer string) {
	parts := []message.Part{message.Text(answer)}
	if decide != "" {
		parts = []message.Part{message.Call(message.ToolCall{ID: "d", Name: decide, Arguments: "{}"})}
	}
	must(a.T, a.j.Append(scope, &session.ChildCreated{Task: "问: " + scope, System: "Decide.", Tools: []string{}, Decide: decide},
		&session.TurnStart{Turn: 1}, &session.StepStart{Step: 1},
		&session.AssistantMessage{Parts: parts, Stop: message.StopEnd, Usage: message.Usage{Input: 5, Output: 2, Total: 7}, Model: "openai/m"},
		&session.StepEnd{Step: 1}, &session.TurnEnd{Turn: 1, Status: session.Completed}))
}
