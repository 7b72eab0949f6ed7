package responses

import (
	"encoding/json"

	"kagent/pkg/provider/sse"
)

// repeated reports whether an item that is told whole has been told so before:
// some servers send the event twice.
func (b *output) repeated(o outputItem, index sse.Integer, raw json.RawMessage) bool {
	twin := &item{kind: string(o.Type), index: index}
	twin.learn(&b.Strict, o, raw, true)
	return b.repeats(twin)
}

// repeats reports whether an item before it in the same place has the same id and
// says the same.
func (b *output) repeats(it *item) bool {
	for _, other := range b.items {
		if other == it {
			return false
		}
		same := other.id != "" && other.id == it.id || other.callID != "" && other.callID == it.callID
		if other.done && same && other.kind == it.kind && other.at(it.index) && other.says(it) {
			return true
		}
	}
	return false
}

func (it *item) says(other *item) bool {
	switch it.kind {
	case kindCall:
		return it.callID == other.callID && it.name == other.name && it.arguments() == other.arguments()
	case kindReasoning:
		return it.text.String() == other.text.String() && string(it.raw) == string(other.raw)
	}
	return it.text.String() == other.text.String()
}
