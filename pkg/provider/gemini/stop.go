package gemini

import (
	"strings"

	"kagent/pkg/message"
)

// stopOf maps a finish reason; ok is false for those that are no regular end,
// which is every one that isn't known to be. Lower case words are other
// vendors', which gateways leave as they are.
func stopOf(finish string) (stop message.StopReason, ok bool) {
	switch strings.ToLower(finish) {
	case "stop", "end_turn", "stop_sequence":
		return message.StopEnd, true
	case "tool_calls", "tool_use", "function_call":
		return message.StopCalls, true
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
