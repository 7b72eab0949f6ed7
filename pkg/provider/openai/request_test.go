package openai

import (
	"cmp"
	"encoding/json"
	"flag"
	"net/http"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
	"kagent/pkg/provider/sse"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sent returns what a provider sends for req.
func sent(t testing.TB, o Options, req provider.Request) (*http.Request, string) {
	t.Helper()
	return providertest.Sent(t, func(c *http.Client) (provider.Provider, error) {
		o.Model, o.BaseURL, o.HTTPClient = cmp.Or(o.Model, "m"), cmp.Or(o.BaseURL, "http://test/v1"), c
		return New(o)
	}, hi, req)
}

func say(role message.Role, parts ...message.Part) message.Message {
	m := message.Message{Role: role, Parts: parts}
	if role == message.Assistant {
		m.Model = "openai/m"
	}
	return m
}

// Everything a conversation can hold, good and bad, in one request.
func conversation() provider.Request {
	foreign := say(message.Assistant, providertest.ThoughtPart("secret thoughts", `{"signature":"s"}`), message.Text("from another model"),
		providertest.CallPart("c9", "pwd", "{}", `{"extra_content":{"no":1}}`))
	foreign.Model = "anthropic/m"
	return provider.Request{
		System: "You are <kind> & brief.",
		Messages: []message.Message{
			say(message.User, message.Text("review this"), message.Text(" \n"), message.Text("attached\x00 \xff")),
			say(message.Assistant, providertest.ThoughtPart("let me see", `{"field":"reasoning_content"}`), message.Text("\n"),
				providertest.CallPart("c1", "read_file", `{"path":"a","text":"\ud83d\u0000\ud83d\ude00\\ud83d"}`, `{"extra_content":{"google":{"thought_signature":"sig=="}}}`),
				providertest.CallPart("c2", "read file!", `{"path":`, ``), providertest.CallPart("c3", strings.Repeat("x", 70), `[1]`, ``), providertest.CallPart("c4", "", ``, ``)),
			providertest.ResultMessage("c1", "read_file", "content", false),
			providertest.ResultMessage("c2", "read_file", "error: arguments are no JSON", false),
			providertest.ResultMessage("c3", "x", "error: unknown tool", false),
			providertest.ResultMessage("c4", "", "", false),
			say(message.Assistant, providertest.ThoughtPart("old", `{"field":"reasoning_content"}`), message.Text("said without calls")),
			say(message.User, message.Text("")),
			say(message.Assistant, providertest.ThoughtPart("only thought", ``)),
			say(message.User, message.Text("go on 😀")),
			say(message.Assistant, providertest.ThoughtPart("d", `{"field":"reasoning","reasoning_details":[{"type":"reasoning.text","text":"d","signature":"s"}]}`), message.Text("with details")),
			say(message.User, message.Text("and?")),
			foreign,
			providertest.ResultMessage("c9", "pwd", "/", false),
		},
		Note: "Step 2 of 3 is next.",
		Tools: []message.ToolSpec{
			{Name: "read_file", Description: "Reads <a> file.", Schema: json.RawMessage(`{"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "array"}}, "anyOf": [{"required": ["path"]}]}`)},
			{Name: "pwd"},
		},
		Choice:  "pwd",
		Output:  json.RawMessage(`{"type":"object","properties":{"verdict":{"enum":["good","bad"]},"why":{"type":["string","null"]}},"required":["verdict"]}`),
		Options: provider.Options{MaxOutput: 3000, Temperature: new(0.5), Effort: "high"},
	}
}

func TestTheRequestIsAsRecorded(t *testing.T) {
	req, body := sent(t, Options{APIKey: " test-key\n", Header: map[string]string{"X-Title": "kagent"}}, conversation())
	providertest.GoldenRequest(t, "request", *update, req, body)
}

func TestAnEmptyRequestHasNoEmptyLists(t *testing.T) {
	req, body := sent(t, Options{}, hello)
	if want := `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}`; body != want {
		t.Errorf("body %s, want %s", body, want)
	}
	if _, ok := req.Header["Authorization"]; ok {
		t.Error("a key is sent though there is none")
	}
}

func TestTheLimitOfTheOutputHasTheNameThatTheServiceKnows(t *testing.T) {
	req := hello
	req.Options.MaxOutput = 5
	for base, want := range map[string]string{
		"":                             `"max_completion_tokens":5,"stream"`,
		"https://API.openai.com/v1":    `"max_completion_tokens":5,"stream"`,
		"https://eu.api.openai.com/v1": `"max_completion_tokens":5,"stream"`,
		"https://x.openai.azure.com/openai/deployments/d?api-version=1": `"max_completion_tokens":5,"stream"`,
		"https://openrouter.ai/api/v1":                                  `"max_tokens":5,"stream"`,
		"https://notopenai.com/v1":                                      `"max_tokens":5,"stream"`,
		"http://localhost:8080/v1":                                      `"max_tokens":5,"stream"`,
	} {
		p, err := New(Options{Model: "m", BaseURL: base})
		if err != nil {
			t.Fatal(err)
		}
		if body, err := p.(*client).encode(req); err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, %v", base, body, err)
		}
	}
}

