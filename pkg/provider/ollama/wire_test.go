package ollama

import (
	"encoding/json"
	"fmt"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

// adapter describes this package and its protocol to the common tests.
func adapter() providertest.Adapter {
	return providertest.Adapter{
		Protocol: "ollama",
		ID:       "ollama/m",
		New: func(o providertest.Options) (provider.Provider, error) {
			return New(Options{Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient, IdleTimeout: o.Idle})
		},
		Wire: providertest.Wire{
			NDJSON: true,
			Answer: wireAnswer,
			Error: func(message string) []providertest.Event {
				return []providertest.Event{{Data: fmt.Sprintf(`{"error":%q}`, "Server overloaded, please retry shortly: "+message)}}
			},
			Body: func(message string) string { return fmt.Sprintf(`{"error":%q}`, message) },
			Unknown: []providertest.Event{
				{Data: `{"status":"pulling manifest","completed":3}`},
				{Data: `{"model":"m","message":{"role":"assistant","mood":"calm"},"done":false,"logprobs":null}`},
				{Data: `["noise"]`},
			},
			Ends: true,
		},
	}
}

func wireAnswer(a providertest.Answer) []providertest.Event {
	var list []providertest.Event
	add := func(fields string) {
		list = append(list, providertest.Event{Data: `{"model":"m","created_at":"2026-12-01T10:00:00Z","message":{"role":"assistant",` + fields + `},"done":false}`})
	}
	for _, s := range a.Reasoning {
		add(`"content":"","thinking":` + s)
	}
	for _, s := range a.Text {
		add(`"content":` + s)
	}
	for i, c := range a.Calls {
		name, _ := json.Marshal(c.Name)
		add(fmt.Sprintf(`"content":"","tool_calls":[{"id":%q,"function":{"index":%d,"name":%s,"arguments":%s}}]`, c.ID, i, name, value(c.Arguments)))
	}
	// There is no word for a filter: one would be unknown.
	reason := map[providertest.End]string{
		providertest.Finished: "stop", providertest.AtLimit: "length", providertest.Filtered: "content_filter", providertest.Unknown: "abducted",
		providertest.Full: "context_length", providertest.Calling: "tool_calls",
	}[a.End]
	return append(list, providertest.Event{Data: fmt.Sprintf(
		`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":%q,"total_duration":9,"prompt_eval_count":%d,"eval_count":%d}`,
		reason, a.Usage.Input, a.Usage.Output)})
}

// value is text as a JSON value: itself, or a string if it is none.
func value(text string) string {
	switch {
	case text == "":
		return "null"
	case json.Valid([]byte(text)):
		return text
	}
	literal, _ := json.Marshal(text)
	return string(literal)
}

func TestConformance(t *testing.T)                    { providertest.Run(t, adapter()) }
func TestWhatTheServiceRefusesIsLeftOut(t *testing.T) { providertest.LeftOut(t, adapter()) }
func TestTheStreamIsAsTheSDKsReadIt(t *testing.T)     { providertest.GoldenStream(t, adapter(), *update) }
func TestRecordedAnswersAreUnderstood(t *testing.T)   { providertest.Recorded(t, adapter()) }
func TestRecordedErrorsAreClassified(t *testing.T)    { providertest.RecordedErrors(t, adapter()) }
func TestRecordedStreamsCutAnywhere(t *testing.T)     { providertest.CutAnywhere(t, adapter()) }
func TestRecordedAnswersOfWrongTypes(t *testing.T)    { providertest.WrongTypes(t, adapter()) }

func TestEveryQuirkOfTheFakeServer(t *testing.T) { providertest.Quirks(t, adapter(), fakeServer()) }
func TestEveryScenarioOfTheFakeServer(t *testing.T) {
	providertest.Scenarios(t, adapter(), fakeServer())
}

func fakeServer() providertest.FakeServer {
	return providertest.FakeServer{
		RulesOn: []string{"unknown_field", "roles_alternate"},
		Errors: map[string]provider.Kind{
			"comment_body": provider.Server, // no JSON
			"cut_call":     "",              // a call is one line: the cut comes too late
		},
		Stops: map[string]message.StopReason{ // the protocol has no word for these
			"refusal": message.StopEnd, "content_filter": message.StopEnd,
		},
	}
}

func FuzzDecode(f *testing.F) {
	providertest.Fuzz(f, adapter(),
		`{"message":{"content":"a","tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}},{}]},"done":true}`,
		`{"model":7,"message":{"content":null,"thinking":"\ud83d"},"done":false}{"done":true,"done_reason":"length","eval_count":"3"}`,
		`{"done":true,"done_reason":"load"}`,
	)
}
