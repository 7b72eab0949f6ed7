package sse

import (
	"encoding/json"

	"kagent/pkg/message"
)

// MarkSilent writes down in a reply that the service refused the thoughts, or the
// signatures, that it once made itself, so that no later request sends any: the
// session remembers it, not the process.
func MarkSilent(parts []message.Part) {
	for i, p := range parts {
		if p.Type != message.TypeText && p.Type != message.TypeCall {
			continue
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(p.Opaque, &fields) != nil || fields == nil {
			fields = map[string]json.RawMessage{}
		}
		fields["silent"] = json.RawMessage("true")
		if raw, err := Encode(fields); err == nil { // it came from a decoder
			parts[i].Opaque = raw
		}
		return
	}
}

// Silent reports whether what a model of this id had thought was refused earlier
// in the conversation.
func Silent(list []message.Message, id string) bool {
	for _, m := range list {
		for _, p := range m.Parts {
			var o struct{ Silent bool }
			if p.Type != message.TypeReasoning && m.Model == id && json.Unmarshal(p.Opaque, &o) == nil && o.Silent {
				return true
			}
		}
	}
	return false
}
