package anthropic

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

// F034: a conversation is not lost with a thought that the service refuses.
func TestWhatIsRefusedIsLeftOut(t *testing.T) {
	const (
		invalid = "messages.1.content.0: Invalid `signature` in `thinking` block"
		changed = "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
		moved   = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
		unknown = "thinking.adaptive.block_binding: Extra inputs are not permitted"
		other   = "max_tokens: must be greater than thinking.budget_tokens"
	)
	for name, c := range map[string]struct {
		refusals []string
		requests int
		ok       bool
	}{
		"a signature":     {[]string{invalid}, 2, true},
		"a change":        {[]string{changed}, 2, true},
		"another prefix":  {[]string{moved}, 2, true},
		"a field":         {[]string{unknown}, 2, true},
		"both":            {[]string{unknown, moved}, 3, true},
		"again and again": {[]string{invalid, invalid, invalid}, 2, false},
		"something else":  {[]string{other}, 1, false},
	} {
		var bodies []string
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			bodies = append(bodies, string(body))
			status, answer := http.StatusOK, ok
			if n := len(bodies); n <= len(c.refusals) {
				status, answer = http.StatusBadRequest, `{"type":"error","error":{"type":"invalid_request_error","message":`+quote(c.refusals[n-1])+`}}`
			}
			return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
		})}
		req := hello()
		said := say(message.Assistant, providertest.ThoughtPart("hm", `{"type":"thinking","signature":"s"}`), providertest.ThoughtPart("", `{"type":"redacted_thinking","data":"d"}`), message.Text("well"))
		said.Model = "anthropic/claude-opus-5-5"
		req.Messages = append(req.Messages, said, say(message.User, message.Text("and?")))
		p := open(t, Options{Model: "claude-opus-5-5", HTTPClient: client})
		reply, err := p.Stream(t.Context(), req, func(provider.Event) {})
		if (err == nil) != c.ok || len(bodies) != c.requests {
			t.Fatalf("%s: %d requests, %v", name, len(bodies), err)
		}
		last := bodies[len(bodies)-1]
		for i, refusal := range c.refusals[:len(bodies)-1] {
			if without := "block_binding"; refusal == unknown && strings.Contains(last, without) {
				t.Errorf("%s: request %d still has %s", name, i+2, without)
			}
			if refusal != unknown && (strings.Contains(last, `"signature"`) || strings.Contains(last, "redacted")) {
				t.Errorf("%s: request %d still has thoughts", name, i+2)
			}
		}
		if err != nil {
			continue
		}
		// It is remembered: the thoughts by the conversation, the field by the process.
		next := say(message.Assistant, append([]message.Part{providertest.ThoughtPart("new", `{"type":"thinking","signature":"t"}`)}, reply.Parts...)...)
		next.Model = said.Model
		req.Messages = append(req.Messages, next, say(message.User, message.Text("and?")))
		if _, err := p.Stream(t.Context(), req, func(provider.Event) {}); err != nil || len(bodies) != c.requests+1 {
			t.Errorf("%s: after it %d requests, %v", name, len(bodies), err)
		}
		last = bodies[len(bodies)-1]
		thoughts := slices.ContainsFunc(c.refusals, func(r string) bool { return r != unknown })
		if strings.Contains(last, `"signature"`) == thoughts || strings.Contains(last, "silent") {
			t.Errorf("%s: after it: %s", name, last)
		}
	}
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }
