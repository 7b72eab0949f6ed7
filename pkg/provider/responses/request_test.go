package responses

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

// open makes a provider for a model m on a host named test.
func open(t testing.TB, f transport) provider.Provider {
	t.Helper()
	p, err := New(Options{
		Model: "m", BaseURL: "http://test/v1", APIKey: " test-key\n",
		Header: map[string]string{"X-Title": "kagent"}, HTTPClient: &http.Client{Transport: f},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// answer is a response with a body.
func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

const hi = `data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}}` + "\n\n"

// sent returns what a provider sends for req.
func sent(t testing.TB, req provider.Request) (*http.Request, string) {
	t.Helper()
	var got *http.Request
	var body []byte
	p := open(t, func(r *http.Request) (*http.Response, error) {
		got = r
		body, _ = io.ReadAll(r.Body)
		return answer(r, 200, hi), nil
	})
	if _, err := p.Stream(t.Context(), req, func(provider.Event) {}); err != nil {
		t.Fatal(err)
	}
	return got, string(body)
}

func say(role message.Role, parts ...message.Part) message.Message {
	m := message.Message{Role: role, Parts: parts}
	if role == message.Assistant {
		m.Model = "openai-responses/m"
	}
	return m
}

// with returns a part with opaque data.
func with(p message.Part, opaque string) message.Part {
	p.Opaque = json.RawMessage(opaque)
	return p
}

func callPart(id, name, args string) message.Part {
	return message.Call(message.ToolCall{ID: id, Name: name, Arguments: args})
}

func thought(text, opaque string) message.Part {
	return with(message.Part{Type: message.TypeReasoning, Text: text}, opaque)
}

func result(id, name, text string) message.Message {
	return say(message.Tool, message.Result(message.ToolResult{ID: id, Name: name, Text: text, IsError: strings.HasPrefix(text, "error")}))
}

var hello = provider.Request{Messages: []message.Message{say(message.User, message.Text("hi"))}}

// Everything a conversation can hold, good and bad, in one request.
func conversation() provider.Request {
	foreign := say(message.Assistant, thought("secret thoughts", `{"type":"reasoning","encrypted_content":"foreign"}`),
		with(message.Text("from another model"), `{"id":"msg_no","phase":"no"}`), with(callPart("c9", "pwd", "{}"), `{"id":"fc_no"}`))
	foreign.Model = "openai-responses/other"
	return provider.Request{
		System: "You are <kind> & brief.",
		Messages: []message.Message{
			say(message.User, message.Text("review this"), message.Text(" \n"), message.Text("attached\x00 \xff")),
			say(message.Assistant,
				thought("let me see", `{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA+/==","summary":[{"type":"summary_text","text":"let <me> see"}],"status":null}`),
				with(message.Text("I'll look."), `{"id":"msg_1","phase":"commentary"}`), message.Text("\n"),
				with(callPart("c1", "read_file", `{"path":"a","text":"\ud83d\u0000\ud83d\ude00\\ud83d"}`), `{"id":"fc_1"}`),
				with(callPart("c2", "read file!", `{"path":`), `{"id":"`+strings.Repeat("x", 65)+`"}`), callPart("c3", strings.Repeat("x", 70), `[1]`), callPart("c4", "", ``)),
			result("c1", "read_file", "content"),
			result("c2", "read_file", "error: arguments are no JSON"),
			result("c3", "x", "error: unknown tool"),
			result("c4", "", ""),
			say(message.Assistant, thought("first", `{"type":"reasoning","encrypted_content":"1","summary":[]}`), thought("unkept", ``),
				thought("second", `{"type":"reasoning","encrypted_content":"2","summary":[]}`), message.Text("said without calls"),
				thought("led to nothing", `{"type":"reasoning","encrypted_content":"3","summary":[]}`)),
			say(message.User, message.Text("")),
			say(message.Assistant, thought("only thought", `{"type":"reasoning","encrypted_content":"4","summary":[]}`)),
			say(message.User, message.Text("go on 😀")),
			say(message.Assistant, with(message.Text("I won't."), `{"id":"msg_2","refusal":true}`)),
			say(message.User, message.Text("and?")),
			foreign,
			result("c9", "pwd", "/"),
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
	req, body := sent(t, conversation())
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

func TestAnEmptyRequestHasNoEmptyFields(t *testing.T) {
	_, body := sent(t, hello)
	want := `{"model":"m","input":[{"type":"message","role":"user","content":"hi"}],"include":["reasoning.encrypted_content"],"store":false,"stream":true}`
	if body != want {
		t.Errorf("body %s, want %s", body, want)
	}
}

func TestAForcedToolIsNamedOnlyIfItIsThere(t *testing.T) {
	req := hello
	req.Choice = "pwd"
	if _, body := sent(t, req); strings.Contains(body, "tool_choice") {
		t.Errorf("a tool that is not offered is demanded: %s", body)
	}
}

func TestTheLimitOfTheOutputIsLegal(t *testing.T) {
	req := hello
	req.Options.MaxOutput = 5
	if _, body := sent(t, req); !strings.Contains(body, `"max_output_tokens":16`) {
		t.Errorf("body %s", body)
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
		_, body := sent(t, req)
		if !strings.Contains(body, want) || want == "" && strings.Contains(body, `"text"`) {
			t.Errorf("%s: %s", schema, body)
		}
	}
}

// A model that doesn't reason refuses to be asked for encrypted thoughts; it is
// asked again, once, and from then on without.
func TestModelsThatDontReasonAreAskedWithout(t *testing.T) {
	const refused = `{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include","code":null}}`
	var bodies []string
	p := open(t, func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if strings.Contains(string(body), "encrypted_content") {
			return answer(r, 400, refused), nil
		}
		return answer(r, 200, hi), nil
	})
	for range 2 {
		if _, err := p.Stream(t.Context(), hello, func(provider.Event) {}); err != nil {
			t.Fatal(err)
		}
	}
	if len(bodies) != 3 || strings.Contains(bodies[2], "include") {
		t.Errorf("sent %q", bodies)
	}
	tries := 0
	p = open(t, func(r *http.Request) (*http.Response, error) {
		tries++
		return answer(r, 400, refused), nil
	})
	if _, err := p.Stream(t.Context(), hello, func(provider.Event) {}); err == nil || tries != 2 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

func TestWhatToolsLoseIsNamed(t *testing.T) {
	got := Dropped(conversation().Tools)
	if len(got) != 1 || got[0] != "read_file: anyOf" {
		t.Errorf("dropped %q", got)
	}
}
