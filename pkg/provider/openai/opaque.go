package openai

import (
	"bytes"
	"encoding/json"

	"kagent/pkg/message"
)

// vendor holds the fields of an assistant message that some services want
// back: DeepSeek and Moonshot reasoning_content, Groq and vLLM reasoning,
// OpenRouter reasoning_details, GitHub reasoning_text and reasoning_opaque,
// Gemini extra_content (thought signatures).
type vendor struct {
	ReasoningContent string            `json:"reasoning_content,omitempty"`
	Reasoning        string            `json:"reasoning,omitempty"`
	ReasoningText    string            `json:"reasoning_text,omitempty"`
	ReasoningOpaque  string            `json:"reasoning_opaque,omitempty"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	ExtraContent     json.RawMessage   `json:"extra_content,omitempty"`
}

// opaque is what a Part's Opaque holds: on a reasoning part the vendor's
// fields of the message and the name of the field that held the part's text,
// on a call its extra_content.
type opaque struct {
	Field string `json:"field,omitempty"`
	vendor
}

// sealed returns o as JSON, nil if there is nothing in it.
func (o opaque) sealed() json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o); err != nil {
		return nil // raw fields came from a decoder: they are valid
	}
	raw := wholeEscapes(message.Clean(string(bytes.TrimSpace(b.Bytes()))))
	if raw == "{}" {
		return nil
	}
	return json.RawMessage(raw)
}

// opened is the reverse; what can't be read counts as nothing.
func opened(raw json.RawMessage) opaque {
	var o opaque
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil {
		return opaque{}
	}
	return o
}

// replay returns the fields to send. Reasoning text goes back only beside
// calls: DeepSeek demands it there and its older models refused it elsewhere.
// Where there are details, they hold the text.
func (o opaque) replay(text string, calls bool) vendor {
	v := o.vendor
	if !calls || len(v.ReasoningDetails) > 0 {
		return v
	}
	switch o.Field {
	case "reasoning_content":
		v.ReasoningContent = text
	case "reasoning":
		v.Reasoning = text
	case "reasoning_text":
		v.ReasoningText = text
	}
	return v
}

// mergeDetails appends OpenRouter's reasoning_details of one chunk: pieces of
// text and summaries are joined with the piece before if type and index agree,
// the rest is kept as it came
// (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens).
func mergeDetails(all, more []json.RawMessage) []json.RawMessage {
	for _, raw := range more {
		var next map[string]json.RawMessage
		if json.Unmarshal(raw, &next) != nil || next == nil {
			continue
		}
		if len(all) > 0 {
			if joined := joinDetails(all[len(all)-1], next); joined != nil {
				all[len(all)-1] = joined
				continue
			}
		}
		all = append(all, raw)
	}
	return all
}

// joinDetails returns last continued by next, nil if it isn't its continuation.
func joinDetails(last json.RawMessage, next map[string]json.RawMessage) json.RawMessage {
	var have map[string]json.RawMessage
	if json.Unmarshal(last, &have) != nil ||
		!bytes.Equal(have["type"], next["type"]) || !bytes.Equal(have["index"], next["index"]) {
		return nil
	}
	switch string(next["type"]) {
	case `"reasoning.text"`, `"reasoning.summary"`:
	default:
		return nil
	}
	for key, value := range next {
		old := have[key]
		switch {
		case isNull(value):
		case (key == "text" || key == "summary") && isString(old) && isString(value):
			// Literals are joined, not strings: a surrogate pair may be cut in two.
			have[key] = append(append(json.RawMessage{}, old[:len(old)-1]...), value[1:]...)
		default:
			have[key] = value
		}
	}
	joined, err := json.Marshal(have)
	if err != nil {
		return nil
	}
	return joined
}

func isNull(raw json.RawMessage) bool   { return len(raw) == 0 || string(raw) == "null" }
func isString(raw json.RawMessage) bool { return len(raw) > 1 && raw[0] == '"' }
