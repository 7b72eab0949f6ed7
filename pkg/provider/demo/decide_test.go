package demo

import (
	"encoding/json"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// ask sends one request and returns the calls of the reply.
func ask(t *testing.T, req provider.Request) []message.ToolCall {
	t.Helper()
	req.Label.Ordinal = 1
	r, err := New().Stream(t.Context(), req, func(provider.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return message.Message{Parts: r.Parts}.Calls()
}

func user(text string) []message.Message {
	return []message.Message{{Role: message.User, Parts: []message.Part{message.Text(text)}}}
}

func TestWhatHasToBeDecidedIsDecidedByTheTool(t *testing.T) {
	for _, name := range []string{"set_plan", "set_route", "give_verdict", "set_graph", "something_else"} {
		calls := ask(t, provider.Request{Messages: user("# Task\n\n看看这里"), Choice: name})
		if len(calls) != 1 || calls[0].Name != name || !json.Valid([]byte(calls[0].Arguments)) {
			t.Errorf("%s: %+v", name, calls)
		}
	}
}

func TestSeveralSentencesAreComplex(t *testing.T) {
	for task, want := range map[string]string{"look": "simple", "Look. Then tell.": "complex", "看。说。": "complex", "": "simple"} {
		var got struct{ Complexity string }
		calls := ask(t, provider.Request{Messages: user("# Task\n\n" + task), Choice: "set_route"})
		if json.Unmarshal([]byte(calls[0].Arguments), &got); got.Complexity != want {
			t.Errorf("%q is %q, want %q", task, got.Complexity, want)
		}
	}
}

func TestStepsOfAPlanAreMarkedBeforeTheAnswer(t *testing.T) {
	req := provider.Request{
		Messages: user("do"), Tools: []message.ToolSpec{{Name: markTool}},
		Note: "[The plan: 1 of 3 steps are done]\n1. [x] a\n2. [ ] b\n3. [ ] c\n",
	}
	calls := ask(t, req)
	if len(calls) != 2 || calls[0].Arguments != `{"step":2}` || calls[1].Arguments != `{"step":3}` {
		t.Errorf("%+v", calls)
	}
	req.Note = "1. [x] a\n"
	if calls = ask(t, req); len(calls) != 0 {
		t.Errorf("with nothing left: %+v", calls)
	}
}
