package responses

import (
	"encoding/json"
	"fmt"
	"slices"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// output puts together what a model says, from the events of a stream.
type output struct {
	sse.Strict
	emit   func(provider.Event)
	items  []*item // in the order in which they began
	events int
	usage  message.Usage // once the terminal event has told it
}

// added and done take an item that begins, and one that is told whole.
func (b *output) added(e event) error { return b.told(e, false) }
func (b *output) done(e event) error  { return b.told(e, true) }

func (b *output) told(e event, whole bool) error {
	var o outputItem
	if sse.IsNull(e.Item) {
		return nil
	}
	if err := json.Unmarshal(e.Item, &o); err != nil {
		return sse.At("item", err)
	}
	it := b.known(o, e.OutputIndex)
	if it == nil && whole && b.repeated(o, e.OutputIndex, e.Item) {
		return b.Err
	}
	if it == nil {
		it = b.begin(string(o.Type), e.OutputIndex)
	}
	it.learn(&b.Strict, o, e.Item, whole)
	b.tell()
	return b.Err
}

// known returns the item that o tells more of, nil if it is a new one. Some
// servers give another id with each event, some the same index to every item.
func (b *output) known(o outputItem, index sse.Integer) *item {
	for _, same := range []func(*item) bool{
		func(it *item) bool { return o.ID != "" && it.id == string(o.ID) },
		func(it *item) bool { return o.CallID != "" && it.callID == string(o.CallID) },
		func(*item) bool { return true },
	} {
		for _, it := range b.items {
			if !it.done && it.kind == string(o.Type) && it.at(index) && same(it) && !it.contradicts(o) {
				return it
			}
		}
	}
	return nil
}

// at reports whether the item may have that index.
func (it *item) at(index sse.Integer) bool {
	return !index.Given || !it.index.Given || it.index == index
}

// contradicts reports whether both have names and they differ.
func (it *item) contradicts(o outputItem) bool {
	return o.CallID != "" && it.callID != "" && it.callID != string(o.CallID)
}

func (b *output) begin(kind string, index sse.Integer) *item {
	it := &item{kind: kind, index: index}
	b.items = append(b.items, it)
	return it
}

// of returns the item of that kind which an event continues, nil if that has
// been told whole. Some servers don't say that it has begun.
func (b *output) of(e event, kind string) *item {
	var found *item
	for _, it := range slices.Backward(b.items) {
		named := e.ItemID != "" && it.id == string(e.ItemID)
		other := e.ItemID != "" && it.id != "" && !named && !e.OutputIndex.Given
		if it.kind != kind || !it.at(e.OutputIndex) || other {
			continue
		}
		if found == nil || named {
			found = it
		}
	}
	switch {
	case found == nil:
	case !found.done:
		return found
	case e.OutputIndex.Given && found.index.Given, e.ItemID != "" && found.id == string(e.ItemID):
		return nil
	}
	it := b.begin(kind, e.OutputIndex)
	it.id = string(e.ItemID)
	return it
}

// text takes a piece of a message.
func (b *output) text(e event, refusal bool) {
	if !b.Text("delta", e.Delta) {
		return
	}
	it := b.of(e, kindMessage)
	if it == nil {
		return
	}
	it.refusal = it.refusal || refusal
	it.text.Add(e.Delta)
	b.tell()
}

// thought takes a piece of reasoning: of its text, or of its summary.
func (b *output) thought(e event) {
	if !sse.IsString(e.Delta) {
		return
	}
	it := b.of(e, kindReasoning)
	if it == nil {
		return
	}
	if it.field == "" {
		it.field = string(e.Type)
	}
	if it.field == string(e.Type) {
		it.text.Add(e.Delta)
		b.tell()
	}
}

// argument takes a piece of a call's arguments, or all of them.
func (b *output) argument(e event) {
	it := b.of(e, kindCall)
	if it == nil {
		return
	}
	b.Grow(len(e.Delta))
	if b.Text("delta", e.Delta) {
		it.args.Add(e.Delta)
	}
	if len(e.Arguments) > 0 {
		it.said = append(json.RawMessage(nil), e.Arguments...)
	}
}

// final takes the items of the terminal event. They are those that have been
// told already, unless the server left that out; encrypted thoughts come in
// yet another form.
func (b *output) final(items []json.RawMessage) error {
	for i, raw := range items {
		var o outputItem
		if sse.IsNull(raw) {
			continue
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return sse.At("output", err)
		}
		it := b.match(o, i)
		if it == nil {
			it = b.begin(string(o.Type), sse.Integer{})
		}
		it.learn(&b.Strict, o, raw, true)
		it.terminal = true
	}
	return b.Err
}

// match returns the item that number i of the terminal event is.
func (b *output) match(o outputItem, i int) *item {
	for _, same := range []func(*item) bool{
		func(it *item) bool { return o.ID != "" && it.id == string(o.ID) },
		func(it *item) bool { return o.CallID != "" && it.callID == string(o.CallID) },
		func(it *item) bool { return it.index == sse.Integer{N: int64(i), Given: true} },
		func(it *item) bool { return true },
	} {
		for _, it := range b.items {
			if !it.terminal && it.kind == string(o.Type) && same(it) && !it.contradicts(o) {
				return it
			}
		}
	}
	return nil
}

// tell emits what may be heard now: an item's text is held back until those
// before it are complete, so that what was heard is what the reply says.
func (b *output) tell() {
	for i, it := range b.items {
		s := it.pending()
		if s != "" {
			b.Grow(len(s))
			b.emit(it.event(s))
			for _, before := range b.items[:i] {
				before.passed = before.passed || (before.kind == kindReasoning) == (it.kind == kindReasoning)
			}
		}
		if !it.done {
			return
		}
	}
}

// parts concludes: nothing more will come.
func (b *output) parts() (parts []message.Part, refusal bool) {
	for _, it := range b.items {
		it.text.End()
		it.done = true
		if it.kind == kindCall && b.repeats(it) {
			continue
		}
		if p, ok := it.part(); ok {
			parts = append(parts, p)
			refusal = refusal || it.refusal
		}
	}
	b.tell()
	return parts, refusal
}

// received says how much came, for errors.
func (b *output) received() string {
	text, calls := 0, 0
	for _, it := range b.items {
		switch it.kind {
		case kindMessage:
			text += len(it.text.String())
		case kindCall:
			calls++
		}
	}
	return fmt.Sprintf("%d events with %d bytes of text and %d tool calls", b.events, text, calls)
}
