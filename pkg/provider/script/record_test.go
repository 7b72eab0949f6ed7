package script_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/script"
)

func TestWhatIsRecordedIsSaidAgainToTheByte(t *testing.T) {
	code := 3
	for _, args := range []string{
		`{}`, `{"a":"{{last_user}}"}`, `{ "a" : 1 }`, `{"a":1,"a":2}`, `not json`, ``, `[1]`, `{"x":"\u00e9 é 😀"}`, `{"n":1e400}`,
	} {
		said := script.Recorded{
			Scope: "node/x", Ordinal: 2, LastUser: strings.Repeat("長 {{ordinal}} ", 500), Tools: []string{"shell"},
			Parts: []message.Part{
				{Type: message.TypeReasoning, Text: "hm {{attempt}}"},
				message.Text("שלום {{last_user}} <&>"),
				message.Call(message.ToolCall{Name: "shell", Arguments: args}), message.Call(message.ToolCall{Arguments: "{}"}),
			},
			Stop: message.StopCalls, Usage: message.Usage{Input: 3, CacheRead: 7, Output: 1, Reasoning: 2},
			Results: []*script.Result{{Outcome: "error", Text: "{{tool_result}}", ExitCode: &code}},
		}
		var file bytes.Buffer
		if err := script.Write(&file, []script.Recorded{said}); err != nil {
			t.Fatal(err)
		}
		s := parse(t, file.String())
		req := offering(labelled("node/x", 2, 1), "shell")
		req.Messages = []message.Message{user(said.LastUser)}
		reply, _, err := ask(t, s, req)
		if err != nil || len(reply.Parts) != 4 || !reflect.DeepEqual(reply.Parts[:2], said.Parts[:2]) || reply.Stop != said.Stop {
			t.Fatalf("%s: %+v, %v\n%s", args, reply, err, file.String())
		}
		if got := reply.Parts[2].Call.Arguments; got != args {
			t.Errorf("arguments %q became %q", args, got)
		}
		if got, ok := script.ResultOf(*reply.Parts[2].Call, s); !ok || !reflect.DeepEqual(got, *said.Results[0]) {
			t.Errorf("result %+v, %v", got, ok)
		}
		if got, ok := script.ResultOf(*reply.Parts[3].Call, s); !ok || got.Outcome != "error" {
			t.Errorf("a call without a result: %+v, %v", got, ok)
		}
		if got, ok := script.ResultOf(*reply.Parts[2].Call, parse(t, "replies: [{text: x}]")); !ok || !strings.Contains(got.Text, "has changed") {
			t.Errorf("in another file: %+v, %v", got, ok)
		}
		req.Messages = []message.Message{user("other")}
		if got := text(t, s, req); !strings.Contains(got, "reply 1 is the nearest, but the user's text is not the one") {
			t.Error(got)
		}
	}
}

func TestAFailureIsRecordedForItsTriesOnly(t *testing.T) {
	var file bytes.Buffer
	err := script.Write(&file, []script.Recorded{
		{Ordinal: 1, Tries: 2, Fail: &provider.Error{Kind: provider.Quota, Message: "no money", Status: 402}},
		{Ordinal: 1, Parts: []message.Part{message.Text("at last")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := parse(t, file.String())
	for attempt, want := range map[int]string{1: "script: quota (HTTP 402): no money", 2: "script: quota (HTTP 402): no money", 3: "at last"} {
		if got := text(t, s, labelled("", 1, attempt)); got != want {
			t.Errorf("attempt %d: %q", attempt, got)
		}
	}
}

func TestACallThatNoResultIsWrittenForRunsItsTool(t *testing.T) {
	s := parse(t, "replies: [{tool_calls: [{name: a}]}]")
	reply, _, err := ask(t, s, request(user("x")))
	if _, ok := script.ResultOf(*reply.Parts[0].Call, s); ok || err != nil {
		t.Errorf("%+v, %v", reply, err)
	}
}
