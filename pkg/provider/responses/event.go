package responses

import (
	"encoding/json"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// event is one event of a stream. Fields that don't matter are left out; those
// that servers get wrong have lenient types.
type event struct {
	Type        sse.Loose       `json:"type"`
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
	Status     sse.Loose         `json:"status"`
	Model      sse.Loose         `json:"model"`
	Output     []json.RawMessage `json:"output"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason sse.Loose `json:"reason"`
	} `json:"incomplete_details"`
	Usage *usage `json:"usage"`
}

// outputItem is one thing that a model says: a message, a call, a thought.
type outputItem struct {
	Type      sse.Loose       `json:"type"`
	ID        sse.Loose       `json:"id"`
	CallID    sse.Loose       `json:"call_id"`
	Name      sse.Loose       `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // string, null or, against the protocol, an object
	Phase     sse.Loose       `json:"phase"`
	Content   parts           `json:"content"`
	Summary   parts           `json:"summary"`
	Encrypted sse.Loose       `json:"encrypted_content"`
}

// part is a piece of an item's content.
type part struct {
	Type    sse.Loose       `json:"type"`
	Text    json.RawMessage `json:"text"`
	Refusal json.RawMessage `json:"refusal"`
}

// parts is a list of them; anything else is none.
type parts []part

func (ps *parts) UnmarshalJSON(raw []byte) error {
	*ps = nil
	if raw[0] != '[' {
		return nil
	}
	var list []part
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	*ps = list
	return nil
}

// text joins the parts.
func (ps parts) text() (text string, refusal bool) {
	var j sse.Joiner
	for _, p := range ps {
		for _, literal := range []json.RawMessage{p.Text, p.Refusal} {
			if sse.IsString(literal) && len(literal) > 2 {
				j.Add(literal)
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
	InputDetails struct {
		Cached     sse.Count `json:"cached_tokens"`
		CacheWrite sse.Count `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning sse.Count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *usage) message() message.Usage {
	if u == nil {
		return message.Usage{}
	}
	m := message.Usage{
		Input: int64(u.Input), Output: int64(u.Output), Total: int64(u.Total),
		CacheRead: int64(u.InputDetails.Cached), CacheWrite: int64(u.InputDetails.CacheWrite),
		Reasoning: int64(u.OutputDetails.Reasoning),
	}
	if m.Reasoning > m.Output { // counted beside it, by some
		m.Output += m.Reasoning
	}
	if m.Total == 0 {
		m.Total = m.Input + m.Output
	}
	return m
}
