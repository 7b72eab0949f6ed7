package message

import (
	"bytes"
	"encoding/json"
)

// Masked returns a vendor's data with a note that a secret was masked in what they
// belong to. What they have signed is no longer what was said: an adapter sends
// nothing of it back, as if another model had said it. Of what holds a secret
// itself nothing is left but the note.
func Masked(opaque json.RawMessage, holds bool) json.RawMessage {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(opaque), []byte("{"))
	switch {
	case IsMasked(opaque):
		return opaque
	case !ok || holds || bytes.HasPrefix(bytes.TrimSpace(rest), []byte("}")):
		return json.RawMessage(`{"masked":true}`)
	}
	return append(json.RawMessage(`{"masked":true,`), rest...)
}

// IsMasked reports whether a vendor's data have that note.
func IsMasked(opaque json.RawMessage) bool {
	return bytes.HasPrefix(opaque, []byte(`{"masked":true`))
}
