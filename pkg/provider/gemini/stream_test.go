package gemini

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

// chunkOf makes a chunk of candidate 0 with these parts and what follows them.
func chunkOf(parts, rest string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},"index":0` + rest + `}]}`
}

const stop = `,"finishReason":"STOP"`

// sseOf makes a stream of server-sent events.
func sseOf(chunks ...string) string {
	return "data: " + strings.Join(chunks, "\r\n\r\ndata: ") + "\r\n\r\n"
}

func indented(chunk string) string {
	var v any
	if err := json.Unmarshal([]byte(chunk), &v); err != nil {
		panic(err)
	}
	b, _ := json.MarshalIndent(v, "", "  ")
	return string(b)
}

// Bytes that all mean the same: "hi" in two pieces, complete.
func TestEveryFramingIsRead(t *testing.T) {
	h, i := chunkOf(`{"text":"h"}`, ""), chunkOf(`{"text":"i"}`, stop)
	list := "[" + indented(h) + "\n,\r\n" + indented(i) + "\n]\n"
	for name, body := range map[string]string{
		"events":                  sseOf(h, i),
		"several values an event": "data: " + h + "\ndata: " + i + "\n\n",
		"an indented value":       "data: " + strings.ReplaceAll(indented(h), "\n", "\ndata: ") + "\n\n" + sseOf(i),
		"[DONE] after all":        sseOf(h, i, "[DONE]", `{"error":{"message":"late"}}`),
		"array":                   list,
		"array, byte order mark":  "\ufeff \n" + list,
		"array, not closed":       strings.TrimSuffix(list, "]\n"),
		"array in one line":       "[" + h + "," + i + "]",
		"one object":              chunkOf(`{"text":"h"},{"text":"i"}`, stop),
		"one object without end":  indented(chunkOf(`{"text":"h"},{"text":"i"}`, "")) + "\n",
		"another candidate":       sseOf(`{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"STOP"}]}`, h, i),
		"no index":                sseOf(strings.Replace(h, `,"index":0`, "", 1), strings.Replace(i, `,"index":0`, "", 1)),
		"other values":            sseOf(`null`, `"ping"`, `7`, `[]`, `{}`, h, i),
		"the end in each event":   sseOf(strings.Replace(h, `,"index":0`, stop, 1), i),
	} {
		for _, r := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body))} {
			raw, _ := io.ReadAll(r)
			reply, err := answer(t, hello, string(raw))
			if want := []message.Part{message.Text("hi")}; err != nil || !reflect.DeepEqual(reply.Parts, want) || reply.Stop != message.StopEnd {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
		}
	}
}

func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	h := chunkOf(`{"text":"h"}`, "")
	for name, c := range map[string]struct {
		body string
		kind provider.Kind
		says string
	}{
		"array cut":              {"[" + h + ",", provider.Network, "1 bytes of text"},
		"array without an end":   {"[" + h + "]", provider.Network, "ended before its end"},
		"empty array":            {"[]", provider.Network, "ended before its end"},
		"array of errors":        {`[{"error":{"code":503,"message":"m1","status":"UNAVAILABLE"}}]`, provider.Overloaded, "m1"},
		"array, no JSON":         {"[" + h + ",oops]", provider.Server, "not of the expected form"},
		"half an object":         {h[:len(h)-1], provider.Network, "ended before its end"},
		"two objects":            {h + h, provider.Server, "something follows"},
		"an object of another":   {`{"models":[]}`, provider.Server, "no answer of a model"},
		"[DONE] alone":           {sseOf("[DONE]"), provider.Server, "empty"},
		"[DONE] without an end":  {sseOf(h, "[DONE]"), provider.Network, "1 bytes of text"},
		"text after the end":     {sseOf(chunkOf(`{"text":"h"}`, stop), h), provider.Network, "ended before its end"},
		"error event":            {"event: error\ndata: {\"code\":429,\"message\":\"m1\"}\n\n", provider.RateLimit, "m1"},
		"error in the stream":    {sseOf(h, `{"error":{"code":400,"message":"API key expired. Please renew the API key."}}`), provider.Auth, "expired"},
		"malformed call":         {sseOf(chunkOf(``, `,"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(1)"`)), provider.Server, "print(1)"},
		"unexpected call":        {sseOf(chunkOf(`{"functionCall":{"name":"rm","args":{}}}`, `,"finishReason":"UNEXPECTED_TOOL_CALL"`)), provider.Server, "UNEXPECTED_TOOL_CALL"},
		"no signature came back": {sseOf(chunkOf(``, `,"finishReason":"MISSING_THOUGHT_SIGNATURE"`)), provider.InvalidRequest, "MISSING_THOUGHT_SIGNATURE"},
		"parts are none":         {sseOf(`{"candidates":[{"content":{"parts":7}}]}`), provider.Server, "not of the expected form"},
	} {
		_, err := answer(t, hello, c.body)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v; want %s, %q", name, err, c.kind, c.says)
		}
	}
}

// Errors in the service's words. Quota spent is not a rate limit, though both
// come with the same status, text and wait.
func TestErrorsAreClassified(t *testing.T) {
	exhausted := func(quota, delay string) string {
		return `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[` +
			`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"` + quota + `"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"}]}}`
	}
	said := func(message string) string { return `[{"error":{"message":"` + message + `"}}]` }
	for _, c := range []struct {
		status int
		body   string
		kind   provider.Kind
		after  time.Duration
	}{
		{429, exhausted("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "34.4s"), provider.RateLimit, 34400 * time.Millisecond},
		{429, exhausted("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "36s"), provider.Quota, 0},
		{429, said("Your prepayment credits are depleted."), provider.Quota, 0},
		{400, said("The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."), provider.ContextLength, 0},
		{400, said("API key expired. Please renew the API key."), provider.Auth, 0},
		{403, said("Your API key was reported as leaked. Please use another API key."), provider.Auth, 0},
		{403, said("Permission denied on resource project p."), provider.Permission, 0},
		{400, said("Function call is missing a thought_signature in functionCall parts."), provider.InvalidRequest, 0},
	} {
		p := openModel(t, Options{HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: c.status, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
		})}})
		_, err := p.Stream(t.Context(), hello, func(provider.Event) {})
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.RetryAfter != c.after {
			t.Errorf("%s: %v, after %v; want %s, %v", c.body, err, e.RetryAfter, c.kind, c.after)
		}
	}
}

