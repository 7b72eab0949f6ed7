package responses

import (
	"encoding/json"
	"slices"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// event is one event of a stream. Fields that don't matter are left out; those
// that servers get wrong have lenient types.
type event struct {
	Type        sse.Word        `json:"type"`
	OutputIndex sse.Integer     `json:"output_index"`
	ItemID      sse.Loose       `json:"item_id"`
	Delta       json.RawMessage `json:"delta"`
	Arguments   json.RawMessage `json:"arguments"`
	Item        json.RawMessage `json:"item"`
	Response    json.RawMessage `json:"response"`
	Error       json.RawMessage `json:"error"`
}

// response is what the terminal event holds, or a whole answer.
type response struct {
	Object     sse.Loose         `json:"object"`
	Status     sse.Word          `json:"status"`
	Model      sse.Loose         `json:"model"`
	Output     []json.RawMessage `json:"output"`
	Error      json.RawMessage   `json:"error"`
	Incomplete sse.Lax[struct {
		Reason sse.Loose `json:"reason"`
	}] `json:"incomplete_details"`
	Usage sse.Lax[*usage] `json:"usage"`
}

// outputItem is one thing that a model says: a message, a call, a thought. What
// matters of it follows from its type: others may have fields of these names
// for other things.
type outputItem struct {
	Type      sse.Word        `json:"type"`
	ID        sse.Loose       `json:"id"`
	CallID    sse.Word        `json:"call_id"`
	Name      json.RawMessage `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // string, null or, against the protocol, an object
	Phase     sse.Loose       `json:"phase"`
	Content   json.RawMessage `json:"content"`
	Summary   sse.Lax[parts]  `json:"summary"`
	Encrypted sse.Loose       `json:"encrypted_content"`
}

// part is a piece of an item's content.
type part struct {
	Type    sse.Word        `json:"type"`
	Text    json.RawMessage `json:"text"`
	Refusal json.RawMessage `json:"refusal"`
}

type parts []part

// partsOf reads an item's content; null is none of it.
func partsOf(raw json.RawMessage) (ps parts, err error) {
	if !sse.IsNull(raw) {
		err = sse.At("content", json.Unmarshal(raw, &ps))
	}
	return ps, err
}

// text joins the parts. Those of unknown types may have a text that is none.
func (ps parts) text(strict *sse.Strict) (text string, refusal bool) {
	var j sse.Joiner
	for _, p := range ps {
		known := slices.Contains([]sse.Word{"output_text", "text", "refusal", ""}, p.Type)
		for _, literal := range []json.RawMessage{p.Text, p.Refusal} {
			if sse.IsString(literal) && len(literal) > 2 {
				j.Add(literal)
			} else if known {
				strict.Text("content.text", literal)
			}
		}
		refusal = refusal || p.Type == "refusal"
	}
	j.End()
	return j.String(), refusal
}

// usage counts tokens.
type usage struct {
	Input        sse.Count `json:"input_tokens"`
	Output       sse.Count `json:"output_tokens"`
	Total        sse.Count `json:"total_tokens"`
	InputDetails sse.Lax[struct {
		Cached     sse.Count `json:"cached_tokens"`
		CacheWrite sse.Count `json:"cache_write_tokens"`
	}] `json:"input_tokens_details"`
	OutputDetails sse.Lax[struct {
		Reasoning sse.Count `json:"reasoning_tokens"`
	}] `json:"output_tokens_details"`
}

func (u *usage) message() message.Usage {
	if u == nil {
		return message.Usage{}
	}
	in := u.InputDetails.Is
	m := message.Usage{
		Input: u.Input.N(), Output: u.Output.N(), Total: u.Total.N(),
		CacheRead: in.Cached.N(), CacheWrite: in.CacheWrite.N(),
		Reasoning: u.OutputDetails.Is.Reasoning.N(),
	}
	if m.Reasoning > m.Output { // counted beside it, by some
		m.Output += m.Reasoning
	}
	if m.Total == 0 {
		m.Total = m.Input + m.Output
	}
	return sse.Told(m, u.Input, u.Output)
}
