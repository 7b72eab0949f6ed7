package session_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"testing"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

func examples() []session.Data {
	code, cost, warm := 3, 0.25, 0.5
	settings := session.Settings{
		Agent: "react", Model: "p/m", BaseURL: "http://localhost", APIKeyEnv: "KEY", Headers: []string{"X-Org: a"}, System: "be", Workdir: "/w",
		Tools: []string{"shell"}, Allow: []string{"execute"}, Env: []string{"HOME"}, Limits: session.Limits{MaxSteps: 7, MaxTotalSteps: 8, MaxTotalTokens: 9, MaxCost: 0.5, MaxActive: session.Duration(time.Hour), Until: at(7)},
		OnUnknown: "tell", Retries: 5, RetryMaxWait: session.Duration(time.Minute),
		StepTimeout: session.Duration(90 * time.Second), IdleTimeout: session.Duration(time.Hour), ConfirmPlan: true, FailOnDenied: true, RequireTools: []string{"shell"}, ContextChars: 1000, Sampling: session.Sampling{Effort: "high", Temperature: &warm, MaxOutput: 900}, OutputSchema: json.RawMessage(`{"type":"object"}`),
		Profiles: []session.Profile{{Name: "writer", Description: "writes", Tools: []string{"read_file"}, Model: "p/n", System: "write"}},
	}
	failure := &session.Failure{Kind: "server", Message: "no", Status: 503}
	usage := message.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Total: 6}
	parts := []message.Part{
		{Type: message.TypeReasoning, Text: "hm", Opaque: json.RawMessage(`{"signature":"s="}`)},
		message.Text("a\n\u2028<&>\U0001F600"),
		message.Call(message.ToolCall{ID: "c", Name: "shell", Arguments: "{broken"}),
	}
	return []session.Data{
		&session.Created{Schema: session.Schema, ID: "s", Task: "do", PromptHash: "ab", Settings: settings, Version: "v1"},
		&session.Opened{Attempt: 2, PID: 7, Host: "h", BootID: "b", Version: "v1"},
		&session.Removed{},
		&session.SettingsChanged{Settings: settings},
		&session.TurnStart{Turn: 2, Continues: 2},
		&session.TurnEnd{Turn: 2, Status: session.Interrupted, Reason: session.ReasonServer, Error: failure, RetryAt: at(9)},
		&session.StepStart{Step: 4},
		&session.StepEnd{Step: 4},
		&session.UserMessage{Source: session.FromUser, Text: "hi", Inbox: "00000000000000000001-a"},
		&session.RequestHeader{Model: "p/m", Tools: []string{"shell"}, Prompt: "cd", Chars: 1234, Sampling: settings.Sampling},
		&session.RequestRetried{Attempt: 1, DelayMs: 250, Error: failure, Next: "p/n", GivenUp: true, Billed: session.Billed{Model: "p/m", Usage: &usage, CostUSD: &cost}},
		&session.AssistantChunk{Text: "so f"},
		&session.AssistantMessage{Parts: parts, Stop: message.StopCalls, Usage: usage, Model: "p/m", AnsweredBy: "m-1", CostUSD: &cost, Masked: []string{"url-password"}},
		&session.ToolCall{Call: id(17, 2), Tool: "shell", Attempt: 2, Key: "k", Change: &message.FileChange{Path: "f", Before: "1", After: "2"}},
		&session.ToolResult{Call: id(17, 2), Outcome: session.OutcomeError, Text: "no", ExitCode: &code, Omitted: 5, Artifact: &message.Artifact{Ref: "ab", Bytes: 7, Cut: true}, DurationMs: 6},
		&session.OutcomeSettled{Call: id(17, 2), Verdict: session.VerdictDone, Text: "I looked"},
		&session.LogRepaired{Offset: 100, Bytes: 5, File: "torn-100"},
		&session.Repaired{From: "old", Lost: []session.Lost{{First: 3, Last: 4, Offset: 100, Bytes: 5, Why: "torn"}}, Note: "events are lost"},
		&session.ChildCreated{Task: "do", System: "be", Tools: []string{"shell"}, Decide: "set_plan", Model: "p/n", Profile: "writer", Asked: "ab", Before: 9, Artifacts: []message.Artifact{{Ref: "ab", Bytes: 7}}},
		&session.PlanSet{Steps: []string{"look", "do"}, Done: []int{1}, Replans: 2, From: "plan-3"},
		&session.RouteSet{Complexity: session.Complex, Reason: "many files", From: "route-1"},
		&session.GraphSet{Round: 2, Nodes: []session.GraphNode{{ID: "a", Task: "do", Needs: []string{"b"}, Profile: "writer", Round: 1}}, From: "split-1"},
		&session.VerdictGiven{OK: true, Feedback: "well", Reply: 17, From: "verify-1"},
		&session.AnswerAdopted{From: "join-1"},
		&session.ApprovalGiven{What: "plan"},
		&session.ContextTrimmed{Turns: 1, Before: 9, Outputs: 12},
		&session.ContextCompacted{Turns: 1, Before: 9, Summary: "so far", Auto: true, From: "summarise-1"},
		&session.CompactFailed{Error: failure, From: "summarise-1"},
		&session.Forked{From: "old", At: 17},
		&session.Imported{Format: "kagent-ts", Origin: "old", Note: "a call was under way", Iterations: 2, ToolCalls: 1, Usage: usage},
	}
}

