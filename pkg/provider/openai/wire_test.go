package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

// adapter describes this package and its protocol to the common tests.
func adapter() providertest.Adapter {
	return providertest.Adapter{
		Protocol: "openai-chat",
		ID:       "openai/m",
		New: func(o providertest.Options) (provider.Provider, error) {
			return New(Options{Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient, IdleTimeout: o.Idle})
		},
		Wire: providertest.Wire{
			Answer: wireAnswer,
			Error: func(message string) []providertest.Event {
				return []providertest.Event{{Data: fmt.Sprintf(`{"error":{"message":%q,"type":"overloaded_error"}}`, message)}}
			},
			Body: func(message string) string {
				return fmt.Sprintf(`{"error":{"message":%q,"type":"t","param":null,"code":null}}`, message)
			},
			Unknown: []providertest.Event{
				{Data: `{"id":"c","object":"chat.completion.beat","choices":[],"beat":{"n":1}}`},
				{Type: "thread.noted", Data: `{"object":"thread","choices":[{"index":0,"delta":{"mood":"calm"},"finish_reason":null}]}`},
			},
			Ends: true,
		},
	}
}

func wireAnswer(a providertest.Answer) []providertest.Event {
	var list []providertest.Event
	add := func(format string, args ...any) {
		list = append(list, providertest.Event{Data: fmt.Sprintf(format, args...)})
	}
	delta := func(format string, args ...any) {
		add(`{"id":"c","model":"m","choices":[{"index":0,"delta":{%s},"finish_reason":null}]}`, fmt.Sprintf(format, args...))
	}
	delta(`"role":"assistant","content":""`)
	for _, s := range a.Reasoning {
		delta(`"reasoning_content":%s`, s)
	}
	for _, s := range a.Text {
		delta(`"content":%s`, s)
	}
	for i, c := range a.Calls {
		name, _ := json.Marshal(c.Name)
		delta(`"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%s,"arguments":""}}]`, i, c.ID, name)
		for _, s := range providertest.Literals(c.Arguments, 5) {
			delta(`"tool_calls":[{"index":%d,"function":{"arguments":%s}}]`, i, s)
		}
	}
	finish := map[providertest.End]string{
		providertest.Finished: "stop", providertest.AtLimit: "length", providertest.Filtered: "content_filter", providertest.Unknown: "abducted",
		providertest.Full: "model_length", providertest.Calling: "tool_calls",
	}[a.End]
	if a.Calls != nil && a.End == providertest.Finished {
		finish = "tool_calls"
	}
	add(`{"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, finish)
	u := a.Usage
	add(`{"id":"c","model":"m","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,`+
		`"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}}`,
		u.Input, u.Output, u.Total, u.CacheRead, u.Reasoning)
	return append(list, providertest.Event{Data: "[DONE]"})
}

func TestConformance(t *testing.T)                    { providertest.Run(t, adapter()) }
func TestWhatTheServiceRefusesIsLeftOut(t *testing.T) { providertest.LeftOut(t, adapter()) }
func TestTheStreamIsAsTheSDKsReadIt(t *testing.T)     { providertest.GoldenStream(t, adapter(), *update) }
func TestRecordedAnswersAreUnderstood(t *testing.T)   { providertest.Recorded(t, adapter()) }
func TestRecordedErrorsAreClassified(t *testing.T)    { providertest.RecordedErrors(t, adapter()) }
func TestRecordedConversationsGoOn(t *testing.T)      { providertest.Conversations(t, adapter()) }
func TestRecordedStreamsCutAnywhere(t *testing.T)     { providertest.CutAnywhere(t, adapter()) }
func TestRecordedAnswersOfWrongTypes(t *testing.T)    { providertest.WrongTypes(t, adapter()) }

func TestEveryQuirkOfTheFakeServer(t *testing.T) {
	providertest.Quirks(t, adapter(), providertest.FakeServer{
		Path: "/v1/", RulesOn: []string{"reasoning_replay", "unknown_field"},
	})
}

func TestEveryScenarioOfTheFakeServer(t *testing.T) {
	providertest.Scenarios(t, adapter(), providertest.FakeServer{Path: "/v1", RulesOn: []string{"unknown_field"}})
}

// Bytes that are no stream, or an odd one, join those that all adapters get.
func FuzzDecode(f *testing.F) {
	var seeds []string
	for _, body := range streams() {
		seeds = append(seeds, body)
	}
	providertest.Fuzz(f, adapter(), append(seeds,
		`data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"a":1}}},{}],"reasoning_details":[{"type":"reasoning.text","text":"a"},{}]}}]}`+"\n\ndata: [DONE]",
		`data: {"choices":[{"delta":{"content":[{"thinking":[{"text":"x"}]}],"extra_content":{"a":"\ud800"}}}],"usage":{"prompt_tokens":1e99}}`,
		strings.Repeat(" ", 10))...)
}
