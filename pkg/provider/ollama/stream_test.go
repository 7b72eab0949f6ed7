package ollama

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

const done = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n"

// F050, F055, F056: calls come whole, with or without ids and index, their
// arguments as an object or as the text of one.
func TestCallsAreWhatTheModelWrote(t *testing.T) {
	for in, want := range map[string][]message.ToolCall{
		`{"function":{"name":"f","arguments":{"b": 2, "a": 1.50}}}`:                                                {{Name: "f", Arguments: `{"b":2,"a":1.50}`}},
		`{"id":"c1","function":{"index":0,"name":"f","arguments":"{\"a\": 1}"}}`:                                   {{ID: "c1", Name: "f", Arguments: `{"a": 1}`}},
		`{"function":{"index":0,"name":"f","arguments":{}}},{"function":{"index":0,"name":"f"}}`:                   {{Name: "f", Arguments: `{}`}, {Name: "f", Arguments: `{}`}},
		`{"function":{"name":"f","arguments":null}},{"function":{"name":"g","arguments":""}}`:                      {{Name: "f", Arguments: `{}`}, {Name: "g", Arguments: `{}`}},
		`{"function":{"name":"f","arguments":[1]}},{"function":{"name":"g","arguments":"{\"path\":\"out"}}`:        {{Name: "f", Arguments: `[1]`}, {Name: "g", Arguments: `{"path":"out`}},
		`{"function":{"name":"f","arguments":"rm -rf"}},{"function":{"name":"g","arguments":9223372036854775807}}`: {{Name: "f", Arguments: `"rm -rf"`}, {Name: "g", Arguments: `9223372036854775807`}},
	} {
		reply, err := answer(t, 200, `{"message":{"content":"","tool_calls":[`+in+`]},"done":false}`+"\n"+done)
		if got := (message.Message{Parts: reply.Parts}).Calls(); err != nil || !reflect.DeepEqual(got, want) || reply.Stop != message.StopCalls {
			t.Errorf("%s: %+v, stop %s, %v", in, got, reply.Stop, err)
		}
	}
}

func TestReasonsAreMapped(t *testing.T) {
	for end, want := range map[string]message.StopReason{
		`"done":true`:                                   message.StopEnd, // before 0.1.38 there were no reasons
		`"done":true,"done_reason":null`:                message.StopEnd,
		`"done":true,"done_reason":"stop"`:              message.StopEnd,
		`"done":true,"done_reason":"length"`:            message.StopLength,
		`"done":true,"done_reason":"load"`:              "",
		`"done":true,"done_reason":"unload"`:            "",
		`"done":true,"done_reason":"abducted"`:          "",
		`"done":false,"done_reason":"stop"`:             "",
		`"done":true,"done_reason":"stop","error":"m1"`: "",
	} {
		reply, err := answer(t, 200, `{"model":"m1","message":{"thinking":"hm","content":"four"},`+end+`,"prompt_eval_count":3,"eval_count":4}`)
		if reply.Stop != want || (err == nil) != (want != "") {
			t.Errorf("%s: %+v, %v", end, reply, err)
		}
		if want != "" && (reply.Usage != message.Usage{Input: 3, Output: 4, Total: 7} || reply.Model != "m1" || len(reply.Parts) != 2) {
			t.Errorf("%s: %+v", end, reply)
		}
	}
}

// Errors in the server's words. What to do about them says whoever shows them.
func TestErrorsAreClassified(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   provider.Kind
		says   string
	}{
		{400, `{"error":"registry.ollama.ai/library/gemma3:1b does not support tools"}`, provider.InvalidRequest, "gemma3:1b does not support tools"},
		{200, `{"error":"registry.ollama.ai/library/gemma3:1b does not support tools"}`, provider.InvalidRequest, "does not support tools"},
		{400, `{"error":"\"llama3\" does not support thinking"}`, provider.InvalidRequest, "does not support thinking"},
		{404, `{"error":"model \"qwen9\" not found, try pulling it first"}`, provider.NotFound, "qwen9"},
		{400, `{"error":"the input length exceeds the context length"}`, provider.ContextLength, ""},
		{200, `{"message":{"content":""},"done":true,"done_reason":"length","prompt_eval_count":4096}`, provider.ContextLength, "no room"}, // F129
		{402, `{"error":"you've reached your usage limit, please upgrade to continue"}`, provider.Quota, ""},
		{429, `{"error":"you've reached your hourly usage limit, please upgrade to continue"}`, provider.Quota, ""},
		{429, `{"error":"too many concurrent requests"}`, provider.RateLimit, ""},
		{503, `{"error":"server busy, please try again. maximum pending requests exceeded"}`, provider.Overloaded, ""},
		{200, `{"message":{"content":"four"},"done":false}` + "\n" + `{"error":"server busy, please try again. maximum pending requests exceeded"}`, provider.Overloaded, ""},
		{200, `{"message":{"content":"four"},"done":false}` + "\n" + `{"error":"an error was encountered while running the model: unexpected EOF"}`, provider.Server, "running the model"},
		{200, `{"error":{"message":"credit used up","code":429}}`, provider.RateLimit, "credit used up"},
		{500, `{"error":"model requires more system memory (5.0 GiB) than is available (3.9 GiB)"}`, provider.Server, "memory"},
		{401, `{"error":"unauthorized"}`, provider.Auth, ""},
	} {
		reply, err := answer(t, c.status, c.body)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.says) || reply.Parts != nil {
			t.Errorf("%d %s: %v, want %s, %q", c.status, c.body, err, c.kind, c.says)
		}
	}
}

// A reply without a word that was as long as it might be is cut by its limit: the
// prompt is not to blame.
func TestAnEmptyReplyAtItsLimitIsNoFullContext(t *testing.T) {
	for body, want := range map[string]message.StopReason{
		`{"done":true,"done_reason":"length","prompt_eval_count":9,"eval_count":8}`: message.StopLength,
		`{"done":true,"done_reason":"length"}`:                                      message.StopLength,
		`{"done":true,"done_reason":"length","prompt_eval_count":9,"eval_count":0}`: "",
	} {
		p := open(t, Options{Model: "m"}, func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})
		req := provider.Request{Messages: []message.Message{say(message.User, message.Text("hi"))}}
		req.Options.MaxOutput = 8
		reply, err := p.Stream(t.Context(), req, func(provider.Event) {})
		if reply.Stop != want || (err == nil) != (want != "") {
			t.Errorf("%s: %+v, %v; want %q", body, reply, err, want)
		}
	}
}
