package ollama

import (
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// transport is an http.RoundTripper made of a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

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
	return open(t, Options{}, func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}).Stream(t.Context(), hello, func(provider.Event) {})
}

// sent returns what a provider sends for req.
func sent(t testing.TB, o Options, req provider.Request) (got *http.Request, body string) {
	t.Helper()
	p := open(t, o, func(r *http.Request) (*http.Response, error) {
		raw, _ := io.ReadAll(r.Body)
		got, body = r, string(raw)
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"message":{"content":"hi"},"done":true}`)), Request: r}, nil
	})
	if _, err := p.Stream(t.Context(), req, func(provider.Event) {}); err != nil {
		t.Fatal(err)
	}
	return got, body
}

func say(role message.Role, parts ...message.Part) message.Message {
	m := message.Message{Role: role, Parts: parts}
	if role == message.Assistant {
		m.Model = "ollama/m"
	}
	return m
}

func thought(text string) message.Part { return message.Part{Type: message.TypeReasoning, Text: text} }

func callPart(id, name, args string) message.Part {
	return message.Call(message.ToolCall{ID: id, Name: name, Arguments: args})
}

func result(id, name, text string, isError bool) message.Message {
	return say(message.Tool, message.Result(message.ToolResult{ID: id, Name: name, Text: text, IsError: isError}))
}

var hello = provider.Request{Messages: []message.Message{say(message.User, message.Text("hi"))}}

// Everything a conversation can hold, good and bad, in one request.
func conversation() provider.Request {
	foreign := say(message.Assistant, thought("secret thoughts"), message.Text("from another model"), callPart("c9", "pwd", "{}"))
	foreign.Model = "anthropic/m"
	warm := 0.5
	return provider.Request{
		System: "You are <kind> & brief.",
		Messages: []message.Message{
			say(message.User, message.Text("review this"), message.Text(" \n"), message.Text("attached\x00 \xff")),
			say(message.Assistant, thought("let me "), thought("see"), message.Text("\n"),
				callPart("c1", "read_file", `{"path":"a","text":"\ud83d\u0000\ud83d\ude00\\ud83d","n":9223372036854775807}`),
				callPart("c2", "read file!", `{"path":`), callPart("", strings.Repeat("x", 70), `[1]`)),
			result("c1", "read_file", "content", false),
			result("c2", "read file!", "error: arguments are no JSON", true),
			result("", "x", "", true),
			say(message.Assistant, thought("only thought")),
			say(message.User, message.Text("")),
			say(message.User, message.Text("go on 😀")),
			foreign,
			result("c9", "pwd", "/", false),
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
	var b strings.Builder
	b.WriteString(req.Method + " " + req.URL.String() + "\n")
	req.Header.Write(&b)
	b.WriteString("\n")
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(json.RawMessage(body)); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	got := strings.ReplaceAll(b.String(), "\r\n", "\n")
	golden := filepath.Join("testdata", "request.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the request differs from %s (-update rewrites it):\n%s", golden, got)
	}
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
