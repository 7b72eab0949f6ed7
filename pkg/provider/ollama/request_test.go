package ollama

import (
	"encoding/json"
	"flag"
	"net/http"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type transport = providertest.Transport

// open makes a provider for a model m, which is asked by f.
func open(t testing.TB, o Options, f transport) provider.Provider {
	t.Helper()
	o.Model = "m"
	if f != nil {
		o.HTTPClient = &http.Client{Transport: f}
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// answer feeds a body to a model m.
func answer(t testing.TB, status int, body string) (provider.Reply, error) {
	t.Helper()
	return open(t, Options{}, func(r *http.Request) (*http.Response, error) { return providertest.Answered(r, status, body), nil }).
		Stream(t.Context(), hello, func(provider.Event) {})
}

// sent returns what a provider sends for req.
func sent(t testing.TB, o Options, req provider.Request) (*http.Request, string) {
	t.Helper()
	return providertest.Sent(t, func(c *http.Client) (provider.Provider, error) {
		o.Model, o.HTTPClient = "m", c
		return New(o)
	}, `{"message":{"content":"hi"},"done":true}`, req)
}

func say(role message.Role, parts ...message.Part) message.Message {
	m := message.Message{Role: role, Parts: parts}
	if role == message.Assistant {
		m.Model = "ollama/m"
	}
	return m
}

var hello = providertest.Hello()

// Everything a conversation can hold, good and bad, in one request.
func conversation() provider.Request {
	foreign := say(message.Assistant, providertest.ThoughtPart("secret thoughts", ""), message.Text("from another model"), providertest.CallPart("c9", "pwd", "{}", ""))
	foreign.Model = "anthropic/m"
	warm := 0.5
	return provider.Request{
		System: "You are <kind> & brief.",
		Messages: []message.Message{
			say(message.User, message.Text("review this"), message.Text(" \n"), message.Text("attached\x00 \xff")),
			say(message.Assistant, providertest.ThoughtPart("let me ", ""), providertest.ThoughtPart("see", ""), message.Text("\n"),
				providertest.CallPart("c1", "read_file", `{"path":"a","text":"\ud83d\u0000\ud83d\ude00\\ud83d","n":9223372036854775807}`, ""),
				providertest.CallPart("c2", "read file!", `{"path":`, ""), providertest.CallPart("", strings.Repeat("x", 70), `[1]`, "")),
			providertest.ResultMessage("c1", "read_file", "content", false),
			providertest.ResultMessage("c2", "read file!", "error: arguments are no JSON", true),
			providertest.ResultMessage("", "x", "", true),
			say(message.Assistant, providertest.ThoughtPart("only thought", "")),
			say(message.User, message.Text("")),
			say(message.User, message.Text("go on 😀")),
			foreign,
			providertest.ResultMessage("c9", "pwd", "/", false),
			say(message.Assistant, message.Text("done")),
			say(message.User, message.Text("and?")),
		},
		Note:   "Step 2 is next.",
		Choice: "read_file",
		Tools: []message.ToolSpec{
			{Name: "read_file", Description: "Reads <a> file.", Schema: json.RawMessage(`{"type": "object", "properties": {"path": {"type": "string"}}}`)},
			{Name: "pwd"},
		},
		Output:  json.RawMessage(`{"type":"object"}`),
		Options: provider.Options{MaxOutput: 1000, Temperature: &warm, Effort: "low"},
	}
}

func TestTheRequestIsAsRecorded(t *testing.T) {
	req, body := sent(t, Options{APIKey: " test-key\n", Header: map[string]string{"X-Title": "kagent"}}, conversation())
	providertest.GoldenRequest(t, "request", *update, req, body)
}

func TestAnEmptyRequestLeavesAllToTheServer(t *testing.T) {
	req, body := sent(t, Options{}, hello)
	if want := `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}`; body != want {
		t.Errorf("body %s, want %s", body, want)
	}
	if _, ok := req.Header["Authorization"]; ok {
		t.Error("a key is sent though there is none")
	}
}

// A format would bind calls too.
func TestAnAnswersSchemaIsSentWithoutTools(t *testing.T) {
	req := hello
	req.Output = json.RawMessage(`{"type":"object"}`)
	if _, body := sent(t, Options{}, req); !strings.Contains(body, `"format":{"type":"object"}`) {
		t.Errorf("no format in %s", body)
	}
	req.Tools = []message.ToolSpec{{Name: "pwd"}}
	if _, body := sent(t, Options{}, req); strings.Contains(body, "format") {
		t.Errorf("a format in %s", body)
	}
}

func TestAddresses(t *testing.T) {
	for base, want := range map[string]string{
		"":                      "http://localhost:11434/api/chat",
		" http://h:1/ ":         "http://h:1/api/chat",
		"https://h/api":         "https://h/api/chat",
		"https://h/api/":        "https://h/api/chat",
		"https://h/a/api/chat":  "https://h/a/api/chat",
		"https://h/proxy?a=b#c": "https://h/proxy/api/chat?a=b",
	} {
		p, err := New(Options{Model: "m", BaseURL: base})
		if err != nil || p.(*client).http.Address != want {
			t.Errorf("%q: %v, %v; want %q", base, p, err, want)
		}
	}
	for _, o := range []Options{{}, {Model: "m", BaseURL: "localhost:11434"}, {Model: "m", APIKey: "SECRET\nKEY"}} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "SECRET") || !strings.HasPrefix(err.Error(), "ollama: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
