package openai

import (
	"bytes"
	"encoding/json"

	"kagent/pkg/provider/sse"
)

// repeated reports whether a fragment is a call told once more, whole: the last
// chunk of some servers sums up what they have streamed.
func (cs *calls) repeated(d callDelta) bool {
	if d.ID == "" || blankArguments(d.Function.Arguments) {
		return false
	}
	for _, c := range cs.list {
		named := d.Function.Name == "" || string(d.Function.Name) == c.name
		if c.id == string(d.ID) && c.index == d.Index && named && c.complete() && sameJSON(c.arguments(), spelt(d.Function.Arguments)) {
			return true
		}
	}
	return false
}

// formerly reports whether a call came in the protocol's former way and is told
// in today's too.
func (cs *calls) formerly(c *call) bool {
	if !c.former {
		return false
	}
	for _, other := range cs.list {
		if !other.former && other.name == c.name && sameJSON(other.arguments(), c.arguments()) {
			return true
		}
	}
	return false
}

// spelt returns arguments that came as text or as a value.
func spelt(raw json.RawMessage) string {
	if !sse.IsString(raw) {
		return string(raw)
	}
	var j sse.Joiner
	j.Add(raw)
	j.End()
	return j.String()
}

// sameJSON reports whether two texts are the same but for white space.
func sameJSON(a, b string) bool {
	var x, y bytes.Buffer
	return a == b || json.Compact(&x, []byte(a)) == nil && json.Compact(&y, []byte(b)) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
