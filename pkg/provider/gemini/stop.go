package gemini

import (
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// stopOf maps a finish reason; ok is false for those that are no regular end,
// which is every one that isn't known to be. Lower case words are other
// vendors', which gateways leave as they are.
func stopOf(finish string) (stop message.StopReason, ok bool) {
	switch strings.ToLower(finish) {
	case "stop", "end_turn", "stop_sequence", "tool_calls", "tool_use", "function_call":
		return message.StopEnd, true
	case "max_tokens", "length":
		return message.StopLength, true
	case "safety", "recitation", "blocklist", "prohibited_content", "spii", "model_armor", "content_filter",
		"image_safety", "image_prohibited_content", "image_recitation":
		return message.StopFilter, true
	case "refusal":
		return message.StopRefusal, true
	}
	return "", false
}

// abnormal is the error for a finish reason that is no regular end. Most are
// the model's accidents (MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL, OTHER):
// another try may go well.
func (c *client) abnormal(finish, because string) error {
	kind := provider.Server
	if finish == "MISSING_THOUGHT_SIGNATURE" {
		kind = provider.InvalidRequest
	}
	if because != "" {
		because = ": " + because
	}
	return c.http.Fail(kind, 0, "the answer ended with finishReason %q%s", finish, because)
}
