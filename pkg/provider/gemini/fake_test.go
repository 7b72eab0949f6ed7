package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

func TestEveryQuirkOfTheFakeServer(t *testing.T) { providertest.Quirks(t, adapter(), fakeServer()) }
func TestEveryScenarioOfTheFakeServer(t *testing.T) {
	providertest.Scenarios(t, adapter(), fakeServer())
}

func fakeServer() providertest.FakeServer {
	return providertest.FakeServer{
		RulesOn: []string{"unknown_field", "key_in_url", "roles_alternate"},
		Errors: map[string]provider.Kind{
			"finish_null": provider.Network, "finish_empty": provider.Network, // no terminal event
			"cut_call": "", // a call is one event: the cut comes too late
		},
		Stops: map[string]message.StopReason{"refusal": message.StopFilter}, // PROHIBITED_CONTENT
	}
}

// Of Gemini 3 the fake server signs every answer and wants all signatures back (F036).
func TestEveryQuirkOfTheFakeServerWithSignatures(t *testing.T) {
	a := adapter()
	a.ID = "gemini/gemini-3-pro-preview"
	a.New = func(o providertest.Options) (provider.Provider, error) {
		p, err := New(Options{Model: "gemini-3-pro-preview", BaseURL: o.BaseURL, APIKey: o.Key, IdleTimeout: o.Idle})
		return renamed{p}, err
	}
	providertest.Quirks(t, a, fakeServer())
}

// renamed names the model m in errors, as the common tests expect it.
type renamed struct{ provider.Provider }

func (r renamed) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	reply, err := r.Provider.Stream(ctx, req, emit)
	var e *provider.Error
	if errors.As(err, &e) {
		e.Model = "m"
	}
	return reply, err
}

// Whole conversations with the strict server, each message written down and
// read again, with old models and new ones; in the middle another model takes over.
func TestConversationsWithTheFakeServer(t *testing.T) {
	for _, name := range []string{"hello", "react-loop", "parallel-tools", "plan-solve", "orchestrator", "slow-stream"} {
		raw, err := os.ReadFile(filepath.Join(providertest.Shared(t, "fakellm/scenarios"), name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		raw = []byte(strings.Replace(strings.ReplaceAll(string(raw), `"delay_ms": 100`, `"delay_ms": 1`), "{", `{"rules_on": ["unknown_field", "key_in_url", "roles_alternate"],`, 1))
		address, check := providertest.Fake(t, raw)
		for _, models := range [][]string{{"gemini-2.5-flash"}, {"gemini-3-pro-preview"}, {"gemini-2.5-flash", "gemini-3-pro-preview"}, {"gemini-3-pro-preview", "gemini-3.1-pro-preview"}} {
			converse(t, address, models)
		}
		if broken := check(); broken != "" {
			t.Errorf("%s: strict rules were broken:\n%s", name, broken)
		}
	}
}

// converse has three turns; the models take turns too, reply by reply.
func converse(t *testing.T, address string, models []string) {
	req := provider.Request{System: "Be brief.", Tools: []message.ToolSpec{
		{Name: "shell", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"additionalProperties":false}`)},
	}}
	for turn, text := range []string{"look around", "and again", "summarise"} {
		req.Messages = append(req.Messages, say(message.User, message.Text(text)))
		for step := 0; ; step++ {
			model := models[(turn+step)%len(models)]
			p := openModel(t, Options{Model: model, BaseURL: address, APIKey: "test-key"})
			reply, err := p.Stream(t.Context(), req, func(provider.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			said := writtenDown(t, message.Message{Role: message.Assistant, Parts: reply.Parts, Model: "gemini/" + model})
			req.Messages = append(req.Messages, said)
			for _, c := range said.Calls() {
				req.Messages = append(req.Messages, providertest.ResultMessage(c.ID, c.Name, "result", false))
			}
			if reply.Stop != message.StopCalls {
				break
			}
		}
	}
}

func writtenDown(t *testing.T, m message.Message) (back message.Message) {
	raw, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(raw, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}
