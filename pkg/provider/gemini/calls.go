package gemini

import (
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// open is a call whose arguments come in pieces.
type open struct {
	call   functionCall
	sig    string
	args   node
	broken bool // a piece that could not be placed
}

// call takes a function call, or the next piece of one.
func (b *builder) call(f functionCall, sig string) {
	b.Grow(len(f.Args))
	if b.open != nil && f.Name == "" {
		b.piece(f, sig)
		return
	}
	b.endCall(false)
	switch {
	case f.WillContinue || f.PartialArgs != nil:
		b.open = &open{call: f, sig: sig}
		b.piece(functionCall{PartialArgs: f.PartialArgs, WillContinue: f.WillContinue}, "")
	case f.Name == "" && sse.IsNull(f.Args): // an empty piece
	default:
		if sig != "" && len(f.Args) > 0 && f.Args[0] != '{' {
			sig = noValidation // it does not vouch for the {} that will be sent back
		}
		b.append(callPart(f, sse.Arguments(f.Args), sig, b.names))
	}
}

func (b *builder) piece(f functionCall, sig string) {
	for _, a := range f.PartialArgs {
		b.Grow(len(a.String))
		b.open.broken = !b.open.args.set(a) || b.open.broken
	}
	if sig != "" {
		b.open.sig = sig
	}
	if !f.WillContinue {
		b.endCall(true)
	}
}

// endCall closes the call in pieces, if there is one. If it isn't whole, its
// arguments are no object: nobody may run it.
func (b *builder) endCall(whole bool) {
	o := b.open
	if o == nil {
		return
	}
	b.open = nil
	args := o.args.json(true)
	if !whole || o.broken {
		args = strings.TrimSuffix(args, "}")
	}
	b.append(callPart(o.call, args, o.sig, b.names))
}

func callPart(f functionCall, args, sig string, names map[string]string) message.Part {
	o := opaque{Signature: sig, Anonymous: f.ID == ""}
	name := string(f.Name)
	if sig != "" && (legalName(name) != name || !isObject(args)) {
		o.Signature = noValidation // nor for this
	}
	if original, ok := names[name]; ok {
		name = original
	}
	p := message.Call(message.ToolCall{ID: string(f.ID), Name: name, Arguments: args})
	p.Opaque = o.sealed()
	return p
}

func isObject(args string) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal([]byte(args), &m) == nil && m != nil
}
