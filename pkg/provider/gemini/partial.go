package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"kagent/pkg/provider/sse"
)

// Arguments may come in pieces, each with the path where it belongs. We don't
// ask for this (streamFunctionCallArguments), but settings of a proxy may.

// partialArg is a piece. Pieces of one string follow each other.
type partialArg struct {
	Path   sse.Loose       `json:"jsonPath"`
	String json.RawMessage `json:"stringValue"`
	Number json.RawMessage `json:"numberValue"`
	Bool   json.RawMessage `json:"boolValue"`
}

// node is a value in the making: an object, a list, a string or a raw value.
type node struct {
	keys   []string // of an object, in order
	fields map[string]*node
	list   []*node
	text   *sse.Joiner
	raw    json.RawMessage
}

// maxDepth bounds the steps of a path.
const maxDepth = 100

// set puts a piece where it belongs; ok is false for a path that can't be read.
func (n *node) set(a partialArg) (ok bool) {
	path, ok := strings.CutPrefix(string(a.Path), "$")
	for depth := 0; ok && path != ""; depth++ {
		n, path, ok = n.step(path)
		ok = ok && depth < maxDepth
	}
	switch {
	case !ok:
	case sse.IsString(a.String):
		if n.text == nil {
			n.text = new(sse.Joiner)
		}
		n.text.Add(a.String)
	case !sse.IsNull(a.Number):
		n.raw = a.Number
	case !sse.IsNull(a.Bool):
		n.raw = a.Bool
	default:
		n.raw = json.RawMessage("null")
	}
	return ok
}

// step takes the first of the path's steps: .name, ['name'] or [number].
func (n *node) step(path string) (next *node, rest string, ok bool) {
	if name, ok := strings.CutPrefix(path, "."); ok {
		end := strings.IndexAny(name, ".[")
		if end < 0 {
			end = len(name)
		}
		return n.field(name[:end]), name[end:], end > 0
	}
	inner, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
	if !ok || path[0] != '[' {
		return n, "", false
	}
	if name := strings.Trim(inner, `'"`); name != inner {
		return n.field(name), rest, true
	}
	i, err := strconv.Atoi(inner)
	if err != nil || i < 0 || i > len(n.list) { // an index is not a size to allocate
		return n, "", false
	}
	if i == len(n.list) {
		n.list = append(n.list, &node{})
	}
	return n.list[i], rest, true
}

func (n *node) field(name string) *node {
	if n.fields == nil {
		n.fields = map[string]*node{}
	}
	if n.fields[name] == nil {
		n.fields[name] = &node{}
		n.keys = append(n.keys, name)
	}
	return n.fields[name]
}

// json returns the value; the outermost one is an object, perhaps empty.
func (n *node) json(outermost bool) string {
	var parts []string
	switch {
	case n.fields != nil || outermost:
		for _, k := range n.keys {
			parts = append(parts, quoted(k)+":"+n.fields[k].json(false))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case n.list != nil:
		for _, e := range n.list {
			parts = append(parts, e.json(false))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case n.text != nil:
		n.text.End()
		return quoted(n.text.String())
	case n.raw != nil:
		return string(n.raw)
	}
	return "null"
}

func quoted(s string) string {
	raw, _ := sse.Encode(s) // a string: can't fail
	return string(raw)
}
