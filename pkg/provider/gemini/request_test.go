package gemini

import (
	"cmp"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type transport = providertest.Transport

const hi = `data: {"candidates":[{"content":{"parts":[{"text":"hi"}],"role":"model"},"finishReason":"STOP"}]}` + "\n\n"

// open makes a provider for a model on a host named test.
func openModel(t testing.TB, o Options) provider.Provider {
	t.Helper()
	if o.Model == "" {
		o.Model = "m"
	}
	if o.BaseURL == "" {
		o.BaseURL = "http://test/v1beta"
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sent returns what a provider sends for req.
func sent(t testing.TB, o Options, req provider.Request) (*http.Request, string) {
	t.Helper()
	return providertest.Sent(t, func(c *http.Client) (provider.Provider, error) {
		o.Model, o.BaseURL, o.HTTPClient = cmp.Or(o.Model, "m"), cmp.Or(o.BaseURL, "http://test/v1beta"), c
		return New(o)
	}, hi, req)
}

// answer feeds a body with status 200 to a model m.
func answer(t testing.TB, req provider.Request, body string) (provider.Reply, error) {
	t.Helper()
	return openModel(t, Options{HTTPClient: providertest.Canned(http.StatusOK, nil, strings.NewReader(body))}).Stream(t.Context(), req, func(provider.Event) {})
}

func say(role message.Role, parts ...message.Part) message.Message {
	m := message.Message{Role: role, Parts: parts}
	if role == message.Assistant {
		m.Model = "gemini/m"
	}
	return m
}

func textPart(text, opaque string) message.Part {
	return message.Part{Type: message.TypeText, Text: text, Opaque: json.RawMessage(opaque)}
}

var hello = providertest.Hello()

// Everything a conversation can hold, good and bad, in one request.
func conversation() provider.Request {
	foreign := say(message.Assistant, providertest.ThoughtPart("secret thoughts", `{"thoughtSignature":"s"}`), textPart("from another model", `{"thoughtSignature":"s"}`),
		providertest.CallPart("c9", "pwd", "{}", `{"thoughtSignature":"s"}`), providertest.CallPart("c10", "pwd", "{}", ``))
	foreign.Model = "anthropic/m"
	warm := 0.5
	return provider.Request{
		System: "You are <kind> & brief.",
		Messages: []message.Message{
			say(message.User, message.Text("review this"), message.Text(" \n"), message.Text("attached\x00 \xff")),
			say(message.Assistant,
				providertest.ThoughtPart("let me see", ``), providertest.ThoughtPart("", `{"part":{"text":"","thought":true,"thoughtSignature":"t1=="}}`),
				textPart("First part", `{"thoughtSignature":"t2=="}`), message.Text(" and the next."), message.Text("\n"),
				providertest.CallPart("c1", "read_file", `{"path":"a","text":"\ud83d\u0000\ud83d\ude00\\ud83d","n":9223372036854775807}`, `{"thoughtSignature":"s+/=","anonymous":true}`),
				providertest.CallPart("c2", "read file!", `{"path":`, ``), providertest.CallPart("c3", strings.Repeat("x", 70), `[1]`, ``), providertest.CallPart("c4", "", ``, ``)),
			providertest.ResultMessage("c1", "read_file", "content", false),
			providertest.ResultMessage("c2", "read_file", "error: arguments are no JSON", true),
			providertest.ResultMessage("c3", "x", "error: unknown tool", true),
			providertest.ResultMessage("c4", "", "", false),
			say(message.Assistant, providertest.ThoughtPart("only thought", `{"thoughtSignature":"lost"}`)),
			say(message.Assistant, textPart("said without calls", ``), providertest.ThoughtPart("", `{"part":{"text":"","thoughtSignature":"t3=="}}`),
				providertest.ThoughtPart("", `{"part":{"executableCode":{"code":"1 < 2"},"thoughtSignature":"t4=="}}`), providertest.ThoughtPart("", `{"part":{"thoughtSignature":"t5=="}}`)),
			say(message.User, message.Text("")),
			say(message.User, message.Text("go on 😀")),
			foreign,
			providertest.ResultMessage("c9", "pwd", "/", false), providertest.ResultMessage("c10", "pwd", "/", false),
		},
		Note:   "Step 2 is next.",
		Choice: "1pwd",
		Tools: []message.ToolSpec{
			{Name: "read_file", Description: "Reads <a> file.", Schema: json.RawMessage(`{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false}`)},
			{Name: "1pwd", Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: "ls"},
		},
		Output:  json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`),
		Options: provider.Options{MaxOutput: 1000, Temperature: &warm, Effort: "low"},
	}
}

func TestTheRequestIsAsRecorded(t *testing.T) {
	req, body := sent(t, Options{APIKey: " test-key\n", Header: map[string]string{"X-Title": "kagent"}}, conversation())
	providertest.GoldenRequest(t, "request", *update, req, body)
}

func TestAnEmptyRequestLeavesAllToTheService(t *testing.T) {
	req, body := sent(t, Options{}, hello)
	if want := `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`; body != want {
		t.Errorf("body %s, want %s", body, want)
	}
	if _, ok := req.Header["X-Goog-Api-Key"]; ok {
		t.Error("a key is sent though there is none")
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range [][3]string{
		{"", "gemini-2.5-flash", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		{"http://h:1", "m", "http://h:1/v1beta/models/m:streamGenerateContent?alt=sse"},
		{" http://h/ ", "m", "http://h/v1beta/models/m:streamGenerateContent?alt=sse"},
		{"http://h/v1/?a=b#c", "a b%?", "http://h/v1/models/a%20b%25%3F:streamGenerateContent?a=b&alt=sse"},
		{"http://h/v1", "tunedModels/x", "http://h/v1/tunedModels/x:streamGenerateContent?alt=sse"},
		{"https://h/v1/projects/p/locations/l", "publishers/google/models/m", "https://h/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse"},
	} {
		p, err := New(Options{Model: c[1], BaseURL: c[0]})
		if err != nil || p.(*client).http.Address != c[2] {
			t.Errorf("%q, %s: %v, %v; want %q", c[0], c[1], p, err, c[2])
		}
	}
	for _, o := range []Options{
		{},
		{Model: "m", BaseURL: "h/v1"},
		{Model: "m", BaseURL: "ftp://h"},
		{Model: "m", BaseURL: "http://u:SECRETKEY123@h:x/%zz"},
		{Model: "m", APIKey: "SECRET\nKEY123"},
	} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "SECRET") || !strings.HasPrefix(err.Error(), "gemini: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// What each generation of models is asked for, and in which words.
func TestOptionsFollowTheGeneration(t *testing.T) {
	for _, c := range []struct {
		model, effort string
		tools         bool
		want          string
	}{
		{"gemini-2.5-flash", "low", false, `"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{},"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1024}}`},
		{"gemini-2.5-pro", "high", true, `"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":24576}}`},
		{"gemini-3-pro-preview", "medium", true, `"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{},"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}`},
		{"gemini-3-flash-preview", "medium", false, `"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"medium"}`},
		{"models/gemini-3.1-pro-preview", "medium", false, `"thinkingLevel":"medium"`},
		{"gemini-3-flash-preview", "low", true, `"responseJsonSchema":{}`},
		{"gemini-flash-latest", "low", true, `"responseMimeType":"application/json","responseJsonSchema":{},"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"low"}`},
	} {
		req := hello
		req.Options.Effort = c.effort
		req.Output = json.RawMessage(`{}`)
		if c.tools {
			req.Tools = []message.ToolSpec{{Name: "ls"}}
		}
		if _, body := sent(t, Options{Model: c.model}, req); !strings.Contains(body, c.want) {
			t.Errorf("%s, %s: %s\nlacks %s", c.model, c.effort, body, c.want)
		}
	}
}

