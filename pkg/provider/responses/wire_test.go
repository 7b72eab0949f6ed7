package responses

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
		Protocol: "openai-responses",
		ID:       "openai-responses/m",
		New: func(o providertest.Options) (provider.Provider, error) {
			return New(Options{Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient, IdleTimeout: o.Idle})
		},
		Wire: providertest.Wire{
			Answer: wireAnswer,
			Error: func(message string) []providertest.Event {
				return []providertest.Event{
					{Type: "error", Data: fmt.Sprintf(`{"type":"error","sequence_number":2,"code":"server_is_overloaded","message":%q,"param":null}`, message)},
					{Type: "response.failed", Data: `{"type":"response.failed","response":{"status":"failed","error":{"code":"x","message":"later"}}}`},
				}
			},
			Body: func(message string) string {
				return fmt.Sprintf(`{"error":{"message":%q,"type":"t","param":null,"code":null}}`, message)
			},
			Unknown: []providertest.Event{
				{Type: "response.mood.changed", Data: `{"type":"response.mood.changed","output_index":0,"delta":"calm","mood":{"n":1}}`},
				{Type: "response.output_item.added", Data: `{"type":"response.output_item.added","output_index":90,"item":{"type":"sculpture","id":"sc_1","status":"in_progress"}}`},
				{Type: "response.output_item.done", Data: `{"type":"response.output_item.done","output_index":90,"item":{"type":"sculpture","id":"sc_1","status":"completed"}}`},
			},
			Ends: true,
		},
	}
}

// stream makes the events of an answer, each piece told four times as the
// service does it: in deltas, as a part, as an item and in the response.
type stream struct {
	events []providertest.Event
	items  []string
}

func (s *stream) add(kind, format string, args ...any) {
	data := fmt.Sprintf(`{"type":%q,"sequence_number":%d,`, kind, len(s.events)) + fmt.Sprintf(format, args...) + "}"
	s.events = append(s.events, providertest.Event{Type: kind, Data: data})
}

// item adds an item that streams in by deltas, and its end.
func (s *stream) item(begun, done, delta string, pieces []string) {
	n := len(s.items)
	s.add("response.output_item.added", `"output_index":%d,"item":%s`, n, begun)
	for _, p := range pieces {
		s.add(delta, `"output_index":%d,"item_id":"i%d","content_index":0,"delta":%s`, n, n, p)
	}
	s.add("response.output_item.done", `"output_index":%d,"item":%s`, n, done)
	s.items = append(s.items, done)
}

// joined makes one literal of several.
func joined(literals []string) string {
	var b strings.Builder
	for _, l := range literals {
		b.WriteString(l[1 : len(l)-1])
	}
	return `"` + b.String() + `"`
}

func wireAnswer(a providertest.Answer) []providertest.Event {
	var s stream
	s.add("response.created", `"response":{"id":"resp_1","status":"in_progress","model":"m","output":[],"error":null}`)
	if a.Reasoning != nil {
		s.item(`{"id":"rs_0","type":"reasoning","summary":[]}`,
			`{"id":"rs_0","type":"reasoning","encrypted_content":"c2VjcmV0","summary":[{"type":"summary_text","text":`+joined(a.Reasoning)+`}]}`,
			"response.reasoning_summary_text.delta", a.Reasoning)
	}
	if a.Text != nil {
		s.item(`{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}`,
			`{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":`+joined(a.Text)+`}]}`,
			"response.output_text.delta", a.Text)
	}
	for i, c := range a.Calls {
		name, _ := json.Marshal(c.Name)
		call := `{"id":"fc_%d","type":"function_call","status":%q,"call_id":%q,"name":%s,"arguments":%s}`
		pieces := providertest.Literals(c.Arguments, 5)
		s.item(fmt.Sprintf(call, i, "in_progress", c.ID, name, `""`), fmt.Sprintf(call, i, "completed", c.ID, name, joined(pieces)),
			"response.function_call_arguments.delta", pieces)
	}
	event, status, reason := "response.completed", "completed", "null"
	switch a.End {
	case providertest.AtLimit:
		event, status, reason = "response.incomplete", "incomplete", `{"reason":"max_output_tokens"}`
	case providertest.Filtered:
		event, status, reason = "response.incomplete", "incomplete", `{"reason":"content_filter"}`
	case providertest.Full:
		event, status, reason = "response.incomplete", "incomplete", `{"reason":"context_length_exceeded"}`
	case providertest.Unknown:
		status = "abducted"
	}
	u := a.Usage
	s.add(event, `"response":{"id":"resp_1","status":%q,"model":"m","error":null,"incomplete_details":%s,"output":[%s],`+
		`"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}}`,
		status, reason, strings.Join(s.items, ","), u.Input, u.CacheRead, u.Output, u.Reasoning, u.Total)
	return s.events
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
		Path: "/v1", RulesOn: []string{"unknown_field"},
		Errors: map[string]provider.Kind{
			"only_done":                       provider.Network, // [DONE] is not of this protocol
			"malformed_function_call":         "",               // nor are such ends: they arrive as completed
			"finish_tool_calls_without_calls": "",
		},
	})
}

func TestEveryScenarioOfTheFakeServer(t *testing.T) {
	providertest.Scenarios(t, adapter(), providertest.FakeServer{Path: "/v1", RulesOn: []string{"unknown_field"}})
}

func FuzzDecode(f *testing.F) {
	providertest.Fuzz(f, adapter())
}
