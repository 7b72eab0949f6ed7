package gemini

import (
	"encoding/json"
	"fmt"
	"testing"

	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

// adapter describes this package and its protocol to the common tests.
func adapter() providertest.Adapter {
	return providertest.Adapter{
		Protocol: "gemini",
		ID:       "gemini/m",
		New: func(o providertest.Options) (provider.Provider, error) {
			return New(Options{Model: "m", BaseURL: o.BaseURL, APIKey: o.Key, HTTPClient: o.HTTPClient, IdleTimeout: o.Idle})
		},
		Wire: providertest.Wire{
			Answer: wireAnswer,
			Error: func(message string) []providertest.Event {
				return []providertest.Event{{Data: fmt.Sprintf(`{"error":{"code":503,"message":%q,"status":"UNAVAILABLE"}}`, message)}}
			},
			Body: func(message string) string {
				return fmt.Sprintf("{\n  \"error\": {\n    \"message\": %q,\n    \"status\": \"UNKNOWN\"\n  }\n}\n", message)
			},
			Unknown: []providertest.Event{
				{Data: `{"usageMetadata":{"trafficType":"ON_DEMAND"},"weather":{"fine":true},"responseId":"r"}`},
				{Data: `{"candidates":[{"index":0,"mood":"calm","groundingMetadata":{}}]}`},
				{Type: "note", Data: `{"candidates":[{"content":{"role":"model"}}]}`},
			},
			Ends: true,
		},
	}
}

func wireAnswer(a providertest.Answer) []providertest.Event {
	var list []providertest.Event
	u := a.Usage
	counts := fmt.Sprintf(`{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d,"cachedContentTokenCount":%d,"thoughtsTokenCount":%d}`,
		u.Input, u.Output-u.Reasoning, u.Total, u.CacheRead, u.Reasoning)
	add := func(part, finish string) {
		list = append(list, providertest.Event{Data: fmt.Sprintf(
			`{"candidates":[{"content":{"parts":[%s],"role":"model"}%s,"index":0}],"usageMetadata":%s,"modelVersion":"m","responseId":"r"}`, part, finish, counts)})
	}
	for _, s := range a.Reasoning {
		add(`{"text":`+s+`,"thought":true}`, "")
	}
	for _, s := range a.Text {
		add(`{"text":`+s+`}`, "")
	}
	for i, c := range a.Calls {
		signature := ""
		if i == 0 {
			signature = `,"thoughtSignature":"c2lnbmF0dXJl"`
		}
		name, _ := json.Marshal(c.Name)
		add(fmt.Sprintf(`{"functionCall":{"id":%q,"name":%s,"args":%s}%s}`, c.ID, name, value(c.Arguments), signature), "")
	}
	finish := map[providertest.End]string{
		providertest.Finished: "STOP", providertest.AtLimit: "MAX_TOKENS", providertest.Filtered: "SAFETY", providertest.Unknown: "ABDUCTED",
		providertest.Full: "model_length", providertest.Calling: "tool_calls",
	}[a.End]
	add(`{"text":""}`, `,"finishReason":"`+finish+`"`)
	return list
}

// value is text as a JSON value: itself, or a string if it is none.
func value(text string) string {
	if text == "" || json.Valid([]byte(text)) {
		return map[bool]string{true: "null", false: text}[text == ""]
	}
	literal, _ := json.Marshal(text)
	return string(literal)
}

func TestConformance(t *testing.T)                    { providertest.Run(t, adapter()) }
func TestWhatTheServiceRefusesIsLeftOut(t *testing.T) { providertest.LeftOut(t, adapter()) }
func TestTheStreamIsAsTheSDKsReadIt(t *testing.T)     { providertest.GoldenStream(t, adapter(), *update) }
func TestRecordedAnswersAreUnderstood(t *testing.T)   { providertest.Recorded(t, adapter()) }
func TestRecordedErrorsAreClassified(t *testing.T)    { providertest.RecordedErrors(t, adapter()) }
func TestRecordedConversationsGoOn(t *testing.T)      { providertest.Conversations(t, adapter()) }
func TestRecordedStreamsCutAnywhere(t *testing.T)     { providertest.CutAnywhere(t, adapter()) }
func TestRecordedAnswersOfWrongTypes(t *testing.T)    { providertest.WrongTypes(t, adapter()) }

func FuzzDecode(f *testing.F) {
	providertest.Fuzz(f, adapter(),
		`[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},`+"\r\n"+`{"candidates":[{"content":{"parts":[{"text":"b","thoughtSignature":"s"}]},"finishReason":"STOP"}]}]`,
		`{"candidates":[{"content":{"parts":[{"text":"\n","thoughtSignature":"s"},{"thoughtSignature":"t"},{"executableCode":{"code":"1"}},{"functionCall":{}}]},"finishReason":"STOP"}]}`,
		`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}},{"functionCall":{"partialArgs":[{"jsonPath":"$.a[0]['b']","stringValue":"x"},{"jsonPath":"$.n","numberValue":1}]}}]},"finishReason":"STOP"}]}`+"\n\n",
		`data: {"promptFeedback":{"blockReason":"SAFETY"}}`+"\n\ndata: [DONE]\n\n",
	)
}