// A call that another model made has no signature; Gemini 3 would refuse it
// without one, older models never asked.
func TestForeignCallsAreMarkedForNewModelsOnly(t *testing.T) {
	for model, marked := range map[string]bool{"gemini-3-pro-preview": true, "gemini-flash-latest": true, "gemini-2.5-pro": false, "gemini-1.5-flash": false} {
		_, body := sent(t, Options{Model: model}, conversation())
		if got := strings.Contains(body, noValidation); got != marked {
			t.Errorf("%s: marked %v, want %v", model, got, marked)
		}
	}
}

func TestTheUserBegins(t *testing.T) {
	said := func(role message.Role, text string) message.Message {
		return message.Message{Role: role, Parts: []message.Part{message.Text(text)}}
	}
	_, body := sent(t, Options{}, provider.Request{Messages: []message.Message{said(message.Assistant, "hello"), said(message.User, "hi")}})
	want := `"contents":[{"role":"user","parts":[{"text":"` + noBeginning + `"}]},{"role":"model","parts":[{"text":"hello"}]},{"role":"user","parts":[{"text":"hi"}]}]`
	if !strings.Contains(body, want) {
		t.Errorf("sent %s\nwant %s", body, want)
	}
	_, body = sent(t, Options{}, provider.Request{Messages: []message.Message{said(message.Assistant, " "), said(message.User, "hi")}})
	if strings.Contains(body, noBeginning) {
		t.Errorf("a blank beginning counts: %s", body)
	}
}

