package anthropic

import (
	"encoding/json"
	"fmt"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

func adapter() providertest.Adapter {
	return providertest.Adapter{
		Protocol: "anthropic-messages",
		ID:       "anthropic/m",
		New: func(o providertest.Options) (provider.Provider, error) {
			return New(Options{Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient, IdleTimeout: o.Idle})
		},
		Wire: providertest.Wire{
			Answer: wireAnswer,
			Error: func(message string) []providertest.Event {
				return []providertest.Event{ev(`{"type":"error","error":{"type":"overloaded_error","message":%q}}`, message)}
			},
			Body: func(message string) string {
				return fmt.Sprintf(`{"type":"error","error":{"type":"some_error","message":%q},"request_id":"req_1"}`, message)
			},
			Unknown: []providertest.Event{
				ev(`{"type":"ping"}`), ev(`{"type":"abducted","index":0,"delta":{"text":"no"}}`), {Data: `null`}, {Data: `[]`}, {Data: `"ping"`},
			},
			Ends: true,
		},
	}
}

// ev returns an event named as its data say.
func ev(format string, args ...any) providertest.Event {
	data := fmt.Sprintf(format, args...)
	var e struct{ Type string }
	if json.Unmarshal([]byte(data), &e) != nil {
		return providertest.Event{Data: data}
	}
	return providertest.Event{Type: e.Type, Data: data}
}

// wireAnswer writes what the service itself writes.
func wireAnswer(a providertest.Answer) []providertest.Event {
	list := []providertest.Event{ev(`{"type":"message_start","message":{"model":"m","type":"message","content":[],"stop_reason":null,"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":1}}}`,
		a.Usage.Input-a.Usage.CacheRead, a.Usage.CacheRead)}
	index := 0
	block := func(start string, deltas ...string) {
		list = append(list, ev(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, start))
		for _, d := range deltas {
			list = append(list, ev(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, d))
		}
		list = append(list, ev(`{"type":"content_block_stop","index":%d}`, index))
		index++
	}
	pieces := func(kind, key string, literals []string) (deltas []string) {
		for _, l := range literals {
			deltas = append(deltas, fmt.Sprintf(`{"type":%q,%q:%s}`, kind, key, l))
		}
		return deltas
	}
	if a.Reasoning != nil {
		block(`{"type":"thinking","thinking":"","signature":""}`,
			append(pieces("thinking_delta", "thinking", a.Reasoning), `{"type":"signature_delta","signature":"sig=="}`)...)
	}
	if a.Text != nil {
		block(`{"type":"text","text":""}`, pieces("text_delta", "text", a.Text)...)
	}
	for _, c := range a.Calls {
		name, _ := json.Marshal(c.Name)
		block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%s,"input":{}}`, c.ID, name),
			append([]string{`{"type":"input_json_delta","partial_json":""}`},
				pieces("input_json_delta", "partial_json", providertest.Literals(c.Arguments, 5))...)...)
	}
	stop := map[providertest.End]string{
		providertest.Finished: "end_turn", providertest.AtLimit: "max_tokens", providertest.Filtered: "content_filter", providertest.Unknown: "abducted",
		providertest.Full: "model_context_window_exceeded", providertest.Calling: "tool_use",
	}[a.End]
	if a.Calls != nil && a.End == providertest.Finished {
		stop = "tool_use"
	}
	return append(list,
		ev(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d,"output_tokens_details":{"thinking_tokens":%d}}}`,
			stop, a.Usage.Output, a.Usage.Reasoning),
		ev(`{"type":"message_stop"}`))
}

func TestConformance(t *testing.T)                  { providertest.Run(t, adapter()) }
func TestTheStreamIsAsTheSDKsReadIt(t *testing.T)   { providertest.GoldenStream(t, adapter(), *update) }
func TestRecordedAnswersAreUnderstood(t *testing.T) { providertest.Recorded(t, adapter()) }
func TestRecordedErrorsAreClassified(t *testing.T)  { providertest.RecordedErrors(t, adapter()) }
func TestRecordedConversationsGoOn(t *testing.T)    { providertest.Conversations(t, adapter()) }
func TestRecordedStreamsCutAnywhere(t *testing.T)   { providertest.CutAnywhere(t, adapter()) }
func TestRecordedAnswersOfWrongTypes(t *testing.T)  { providertest.WrongTypes(t, adapter()) }

// The newest models aren't forced and take a schema, those unknown the other way round.
func TestWhatTheServiceRefusesIsLeftOut(t *testing.T) {
	for _, model := range []string{"m", "claude-sonnet-4-5", "claude-opus-5-5"} {
		a := adapter()
		a.New = func(o providertest.Options) (provider.Provider, error) {
			return New(Options{Model: model, BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient})
		}
		providertest.LeftOut(t, a)
	}
}

