package providertest

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// sent returns the body of what the adapter sends for req.
func (a Adapter) sent(t testing.TB, req provider.Request) string {
	t.Helper()
	var body []byte
	c := &http.Client{Transport: Transport(func(r *http.Request) (*http.Response, error) {
		body, _ = io.ReadAll(r.Body)
		answer := a.Wire.frame(a.Wire.Answer(Answer{Text: []string{`"ok"`}}))
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
	})}
	if _, err := stream(t, a.open(t, Options{HTTPClient: c}), req); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// next is the request that follows a reply: each call gets a result.
func (a Adapter) next(reply provider.Reply) provider.Request {
	req := Hello()
	said := message.Message{Role: message.Assistant, Parts: reply.Parts, Model: a.ID}
	req.Messages = append(req.Messages, said)
	for _, c := range said.Calls() {
		req.Messages = append(req.Messages, message.Message{Role: message.Tool, Parts: []message.Part{
			message.Result(message.ToolResult{ID: c.ID, Name: c.Name, Text: "result", IsError: true}),
		}})
	}
	if len(said.Calls()) == 0 {
		req.Note = "go on"
	}
	return req
}

// checkBody looks for what strict services refuse for ever (F021, F022).
func checkBody(t testing.TB, body string) {
	t.Helper()
	if !json.Valid([]byte(body)) || body != message.Clean(body) || body != message.CleanEscapes(body) {
		t.Errorf("the request is not clean: %.500q", body)
	}
}

// testReplay: what an adapter gave it takes back, and sends in a form that no
// service refuses; and it sends the same bytes for the same request.
func testReplay(t *testing.T, a Adapter) {
	wild := example()
	wild.Reasoning = append(wild.Reasoning, `"\ud83d"`)
	wild.Text = append(wild.Text, `"\u0000"`, `"\ude00"`)
	wild.Calls = append(wild.Calls, Call{"call_3", "read file!\n", `{"t":"\ud83d\u0000"}`}, Call{"call_4", strings.Repeat("x", 300), `[1]`})
	for _, said := range []Answer{example(), {Text: []string{`"hm"`}}, {Reasoning: []string{`"hm"`}, Text: []string{`"  "`}}, wild} {
		reply, err := a.answerWith(t, said)
		if err != nil {
			t.Fatal(err)
		}
		body := a.sent(t, a.next(reply))
		checkBody(t, body)
		if again := a.sent(t, a.next(reply)); again != body {
			t.Errorf("sent first\n%s\nthen\n%s", body, again)
		}
	}
}

// testRequestUntouched: a request may be sent again, so it is only read.
func testRequestUntouched(t *testing.T, a Adapter) {
	reply, err := a.answerWith(t, example())
	if err != nil {
		t.Fatal(err)
	}
	make := func() provider.Request {
		warm := 0.5
		req := a.next(reply)
		req.System, req.Note, req.Choice = "Be brief.", "Step 2 is next.", "read_file"
		req.Tools = []message.ToolSpec{{Name: "read_file", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","pattern":"a"}}}`)}}
		req.Output = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
		req.Options = provider.Options{MaxOutput: 100, Temperature: &warm, Effort: "low"}
		return req
	}
	req := make()
	body := a.sent(t, req)
	checkBody(t, body)
	if !reflect.DeepEqual(req, make()) {
		t.Errorf("the request was changed to %+v", req)
	}
	for _, want := range []string{"Be brief.", "Step 2 is next.", "read_file"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}
