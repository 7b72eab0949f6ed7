package openai

import "kagent/pkg/provider"

// truncated is the error for a stream without a terminal event.
func (c *client) truncated(b *builder) error {
	return c.http.Fail(provider.Network, 0, "the stream ended before its end, after %s", b.received())
}