// F038 is so of this service too: signatures that it does not know any more are
// left out, and the conversation goes on.
func TestSignaturesThatAreRefusedAreLeftOut(t *testing.T) {
	for refusal, want := range map[string]int{
		"Corrupted thought signature.":                        2,
		"Function call is missing a thought_signature in ...": 2,
		"Invalid JSON payload received.":                      1,
	} {
		var bodies []string
		o := Options{Model: "gemini-3-pro-preview", HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			bodies = append(bodies, string(body))
			status, answer := 200, hi
			if strings.Contains(string(body), "c2lnbmVk") {
				status, answer = 400, `{"error":{"code":400,"message":"`+refusal+`","status":"INVALID_ARGUMENT"}}`
			}
			return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
		})}}
		call := message.Call(message.ToolCall{ID: "1", Name: "f", Arguments: "{}"})
		call.Opaque = opaque{Signature: "c2lnbmVk"}.sealed()
		result := message.Part{Type: message.TypeResult, Result: &message.ToolResult{ID: "1", Name: "f", Text: "r"}}
		req := provider.Request{Messages: []message.Message{
			{Role: message.User, Parts: []message.Part{message.Text("a")}},
			{Role: message.Assistant, Parts: []message.Part{call}, Model: "gemini/gemini-3-pro-preview"},
			{Role: message.Tool, Parts: []message.Part{result}},
		}}
		reply, err := openModel(t, o).Stream(t.Context(), req, func(provider.Event) {})
		if len(bodies) != want || (err == nil) != (want == 2) {
			t.Errorf("%s: %d requests, %v", refusal, len(bodies), err)
		}
		if want == 2 && !strings.Contains(bodies[1], noValidation) {
			t.Errorf("sent again: %s", bodies[1])
		}
		if req.Messages[1].Model == "" {
			t.Error("the caller's messages were changed")
		}
		if err != nil {
			continue
		}
		// It is remembered, by the conversation.
		req.Messages = append(req.Messages, message.Message{Role: message.Assistant, Parts: reply.Parts, Model: "gemini/gemini-3-pro-preview"},
			message.Message{Role: message.User, Parts: []message.Part{message.Text("b")}})
		if _, err := openModel(t, o).Stream(t.Context(), req, func(provider.Event) {}); err != nil || len(bodies) != want+1 || strings.Contains(bodies[want], "silent") {
			t.Errorf("after it: %d requests, %v: %s", len(bodies), err, bodies[len(bodies)-1])
		}
	}
}
