package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// talk is what a user says in a scenario of the fake server, turn by turn, and
// what the answers say.
type talk struct {
	scenario string
	asks     []string
	wants    []string
}

func talks() []talk {
	return []talk{
		{"hello", []string{"hi"}, []string{"Hello from m."}},
		{"react-loop", []string{"look around", "again"}, []string{"Finished after 3 results; the last one was: result", "Finished after "}},
		{"parallel-tools", []string{"do it", "again"}, []string{"Got 3 results, last: result", "Got "}},
		{"plan-solve", []string{"plan it", "do part A", "do part B", "summarise"}, []string{`{"steps":`, "Part done.", "Part done.", "All steps are done: A and B."}},
		{"orchestrator", []string{"a text, please", "research the topic", "write the text", "review the text", "well?"}, []string{`{"nodes":`, "RESEARCH:", "DRAFT:", "REVIEW: fine.", "written and reviewed"}},
		{"model-panel", []string{"why is the sky blue?"}, []string{"ANSWER-A"}},
		{"flaky-network", []string{"hi"}, []string{"Recovered."}},
		{"rate-limited", []string{"hi"}, []string{"Thank you for waiting."}},
		{"context-overflow", []string{"hi"}, []string{"It fits."}},
		{"slow-stream", []string{"hi"}, []string{strings.Repeat("tick tock ", 30)}},
		{"huge-answer", []string{"many", "in one line"}, []string{strings.Repeat("0123456789abcdef", 1<<19), strings.Repeat("0123456789abcdef", 1<<19)}},
	}
}

// Scenarios plays every built-in scenario of the strict fake server: whole
// conversations, with tools, with retries that don't wait, with all options.
func Scenarios(t *testing.T, a Adapter, f FakeServer) {
	bin := buildFake(t)
	for _, talk := range talks() {
		t.Run(talk.scenario, func(t *testing.T) {
			raw, _ := scenario(t, talk.scenario, f.RulesOn)
			raw = bytes.ReplaceAll(raw, []byte("panel-a*"), []byte("m")) // our model has one name
			raw = bytes.ReplaceAll(raw, []byte(`"delay_ms":100`), []byte(`"delay_ms":1`))
			address, check := startFake(t, bin, raw)
			var slept time.Duration
			p := provider.Retry(a.open(t, Options{BaseURL: address + f.Path, Key: "test-key"}), provider.RetryOptions{
				Retries: 6,
				Sleep:   func(_ context.Context, d time.Duration) error { slept += d; return nil },
			})
			a.play(t, p, talk)
			if talk.scenario == "rate-limited" && slept < 2*time.Second {
				t.Errorf("waited %v, the server asked for 1s twice", slept)
			}
			if talk.scenario == "context-overflow" {
				_, err := p.Stream(t.Context(), a.plain(strings.Repeat("long ", 5000)), func(provider.Event) {})
				if e := failed(t, err); e.Kind != provider.ContextLength {
					t.Errorf("a prompt that is too long: %v", e)
				}
			}
			if broken := check(); broken != "" {
				t.Errorf("strict rules were broken:\n%s", broken)
			}
		})
	}
}

// plain is a request with all options and a tool that is not called.
func (a Adapter) plain(text string) provider.Request {
	return provider.Request{
		System:   "Be brief.",
		Messages: []message.Message{{Role: message.User, Parts: []message.Part{message.Text(text)}}},
		Tools: []message.ToolSpec{
			{Name: "shell", Description: "runs", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"env":{"type":"array"}},"required":["command"],"additionalProperties":false}`)},
			{Name: "pwd", Description: "where"},
		},
		Output:  json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`),
		Options: provider.Options{MaxOutput: 1000, Temperature: new(0.5), Effort: "low"},
	}
}

// play says each of the user's words, and answers calls until there are none.
func (a Adapter) play(t *testing.T, p provider.Provider, talk talk) {
	req := a.plain(talk.asks[0])
	for i, want := range talk.wants {
		if i > 0 {
			req.Messages = append(req.Messages, message.Message{Role: message.User, Parts: []message.Part{message.Text(talk.asks[i])}})
		}
		for step := 0; ; step++ {
			reply, err := p.Stream(t.Context(), req, func(provider.Event) {})
			if err != nil || step > 5 {
				t.Fatalf("%q, step %d: %v", talk.asks[i], step, err)
			}
			req = a.answered(req, reply)
			if len(callsOf(reply)) > 0 {
				continue
			}
			if got := textOf(reply); !strings.Contains(got, want) {
				t.Errorf("%q is answered by %.200q, want %.200q", talk.asks[i], got, want)
			}
			break
		}
	}
}
