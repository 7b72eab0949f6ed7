package providertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// FakeServer says how the adapter uses the strict fake server.
type FakeServer struct {
	Path    string                        // of the base URL, for example "/v1"
	RulesOn []string                      // opt-in rules that have to hold
	Errors  map[string]provider.Kind      // quirks that are another error, or none (""), in this protocol
	Stops   map[string]message.StopReason // quirks that end otherwise in this protocol
}

// quirkErrors are the quirks that are no answer, and the kind of their errors.
func quirkErrors() map[string]provider.Kind {
	return map[string]provider.Kind{
		"cut_reset": provider.Network, "cut_fin": provider.Network, "cut_clean": provider.Network,
		"cut_length": provider.Network, "cut_close": provider.Network, "cut_call": provider.Network,
		"cut_gzip": provider.Network, "cut_before_body": provider.Network,
		"stall": provider.Timeout, "stall_before_headers": provider.Timeout,
		"error_in_stream": provider.Overloaded, "error_first": provider.Quota,
		"html200": provider.Server, "html502": provider.Server,
		"empty_body": provider.Network, "comment_body": provider.Network, "only_done": provider.Server,
		"json_error_200": provider.RateLimit, "malformed_function_call": provider.Server,
		"finish_tool_calls_without_calls": provider.Server,
	}
}

// Quirks asks the strict fake server for each of its quirks: the answer is the
// plain one, with calls two turns that the server accepts, or the right error
// (F021, F049 to F089).
func Quirks(t *testing.T, a Adapter, f FakeServer) {
	raw, rules := scenario(t, "every-quirk", f.RulesOn)
	address, check := Fake(t, raw)
	kinds := quirkErrors()
	for name, kind := range f.Errors {
		kinds[name] = kind
	}
	for _, rule := range rules {
		name := rule["name"].(string)
		if name == "after the tools" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			o := Options{BaseURL: address + f.Path, Key: "test-key"}
			if strings.HasPrefix(name, "stall") {
				o.Idle = 200 * time.Millisecond
			}
			a.quirk(t, a.open(t, o), name, rule, kinds[name], f.Stops[name])
		})
	}
	if broken := check(); broken != "" {
		t.Errorf("strict rules were broken:\n%s", broken)
	}
}

func (a Adapter) quirk(t *testing.T, p provider.Provider, name string, rule map[string]any, kind provider.Kind, stop message.StopReason) {
	req := provider.Request{
		System:   "Be brief.",
		Messages: []message.Message{{Role: message.User, Parts: []message.Part{message.Text("quirk:" + name + ";")}}},
		Tools:    []message.ToolSpec{{Name: "read_file", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
	}
	reply, err := stream(t, p, req)
	if kind != "" {
		if got := failed(t, err); got.Kind != kind {
			t.Errorf("kind %s, want %s: %v", got.Kind, kind, got)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := rule["reply"].(map[string]any); want != nil {
		checkQuirk(t, reply, want, stop)
	}
	if len(callsOf(reply)) == 0 {
		return
	}
	reply, err = stream(t, p, a.answered(req, reply))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(textOf(reply), "Got ") || reply.Stop != message.StopEnd {
		t.Errorf("second turn: %v", reply)
	}
}

// answered appends a reply and the results of its calls to a request. Ids are
// made legal, as sessions do it, unless they are.
func (a Adapter) answered(req provider.Request, reply provider.Reply) provider.Request {
	said := message.Message{Role: message.Assistant, Parts: reply.Parts, Model: a.ID}
	req.Messages = append(req.Messages, said)
	seen := map[string]bool{"": true}
	for _, m := range req.Messages[:len(req.Messages)-1] {
		for _, c := range m.Calls() {
			seen[c.ID] = true
		}
	}
	for i, p := range said.Parts {
		if p.Type != message.TypeCall {
			continue
		}
		if seen[p.Call.ID] {
			p.Call.ID = fmt.Sprintf("call_%d_%d", len(req.Messages), i)
		}
		seen[p.Call.ID] = true
		req.Messages = append(req.Messages, message.Message{Role: message.Tool, Parts: []message.Part{
			message.Result(message.ToolResult{ID: p.Call.ID, Name: p.Call.Name, Text: "result"}),
		}})
	}
	return req
}

func checkQuirk(t *testing.T, reply provider.Reply, want map[string]any, stop message.StopReason) {
	if text, ok := want["text"].(string); ok && !strings.Contains(text, "{{") && textOf(reply) != text {
		t.Errorf("text %q, want %q", textOf(reply), text)
	}
	if r, ok := want["reasoning"].(string); ok && reasoningOf(reply) != r {
		t.Errorf("reasoning %q, want %q", reasoningOf(reply), r)
	}
	calls, _ := want["tool_calls"].([]any)
	if got := callsOf(reply); len(got) != len(calls) {
		t.Fatalf("%d calls, want %d: %v", len(got), len(calls), got)
	}
	for i, c := range callsOf(reply) {
		want := calls[i].(map[string]any)
		if c.Name != message.Clean(want["name"].(string)) {
			t.Errorf("name %q, want %q", c.Name, want["name"])
		}
		switch args := want["args"].(type) {
		case string:
			if args != "" && c.Arguments != args {
				t.Errorf("arguments %q, want %q", c.Arguments, args)
			}
		case map[string]any:
			if path, ok := args["path"]; ok && strings.ReplaceAll(c.Arguments, `": "`, `":"`) != fmt.Sprintf(`{"path":%q}`, path) {
				t.Errorf("arguments %q, want %v", c.Arguments, args)
			}
		}
	}
	said, refused := want["refusal"]
	if refused && textOf(reply) != said {
		t.Errorf("a refusal became %v", reply)
	}
	reason, ok := want["finish_reason"].(string)
	switch {
	case stop != "":
	case refused:
		stop = message.StopRefusal
	case reason == string(message.StopFilter) && reply.Stop == message.StopRefusal:
		return // some protocols have one word for both
	case !ok || strings.ToLower(reason) != reason:
		return // a word that this protocol may not have
	default:
		stop = message.StopReason(reason)
	}
	if reply.Stop != stop {
		t.Errorf("stop %q, want %q", reply.Stop, stop)
	}
}