func TestAForcedToolIsNamedOnlyIfItIsThere(t *testing.T) {
	req := hello
	req.Choice = "pwd"
	if _, body := sent(t, Options{}, req); strings.Contains(body, "tool_choice") {
		t.Errorf("a tool that is not offered is demanded: %s", body)
	}
}

func TestASchemaThatCantBeEnforcedIsAdvice(t *testing.T) {
	req := hello
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`:    `"schema":{"type":"object","properties":{"a":{"type":"string","minLength":1}}},"strict":false`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`: `"required":["a"],"additionalProperties":false},"strict":true`,
		`{"type":"array"}`: "",
	} {
		req.Output = json.RawMessage(schema)
		_, body := sent(t, Options{}, req)
		if !strings.Contains(body, want) || want == "" && strings.Contains(body, "response_format") {
			t.Errorf("%s: %s", schema, body)
		}
	}
}

func TestWhatToolsLoseIsNamed(t *testing.T) {
	if got := Dropped(conversation().Tools); len(got) != 1 || got[0] != "read_file: anyOf" {
		t.Errorf("dropped %q", got)
	}
}

func TestBaseURLsAreJoined(t *testing.T) {
	for base, want := range map[string]string{
		"":                               "https://api.openai.com/v1/chat/completions",
		"http://h:1/v1":                  "http://h:1/v1/chat/completions",
		"http://h:1/v1/":                 "http://h:1/v1/chat/completions",
		" http://h ":                     "http://h/chat/completions",
		"https://h/a%20b/?api-version=1": "https://h/a%20b/chat/completions?api-version=1",
		"https://h/v1/chat/completions":  "https://h/v1/chat/completions",
	} {
		p, err := New(Options{Model: "m", BaseURL: base})
		if err != nil || p.(*client).http.Address != want {
			t.Errorf("%q: %v, %v; want %q", base, p, err, want)
		}
	}
	for _, o := range []Options{
		{},
		{Model: "m", BaseURL: "h/v1"},
		{Model: "m", BaseURL: "ftp://h"},
		{Model: "m", BaseURL: "http://"},
		{Model: "m", BaseURL: "http://u:SECRETKEY123@h:x/%zz"},
		{Model: "m", APIKey: "SECRET\nKEY123"},
		{Model: "m", Header: map[string]string{"Api-Key": "SECRET\x00KEY123"}},
	} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "SECRET") || !strings.HasPrefix(err.Error(), "openai: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// checkReplay sends a reply back and looks for what strict services refuse.
func checkReplay(t testing.TB, reply provider.Reply) string {
	t.Helper()
	return checkReplayOf(t, reply, "openai/m")
}

// checkReplayOf does so with a reply that a certain model has given.
func checkReplayOf(t testing.TB, reply provider.Reply, model string) string {
	t.Helper()
	req := hello
	said := message.Message{Role: message.Assistant, Parts: reply.Parts, Model: model}
	req.Messages = append([]message.Message{hello.Messages[0]}, said)
	for _, c := range said.Calls() {
		req.Messages = append(req.Messages, providertest.ResultMessage(c.ID, c.Name, "r", false))
	}
	_, body := sent(t, Options{}, req)
	var back struct{ Messages []wireMessage }
	if err := json.Unmarshal([]byte(body), &back); err != nil || body != message.Clean(body) {
		t.Errorf("request is not clean: %v: %q", err, body)
	}
	if body != message.CleanEscapes(body) {
		t.Errorf("request has a bad escape: %s", body)
	}
	for _, m := range back.Messages {
		if m.Content == nil && m.ToolCalls == nil {
			t.Errorf("a message says nothing: %s", body)
		}
		for _, c := range m.ToolCalls {
			var args map[string]any
			if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil || args == nil {
				t.Errorf("arguments %q: %v", c.Function.Arguments, err)
			}
			if s := c.Function.Arguments; s != message.CleanEscapes(s) || c.Function.Name != sse.LegalName(c.Function.Name) {
				t.Errorf("call %+v", c)
			}
		}
	}
	return body
}

// What a vendor wants back comes back as it was (F036), to the model that made it
// alone (F035).
func TestVendorsDataComesBackUnchanged(t *testing.T) {
	for name, c := range map[string]struct {
		deltas []string
		want   []string // parts of the next request
	}{
		"reasoning_content beside calls": {
			[]string{`{"reasoning_content":"I "}`, `{"reasoning_content":"think"}`, toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`)},
			[]string{`"reasoning_content":"I think"`},
		},
		"reasoning beside calls": {
			[]string{`{"reasoning":"I think"}`, toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`)},
			[]string{`"reasoning":"I think"`},
		},
		"details": {
			[]string{
				`{"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I \ud83d","index":0,"format":"f"}]}`,
				`{"reasoning":"think","reasoning_details":[{"type":"reasoning.text","text":"\ude00think","index":0}]}`,
				`{"reasoning_details":[{"type":"reasoning.text","signature":"sig==","index":0},{"type":"reasoning.encrypted","data":"1","index":1},{"type":"reasoning.encrypted","data":"2","index":1}]}`,
				`{"content":"x"}`,
			},
			[]string{`"reasoning_details":[{"format":"f","index":0,"signature":"sig==","text":"I \ud83d\ude00think","type":"reasoning.text"},{"type":"reasoning.encrypted","data":"1","index":1},{"type":"reasoning.encrypted","data":"2","index":1}]`},
		},
		"opaque": {
			[]string{`{"reasoning_text":"I think"}`, `{"reasoning_opaque":"blob=="}`, toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`)},
			[]string{`"reasoning_text":"I think"`, `"reasoning_opaque":"blob=="`},
		},
		"signatures on calls": {
			[]string{`{"extra_content":{"google":{"thought_signature":"m"}}}`, toolCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"1"}}},{"index":1,"id":"b","function":{"name":"f","arguments":"{}"},"extra_content":{"x":"\ud800"}}`)},
			[]string{`"arguments":"{}"},"extra_content":{"google":{"thought_signature":"1"}}}`, `"extra_content":{"x":"\ufffd"}`, `"extra_content":{"google":{"thought_signature":"m"}}`},
		},
	} {
		reply, err := decodeAll(t, 200, nil, strings.NewReader(sseOf(`"stop"`, c.deltas...)))
		if err != nil {
			t.Fatal(name, err)
		}
		body := checkReplay(t, reply)
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: %s is not in %s", name, want, body)
			}
		}
		for _, other := range []string{"openai/other", "openrouter/m", ""} {
			body := checkReplayOf(t, reply, other)
			for _, vendors := range []string{"extra_content", "reasoning", "signature", "think"} {
				if strings.Contains(body, vendors) {
					t.Errorf("%s: %s of %q is in %s", name, vendors, other, body)
				}
			}
		}
	}
}
