package responses

import (
	"bytes"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// stop says why the model stopped speaking. A status that is not known to be
// an end is an error: queued, for example, is the beginning of an answer.
func (c *client) stop(r response) (message.StopReason, error) {
	switch r.Status {
	case "completed", "complete":
		return message.StopEnd, nil
	case "incomplete":
		switch r.Incomplete.Is.Reason {
		case "max_output_tokens", "max_tokens", "length":
			return message.StopLength, nil
		case "content_filter":
			return message.StopFilter, nil
		}
		return "", c.http.Ended("status incomplete, reason", string(r.Incomplete.Is.Reason), "")
	case "failed":
		if sse.IsError(r.Error) {
			return "", c.http.InStream(bytes.TrimSpace(r.Error))
		}
	}
	return "", c.http.Ended("status", string(r.Status), "")
}

// truncated is the error for a stream without a terminal event.
func (c *client) truncated(b *output) error {
	return c.http.Fail(provider.Network, 0, "the stream ended before its end, after %s", b.received())
}
