package script_test

import (
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/script"
)

// parse reads a script that must be sound.
func parse(t *testing.T, src string) *script.Script {
	t.Helper()
	s, err := script.Parse("test.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends req and collects the stream.
func ask(t *testing.T, p provider.Provider, req provider.Request) (provider.Reply, []provider.Event, error) {
	t.Helper()
	var events []provider.Event
	reply, err := p.Stream(t.Context(), req, func(e provider.Event) { events = append(events, e) })
	return reply, events, err
}

// text is the answer to req, or the error.
func text(t *testing.T, p provider.Provider, req provider.Request) string {
	t.Helper()
	reply, _, err := ask(t, p, req)
	if err != nil {
		return err.Error()
	}
	return message.Message{Parts: reply.Parts}.Text()
}

func user(s string) message.Message {
	return message.Message{Role: message.User, Parts: []message.Part{message.Text(s)}}
}

func result(s string) message.Message {
	return message.Message{Role: message.Tool, Parts: []message.Part{message.Result(message.ToolResult{Text: s})}}
}

func request(msgs ...message.Message) provider.Request {
	return provider.Request{Messages: msgs, Label: provider.Label{Ordinal: 1, Attempt: 1}}
}

func offering(req provider.Request, names ...string) provider.Request {
	for _, n := range names {
		req.Tools = append(req.Tools, message.ToolSpec{Name: n})
	}
	return req
}

func labelled(scope string, ordinal, attempt int) provider.Request {
	req := request(user("hi"))
	req.Label = provider.Label{Scope: scope, Ordinal: ordinal, Attempt: attempt}
	return req
}