func TestTheExamplesShowEveryKindWithEveryField(t *testing.T) {
	var src []byte
	for _, name := range []string{"kinds.go", "kinds_agent.go"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src = append(src, b...)
	}
	shown := map[string]bool{}
	for _, d := range examples() {
		shown[string(d.Type())] = true
		if name := zeroField(reflect.ValueOf(d)); name != "" {
			t.Errorf("the example of %s leaves %s unset", d.Type(), name)
		}
	}
	kinds := regexp.MustCompile(`Type\(\) Type +{ return "([^"]+)" }`).FindAllSubmatch(src, -1)
	for _, k := range kinds {
		if !shown[string(k[1])] {
			t.Errorf("no example of %s", k[1])
		}
	}
	check(t, "the number of kinds", len(kinds), len(shown))
}

// zeroField names a field that is unset, at any depth; a part has but one of
// its fields.
func zeroField(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		return zeroField(v.Elem())
	case reflect.Struct:
		if _, isTime := v.Interface().(time.Time); isTime {
			break
		}
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				return v.Type().Field(i).Name
			}
			if name := zeroField(v.Field(i)); name != "" {
				return v.Type().Field(i).Name + "." + name
			}
		}
	}
	return ""
}

func TestEveryKindSurvivesJSON(t *testing.T) {
	for i, d := range examples() {
		want := session.Event{Seq: int64(i + 1), Epoch: 2, Time: at(3), Scope: "node/x", Type: d.Type(), Data: d}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got session.Event
		if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", d.Type(), got.Data, err, want.Data)
		}
		if again, err := json.Marshal(got); err != nil || string(again) != string(b) {
			t.Errorf("%s changes when it is written again: %s, %v\nbefore %s", d.Type(), again, err, b)
		}
	}
}

func TestUnknownKindsAreKept(t *testing.T) {
	for _, line := range []string{
		`{"seq":5,"epoch":1,"time":"2026-12-01T08:00:05Z","scope":"","type":"vote/cast","data":{"steps":["a",{"b":1e400}]}}`,
		`{"seq":5,"epoch":1,"time":"2026-12-01T08:00:05Z","scope":"","type":"vote/cast","data":null}`,
		`{"seq":5,"epoch":1,"time":"2026-12-01T08:00:05Z","scope":"","type":"","data":[]}`,
	} {
		var e session.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if b, err := json.Marshal(e); err != nil || string(b) != line {
			t.Errorf("written again as %s, %v", b, err)
		}
		var s session.State
		s.Apply(e)
		if len(s.UnknownOf) != 1 || s.UnknownOf[0] != e.Type || s.Seq != 5 {
			t.Errorf("the state of %s: %+v", line, s)
		}
	}
	// Without data at all it must still be possible to show it.
	var e session.Event
	if err := json.Unmarshal([]byte(`{"seq":1,"type":"new/kind"}`), &e); err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(e); err != nil {
		t.Errorf("an unknown event without data can't be written: %v", err)
	}
}

func TestUnknownFieldsOfKnownKindsDoNoHarm(t *testing.T) {
	var e session.Event
	err := json.Unmarshal([]byte(`{"seq":1,"type":"step/start","data":{"step":3,"later":true},"later":1}`), &e)
	if d, ok := e.Data.(*session.StepStart); err != nil || !ok || d.Step != 3 {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestDataThatDoNotFitTheirKindAreAnError(t *testing.T) {
	for _, line := range []string{
		`{"seq":1,"type":"step/start","data":{"step":"three"}}`,
		`{"seq":1,"type":"step/start","data":[1]}`,
		`{"seq":1,"type":"step/start"}`,
		`{"seq":1,"type":"tool/call","data":{"call":"17"}}`,
		`{"seq":1,"type":"tool/call","data":{"call":"17.-1"}}`,
		`{"seq":"1","type":"step/start","data":{}}`,
		`[]`,
	} {
		var e session.Event
		if err := json.Unmarshal([]byte(line), &e); err == nil {
			t.Errorf("%s was taken as %+v", line, e.Data)
		}
	}
}

func TestCallIDsReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]session.CallID{"17.0": id(17, 0), "0.0": id(0, 0), "9223372036854775807.12": id(1<<63-1, 12)} {
		var got session.CallID
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want || want.String() != text {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ".", "17", "17.", ".0", "17.0.0", "-1.0", "17.-0x", "a.b", "99999999999999999999.0"} {
		got := id(1, 1)
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken as %v", text, got)
		}
	}
}
