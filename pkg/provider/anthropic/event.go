package anthropic

import (
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// event is one event of a stream, or a whole message. Fields that don't matter
// are left out; those that servers get wrong have lenient types.
type event struct {
	Type  sse.Word        `json:"type"`
	Index sse.Integer     `json:"index"`
	Error json.RawMessage `json:"error"`

	Message      json.RawMessage `json:"message"`       // message_start
	ContentBlock json.RawMessage `json:"content_block"` // content_block_start
	Delta        json.RawMessage `json:"delta"`         // content_block_delta, message_delta
	Usage        sse.Lax[*usage] `json:"usage"`         // message_delta
}

// reply is what message_start begins, and a whole answer.
type reply struct {
	Model   sse.Loose         `json:"model"`
	Content []json.RawMessage `json:"content"`
	Usage   sse.Lax[*usage]   `json:"usage"`
	ending
}

// ending says why the model stopped.
type ending struct {
	StopReason  sse.Word `json:"stop_reason"`
	StopDetails sse.Lax[*struct {
		Explanation sse.Loose `json:"explanation"`
	}] `json:"stop_details"`
}

// content is a block as it begins, or all of it. What matters of it follows
// from its type: unknown ones may have fields of these names for other things.
type content struct {
	Type      sse.Word                   `json:"type"`
	Text      json.RawMessage            `json:"text"`
	Thinking  json.RawMessage            `json:"thinking"`
	Signature sse.Loose                  `json:"signature"`
	Citations sse.Lax[[]json.RawMessage] `json:"citations"`
	ID        sse.Loose                  `json:"id"`
	Name      json.RawMessage            `json:"name"`
	Input     json.RawMessage            `json:"input"`
	Caller    json.RawMessage            `json:"caller"`
}

// delta is a piece of a block, or of the message.
type delta struct {
	Type        sse.Word        `json:"type"`
	Text        json.RawMessage `json:"text"`
	Thinking    json.RawMessage `json:"thinking"`
	Signature   sse.Loose       `json:"signature"`
	PartialJSON json.RawMessage `json:"partial_json"`
	Citation    json.RawMessage `json:"citation"`
	Content     json.RawMessage `json:"content"` // compaction_delta
	ending
}

// usage counts tokens; what comes later counts, field by field.
type usage struct {
	Input      *sse.Count `json:"input_tokens"` // without both of the cache's
	Output     *sse.Count `json:"output_tokens"`
	CacheRead  *sse.Count `json:"cache_read_input_tokens"`
	CacheWrite *sse.Count `json:"cache_creation_input_tokens"`
	Details    sse.Lax[struct {
		Thinking *sse.Count `json:"thinking_tokens"`
	}] `json:"output_tokens_details"`
}

// add takes what next says. Counts are sums so far: a 0 after more is a field
// that a gateway doesn't know. If next can't be read, no sum is known any more.
func (u *usage) add(next sse.Lax[*usage]) {
	lost := sse.Unreadable
	switch n := next.Is; {
	case next.Bad:
		u.Input, u.Output = &lost, &lost
	case n != nil:
		later(&u.Input, n.Input)
		later(&u.Output, n.Output)
		later(&u.CacheRead, n.CacheRead)
		later(&u.CacheWrite, n.CacheWrite)
		later(&u.Details.Is.Thinking, n.Details.Is.Thinking)
	}
}

func later(to **sse.Count, from *sse.Count) {
	if from != nil && (*from != 0 || *to == nil) {
		*to = from
	}
}

// message returns u in our terms: input includes what the cache had or got.
func (u *usage) message() message.Usage {
	n := func(c *sse.Count) sse.Count {
		if c == nil {
			return 0
		}
		return *c
	}
	in, out, read, write := n(u.Input), n(u.Output), n(u.CacheRead), n(u.CacheWrite)
	m := message.Usage{Input: (in + read + write).N(), Output: out.N(), CacheRead: read.N(), CacheWrite: write.N()}
	m.Reasoning = min(n(u.Details.Is.Thinking).N(), m.Output)
	m.Total = m.Input + m.Output
	return sse.Told(m, in, out, read, write)
}

// stopOf maps a stop reason; ok is false for those that are no regular end. A
// turn that is paused is one that was cut: the service wants to be asked again.
// Gateways in front of other models pass their words on.
func stopOf(reason string) (stop message.StopReason, ok bool) {
	switch strings.ToLower(reason) {
	case "", "end_turn", "stop_sequence", "stop":
		return message.StopEnd, true
	case "tool_use", "tool_calls", "function_call":
		return message.StopCalls, true
	case "max_tokens", "pause_turn", "length":
		return message.StopLength, true
	case "refusal":
		return message.StopRefusal, true
	case "content_filter", "safety", "sensitive":
		return message.StopFilter, true
	}
	return "", false
}
