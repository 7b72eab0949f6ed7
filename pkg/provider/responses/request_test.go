package responses

import (
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

// open makes a provider for a model m on a host named test.
func open(t testing.TB, f transport) provider.Provider {
	t.Helper()
	p, err := over(&http.Client{Transport: f})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func over(c *http.Client) (provider.Provider, error) {
	return New(Options{Model: "m", BaseURL: "http://test/v1", APIKey: " test-key\n", Header: map[string]string{"X-Title": "kagent"}, HTTPClient: c})
}

const hi = `data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}}` + "\n\n"

// sent returns what a provider sends for req.
func sent(t testing.TB, req provider.Request) (*http.Request, string) {
	t.Helper()
	return providertest.Sent(t, over, hi, req)
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

func result(id, name, text string) message.Message {
	return providertest.ResultMessage(id, name, text, strings.HasPrefix(text, "error"))
}

var hello = providertest.Hello()

// Everything a conversation can hold, good and bad, in one request.
func conversation() provider.Request {
	foreign := say(message.Assistant, providertest.ThoughtPart("secret thoughts", `{"type":"reasoning","encrypted_content":"foreign"}`),
		with(message.Text("from another model"), `{"id":"msg_no","phase":"no"}`), providertest.CallPart("c9", "pwd", "{}", `{"id":"fc_no"}`))
	foreign.Model = "openai-responses/other"
	return provider.Request{
		System: "You are <kind> & brief.",
		Messages: []message.Message{
			say(message.User, message.Text("review this"), message.Text(" \n"), message.Text("attached\x00 \xff")),
			say(message.Assistant,
				providertest.ThoughtPart("let me see", `{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA+/==","summary":[{"type":"summary_text","text":"let <me> see"}],"status":null}`),
				with(message.Text("I'll look."), `{"id":"msg_1","phase":"commentary"}`), message.Text("\n"),
				providertest.CallPart("c1", "read_file", `{"path":"a","text":"\ud83d\u0000\ud83d\ude00\\ud83d"}`, `{"id":"fc_1"}`),
				providertest.CallPart("c2", "read file!", `{"path":`, `{"id":"`+strings.Repeat("x", 65)+`"}`), providertest.CallPart("c3", strings.Repeat("x", 70), `[1]`, ""), providertest.CallPart("c4", "", "", "")),
			result("c1", "read_file", "content"),
			result("c2", "read_file", "error: arguments are no JSON"),
			result("c3", "x", "error: unknown tool"),
			result("c4", "", ""),
			say(message.Assistant, providertest.ThoughtPart("first", `{"type":"reasoning","encrypted_content":"1","summary":[]}`), providertest.ThoughtPart("unkept", ``),
				providertest.ThoughtPart("second", `{"type":"reasoning","encrypted_content":"2","summary":[]}`), message.Text("said without calls"),
				providertest.ThoughtPart("led to nothing", `{"type":"reasoning","encrypted_content":"3","summary":[]}`)),
			say(message.User, message.Text("")),
			say(message.Assistant, providertest.ThoughtPart("only thought", `{"type":"reasoning","encrypted_content":"4","summary":[]}`)),
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
	providertest.GoldenRequest(t, "request", *update, req, body)
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
			return providertest.Answered(r, 400, refused), nil
		}
		return providertest.Answered(r, 200, hi), nil
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
		return providertest.Answered(r, 400, refused), nil
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