func TestFinishReasonsAreMapped(t *testing.T) {
	for finish, want := range map[string]message.StopReason{
		"STOP": message.StopEnd, "stop": message.StopEnd, "MAX_TOKENS": message.StopLength, "SAFETY": message.StopFilter,
		"RECITATION": message.StopFilter, "PROHIBITED_CONTENT": message.StopFilter, "MODEL_ARMOR": message.StopFilter,
	} {
		reply, err := answer(t, hello, sseOf(chunkOf(`{"text":"so far"}`, `,"finishReason":"`+finish+`"`)))
		if err != nil || reply.Stop != want || len(reply.Parts) != 1 {
			t.Errorf("%s: %+v, %v", finish, reply, err)
		}
	}
	for _, finish := range []string{"OTHER", "LANGUAGE", "FINISH_REASON_UNSPECIFIED", "NEW_ONE"} {
		if reply, err := answer(t, hello, sseOf(chunkOf(`{"text":"so far"}`, `,"finishReason":"`+finish+`"`))); err == nil {
			t.Errorf("%s became %+v", finish, reply)
		}
	}
	reply, err := answer(t, hello, sseOf(`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":3},"modelVersion":"m1"}`))
	if want := (provider.Reply{Stop: message.StopFilter, Usage: message.Usage{Input: 3, Total: 3}, Model: "m1"}); err != nil || !reflect.DeepEqual(reply, want) {
		t.Errorf("a blocked prompt: %+v, %v", reply, err)
	}
}

