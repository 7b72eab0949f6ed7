package gemini

import (
	"encoding/json"

	"kagent/pkg/provider/sse"
)

// opaque is what a Part's Opaque holds: what the part had on the wire beside
// its text or call. The service wants signatures back where they stood
// (https://ai.google.dev/gemini-api/docs/thought-signatures).
type opaque struct {
	Signature string `json:"thoughtSignature,omitempty"`
	// Anonymous marks a call to which the service gave no id: it gets none back.
	Anonymous bool `json:"anonymous,omitempty"`
	// Part is a whole part that has neither a call nor text to be seen: a
	// signature on an empty text or alone, or code that the service ran itself.
	Part json.RawMessage `json:"part,omitempty"`
	// Masked marks what is not sound any more (message.Masked).
	Masked bool `json:"masked,omitempty"`
}

// noValidation is a signature that the service documents for calls that it
// didn't make, or not as they are sent now. It doesn't check them then.
const noValidation = "skip_thought_signature_validator"

// sealed returns o as JSON, nil if there is nothing in it.
func (o opaque) sealed() json.RawMessage {
	raw, err := sse.Encode(o)
	if err != nil || string(raw) == "{}" {
		return nil
	}
	return raw
}

// opened is the reverse; what can't be read counts as nothing.
func opened(raw json.RawMessage) opaque {
	var o opaque
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil {
		return opaque{}
	}
	if o.Masked {
		return opaque{Masked: true, Anonymous: true}
	}
	return o
}
