package sse

import (
	"strings"

	"kagent/pkg/provider"
)

// Ended is the error for an answer whose end, as its field says, is no regular
// one: whatever isn't known to be one. Most are accidents, the model's or the
// service's, and another try may go well.
func (c *Client) Ended(field, end, because string) *provider.Error {
	said := ""
	if because != "" {
		said = ": " + because
	}
	kind := provider.Server
	switch strings.ToLower(end) {
	case "model_length", "model_context_window_exceeded", "context_window_exceeded", "context_length", "context_length_exceeded", "max_prompt_tokens":
		// Mistral's, Anthropic's and gateways': not a limit of the answer, which a
		// higher one would lift.
		return c.Fail(provider.ContextLength, 0, "the model's context was full before its answer ended (%s %q)%s", field, end, said)
	case "insufficient_system_resource": // DeepSeek
		kind = provider.Overloaded
	case "network_error": // Z.ai
		kind = provider.Network
	case "missing_thought_signature": // Gemini
		kind = provider.InvalidRequest
	}
	return c.Fail(kind, 0, "the answer ended with %s %q%s", field, end, said)
}

// NoCall is the error for an answer that ends in a call of a tool and has none:
// what the model meant to do is lost, and what it said on the way is no answer.
func (c *Client) NoCall(field, end string) *provider.Error {
	return c.Fail(provider.Server, 0, "the answer ended with %s %q but holds no call of a tool: it was lost on the way", field, end)
}