// What stands on the wire comes back as it was, in its place.
func TestPartsAndSignaturesComeBackInPlace(t *testing.T) {
	for _, c := range []struct{ chunks, want []string }{
		{ // F036: parallel calls without ids, signed on the first
			[]string{chunkOf(`{"text":"hm","thought":true}`, ""), chunkOf(`{"functionCall":{"name":"ls","args": {"b": 2, "a": 1.50}},"thoughtSignature":"A/+="},{"functionCall":{"name":"ls"}}`, stop)},
			[]string{`{"text":"hm","thought":true}`, `{"functionCall":{"name":"ls","args":{"b":2,"a":1.50}},"thoughtSignature":"A/+="}`, `{"functionCall":{"name":"ls","args":{}}}`},
		},
		{ // a signature on an empty text ends a stream
			[]string{chunkOf(`{"text":"a <b"}`, ""), chunkOf(`{"text":"> c"}`, ""), chunkOf(`{"text":"","thoughtSignature":"S"}`, stop)},
			[]string{`{"text":"a <b> c"}`, `{"text":"","thoughtSignature":"S"}`},
		},
		{ // texts with and without signatures are not joined
			[]string{chunkOf(`{"text":"a"}`, ""), chunkOf(`{"text":"b","thoughtSignature":"1"}`, ""), chunkOf(`{"text":"c","thoughtSignature":"2"}`, ""), chunkOf(`{"text":"d"}`, stop)},
			[]string{`{"text":"a"}`, `{"text":"b","thoughtSignature":"1"}`, `{"text":"c","thoughtSignature":"2"}`, `{"text":"d"}`},
		},
		{ // a signature alone, one on an empty thought, one on a blank text
			[]string{chunkOf(`{"text":"t","thought":true}`, ""), chunkOf(`{"text":"","thought":true,"thoughtSignature":"1"}`, ""), chunkOf(`{"thoughtSignature":"2"},{"thought":true,"thoughtSignature":"3"},{"text":"x"},{"text":"\n","thoughtSignature":"4"}`, stop)},
			[]string{`{"text":"t","thought":true}`, `{"text":"","thought":true,"thoughtSignature":"1"}`, `{"thoughtSignature":"2"}`, `{"thought":true,"thoughtSignature":"3"}`, `{"text":"x"}`, `{"text":"\n","thoughtSignature":"4"}`},
		},
		{ // what means nothing to us
			[]string{chunkOf(`{"executableCode":{"code":"1 < 2","id":"e"},"thoughtSignature":"E"},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}},{"text":"yes"}`, stop)},
			[]string{`{"executableCode":{"code":"1 < 2","id":"e"},"thoughtSignature":"E"}`, `{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}`, `{"text":"yes"}`},
		},
		{ // an id of the service's own; arguments that are no object can't be vouched for
			[]string{chunkOf(`{"functionCall":{"id":"c1","name":"ls","args":{}},"thoughtSignature":"A"},{"functionCall":{"id":"c2","name":"ls","args":[1]},"thoughtSignature":"B"}`, stop)},
			[]string{`{"functionCall":{"id":"c1","name":"ls","args":{}},"thoughtSignature":"A"}`, `{"functionCall":{"id":"c2","name":"ls","args":{}},"thoughtSignature":"` + noValidation + `"}`},
		},
	} {
		reply, err := answer(t, hello, sseOf(c.chunks...))
		if err != nil {
			t.Fatal(err)
		}
		body := replayed(t, reply, "gemini/m")
		if want := `{"role":"model","parts":[` + strings.Join(c.want, ",") + `]}`; !strings.Contains(body, want) {
			t.Errorf("%s\nis not in\n%s", want, body)
		}
		if foreign := replayed(t, reply, "gemini/other"); strings.Contains(strings.ReplaceAll(foreign, `,"thoughtSignature":"`+noValidation, ""), "thought") || strings.Contains(foreign, "executableCode") {
			t.Errorf("another model's data is sent: %s", foreign)
		}
	}
}

// replayed sends a reply of a model back, as sessions do: blank texts are left
// out and every call has an id and a result.
func replayed(t *testing.T, reply provider.Reply, model string) string {
	said := message.Message{Role: message.Assistant, Model: model}
	req := provider.Request{Messages: []message.Message{hello.Messages[0], {}}}
	for i, p := range reply.Parts {
		if p.Type == message.TypeText && strings.TrimSpace(p.Text) == "" {
			continue
		}
		if p.Call != nil {
			call := *p.Call
			if call.ID == "" {
				call.ID = "call_" + string(rune('0'+i))
			}
			p.Call = &call
			req.Messages = append(req.Messages, providertest.ResultMessage(call.ID, call.Name, "r", false))
		}
		said.Parts = append(said.Parts, p)
	}
	req.Messages[1] = said
	req.Note = "go on"
	_, body := sent(t, Options{}, req)
	return body
}