// fakeServer has all the rules on that hold for this protocol.
func fakeServer() providertest.FakeServer {
	return providertest.FakeServer{
		RulesOn: []string{"results_one_message", "thinking_required", "unknown_field"},
		Errors: map[string]provider.Kind{
			"no_done":   provider.Network, // no message_stop: cut
			"only_done": provider.Network, // [DONE] is no event of this protocol
		},
	}
}

func TestEveryQuirkOfTheFakeServer(t *testing.T) { providertest.Quirks(t, adapter(), fakeServer()) }

func TestEveryScenarioOfTheFakeServer(t *testing.T) {
	providertest.Scenarios(t, adapter(), fakeServer())
}

func FuzzDecode(f *testing.F) {
	providertest.Fuzz(f, adapter(),
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`+"\n\n"+
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"q\":\"\\ud83d\"}"}}`+"\n\n"+
			`data: {"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"s","content":[]}}`+"\n\n"+
			`data: {"type":"message_stop"}`,
		`{"type":"message","content":[{"type":"redacted_thinking","data":"x"},{"type":"text","text":"a","citations":[{"a":1}]},{"type":"tool_use","input":[1]}],"stop_reason":"end_turn"}`,
		`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}`+"\n\n"+
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b\ud83d"}}`+"\n\n"+
			`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"c"}}`+"\n\n"+
			`data: {"type":"message_stop"}`)
}

// The usage in our terms: input includes both of the cache's.
func TestUsageIncludesTheCache(t *testing.T) {
	const start = `{"type":"message_start","message":{"model":"m2","usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}}}`
	want := message.Usage{Input: 123, Output: 9, CacheRead: 100, CacheWrite: 20, Reasoning: 5, Total: 132}
	for name, end := range map[string]string{
		"sums":       `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9,"output_tokens_details":{"thinking_tokens":5}}}`,
		"all again":  `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":9,"output_tokens_details":{"thinking_tokens":5}}}`,
		"nulls":      `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"cache_creation_input_tokens":null,"output_tokens":9,"output_tokens_details":{"thinking_tokens":5}}}`,
		"forgetful":  `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":9,"output_tokens_details":{"thinking_tokens":5}}}`,
		"two deltas": `{"type":"message_delta","delta":{},"usage":{"output_tokens":4}}` + "\n\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9,"output_tokens_details":{"thinking_tokens":5}}}`,
	} {
		reply, err := answered(t, start, end, `{"type":"message_stop"}`)
		if err != nil || reply.Usage != want || reply.Model != "m2" {
			t.Errorf("%s: %+v of %s, %v", name, reply.Usage, reply.Model, err)
		}
	}
}

// F034, F035, F084: with thinking on, in a turn of many replies, and after a
// turn of another model's, the strict server finds its thoughts as it sent them.
func TestThoughtsGoBackAsTheyCame(t *testing.T) {
	address, check := providertest.Fake(t, []byte(`{"rules_on": ["results_one_message", "thinking_required", "unknown_field"], "rules": [
		{"when": {"last_user_contains": "hidden"}, "tool_loop": {"n": 2, "name": "pwd", "args": {}, "scope": "turn"}, "reply": {"text": "done", "reasoning_redacted": true}},
		{"tool_loop": {"n": 3, "name": "pwd", "args": {}, "scope": "turn", "text": "I look.", "reasoning": "Where <am> I? \u00e4\ud83d\ude00\n"}, "reply": {"text": "done", "reasoning": "I know."}}]}`))
	req := provider.Request{Tools: []message.ToolSpec{{Name: "pwd"}}, Options: provider.Options{Effort: "high", Temperature: new(0.3)}}
	for i, model := range []string{"claude-sonnet-4-5", "claude-opus-4-8", "claude-sonnet-4-5", "claude-opus-5-5", "kimi-k2", "claude-sonnet-4-5"} {
		p := open(t, Options{Model: model, BaseURL: address, APIKey: "test-key"})
		for _, ask := range []string{"look", "look hidden", "look again"} {
			req.Messages = append(req.Messages, say(message.User, message.Text(ask)))
			for calls := 1; calls > 0; {
				reply, err := p.Stream(t.Context(), req, func(provider.Event) {})
				if err != nil {
					t.Fatalf("%d, %s: %v", i, model, err)
				}
				said := message.Message{Role: message.Assistant, Parts: reply.Parts, Model: "anthropic/" + model}
				req.Messages = append(req.Messages, said)
				calls = len(said.Calls())
				for _, c := range said.Calls() {
					req.Messages = append(req.Messages, result(c.ID, "/", false))
				}
			}
		}
	}
	if broken := check(); broken != "" {
		t.Errorf("strict rules were broken:\n%s", broken)
	}
}
