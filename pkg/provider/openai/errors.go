package openai

import (
	"strings"

	"kagent/pkg/provider"
)

// truncated is the error for a stream without a terminal event.
func (c *client) truncated(b *builder) error {
	return c.http.Fail(provider.Network, 0, "the stream ended before its end, after %s", b.received())
}

// abnormal is the error for a finish reason that is no regular end.
func (c *client) abnormal(finish string) error {
	kind := provider.Server
	switch strings.ToLower(finish) {
	case "insufficient_system_resource": // DeepSeek
		kind = provider.Overloaded
	case "network_error": // Z.ai
		kind = provider.Network
	}
	return c.http.Fail(kind, 0, "the answer ended with finish_reason %q", finish)
}