// A tool whose name the service would refuse has another one there.
func TestNamesAreTranslatedBothWays(t *testing.T) {
	req := hello
	req.Tools = []message.ToolSpec{{Name: "1st__tool"}}
	reply, err := answer(t, req, sseOf(chunkOf(`{"functionCall":{"name":"_1st__tool","args":{}}}`, stop)))
	if calls := (message.Message{Parts: reply.Parts}).Calls(); err != nil || len(calls) != 1 || calls[0].Name != "1st__tool" {
		t.Errorf("%v, %v", calls, err)
	}
}

// Pieces of arguments, as Vertex streams them.
func TestArgumentsInPiecesArePutTogether(t *testing.T) {
	call := func(fields string) string { return chunkOf(`{"functionCall":{`+fields+`}}`, "") }
	end := chunkOf(`{"text":""}`, stop)
	piece := func(args string) string { return call(`"partialArgs":[` + args + `],"willContinue":true`) }
	for name, c := range map[string]struct {
		chunks []string
		want   string
		object bool
	}{
		"as recorded":    {[]string{call(`"name":"f","willContinue":true`), piece(`{"jsonPath":"$.id","stringValue":"A","willContinue":true}`), piece(`{"jsonPath":"$.id","stringValue":""}`), call(``), end}, `{"id":"A"}`, true},
		"every kind":     {[]string{call(`"name":"f","willContinue":true`), piece(`{"jsonPath":"$.z","numberValue":1.50},{"jsonPath":"$['a b']","boolValue":false},{"jsonPath":"$.n","nullValue":"NULL_VALUE"}`), piece(`{"jsonPath":"$.l[0].x","stringValue":"\ud83d","willContinue":true}`), piece(`{"jsonPath":"$.l[0].x","stringValue":"\ude00<"},{"jsonPath":"$.l[1]","numberValue":2}`), call(``), end}, `{"z":1.50,"a b":false,"n":null,"l":[{"x":"😀<"},2]}`, true},
		"at once":        {[]string{call(`"name":"f","partialArgs":[{"jsonPath":"$.a","numberValue":1}]`), end}, `{"a":1}`, true},
		"none":           {[]string{call(`"name":"f","willContinue":true`), call(``), end}, `{}`, true},
		"not ended":      {[]string{call(`"name":"f","willContinue":true`), piece(`{"jsonPath":"$.a","numberValue":1}`), end}, `{"a":1`, false},
		"a foreign path": {[]string{call(`"name":"f","willContinue":true`), piece(`{"jsonPath":"a..b","numberValue":1}`), call(``), end}, `{`, false},
		"a huge index":   {[]string{call(`"name":"f","willContinue":true`), piece(`{"jsonPath":"$.a[2000000000]","numberValue":1}`), call(``), end}, `{"a":null`, false},
		"a deep path":    {[]string{call(`"name":"f","willContinue":true`), piece(`{"jsonPath":"$` + strings.Repeat(".a", 1000) + `","numberValue":1}`), call(``), end}, ``, false},
	} {
		reply, err := answer(t, hello, sseOf(c.chunks...))
		calls := message.Message{Parts: reply.Parts}.Calls()
		if err != nil || len(calls) != 1 || c.want != "" && calls[0].Arguments != c.want || isObject(calls[0].Arguments) != c.object {
			t.Errorf("%s: %+v, %v; want %s", name, calls, err, c.want)
		}
	}
	reply, err := answer(t, hello, sseOf(call(`"name":"f","willContinue":true`), call(`"name":"g","args":{}`), end))
	if calls := (message.Message{Parts: reply.Parts}).Calls(); err != nil || len(calls) != 2 || isObject(calls[0].Arguments) || calls[1].Arguments != "{}" {
		t.Errorf("a call within a call: %+v, %v", calls, err)
	}
}

// F069: after the finish reason a stream that stays open is not waited for,
// but what comes at once is still read.
func TestAnOpenStreamIsLeftAfterItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		go func() {
			io.WriteString(w, sseOf(chunkOf(`{"text":"hi"}`, stop)))
			io.WriteString(w, sseOf(`{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"totalTokenCount":4}}`))
		}()
		p := openModel(t, Options{HTTPClient: &http.Client{Transport: transport(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: r, Request: req}, nil
		})}})
		start := time.Now()
		reply, err := p.Stream(t.Context(), hello, func(provider.Event) {})
		if took := time.Since(start); err != nil || reply.Usage.Total != 4 || took > 2*time.Second {
			t.Errorf("%+v, %v after %v", reply, err, took)
		}
	})
}
