package providertest

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// Sent returns what the provider that open makes sends for req, when it is
// answered with these bytes and status 200.
func Sent(t testing.TB, open func(*http.Client) (provider.Provider, error), answer string, req provider.Request) (*http.Request, string) {
	t.Helper()
	var got *http.Request
	var body []byte
	p, err := open(&http.Client{Transport: Transport(func(r *http.Request) (*http.Response, error) {
		got = r
		body, _ = io.ReadAll(r.Body)
		return Answered(r, http.StatusOK, answer), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stream(t.Context(), req, func(provider.Event) {}); err != nil {
		t.Fatal(err)
	}
	return got, string(body)
}

// GoldenRequest holds a request against testdata/name.golden: its line, its
// headers, and its body indented.
func GoldenRequest(t *testing.T, name string, update bool, req *http.Request, body string) {
	t.Helper()
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
	golden(t, name, update, strings.ReplaceAll(b.String(), "\r\n", "\n"))
}

func golden(t *testing.T, name string, update bool, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("it differs from %s (-update rewrites it):\n%s", file, got)
	}
}

// Hello is the shortest of requests.
func Hello() provider.Request {
	return provider.Request{Messages: []message.Message{{Role: message.User, Parts: []message.Part{message.Text("hi")}}}}
}

// CallPart, ThoughtPart and ResultMessage are what a conversation holds beside
// texts. Opaque is the vendor's own, as JSON, or empty.
func CallPart(id, name, args, opaque string) message.Part {
	p := message.Call(message.ToolCall{ID: id, Name: name, Arguments: args})
	p.Opaque = json.RawMessage(opaque)
	return p
}

func ThoughtPart(text, opaque string) message.Part {
	return message.Part{Type: message.TypeReasoning, Text: text, Opaque: json.RawMessage(opaque)}
}

func ResultMessage(id, name, text string, isError bool) message.Message {
	return message.Message{Role: message.Tool, Parts: []message.Part{message.Result(message.ToolResult{ID: id, Name: name, Text: text, IsError: isError})}}
}
