package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// call is a tool call in the making.
type call struct {
	id, name string
	args     sse.Joiner
	object   json.RawMessage // arguments that came as a value, not as a string
	extra    json.RawMessage
	chunk    int // the chunk that touched it last
	index    sse.Integer
	former   bool // it came as function_call
}

// calls puts tool calls together from fragments. Vendors number them as the
// protocol says, from any number on, all alike, or not at all.
type calls struct {
	list    []*call
	byIndex map[int64]*call
}

// add takes a fragment out of the chunk with that number. Arguments that are
// text here and a value there would be half of what the model wrote.
func (cs *calls) add(strict *sse.Strict, d callDelta, chunk int) {
	if cs.repeated(d) {
		return
	}
	c := cs.find(d, chunk)
	if c == nil {
		c = &call{index: d.Index, former: d.former}
		cs.list = append(cs.list, c)
	}
	if d.Index.Given {
		if cs.byIndex == nil {
			cs.byIndex = map[int64]*call{}
		}
		cs.byIndex[d.Index.N] = c
	}
	c.chunk = chunk
	if c.id == "" {
		c.id = string(d.ID)
	}
	if c.name == "" {
		c.name = string(d.Function.Name)
	}
	strict.Grow(len(d.Function.Arguments))
	switch args := d.Function.Arguments; {
	case sse.IsNull(args):
	case sse.IsString(args):
		c.args.Add(args)
	default:
		c.object = bytes.Clone(args)
	}
	if c.object != nil && strings.TrimSpace(c.args.String()) != "" {
		strict.Refuse("arguments", c.object, "text")
	}
	if !sse.IsNull(d.ExtraContent) {
		c.extra = bytes.Clone(d.ExtraContent)
	}
}

// find returns the call that the fragment continues, nil if it begins one.
// An id that differs begins a call; so does a name after complete arguments.
func (cs *calls) find(d callDelta, chunk int) *call {
	var c *call
	if d.Index.Given {
		c = cs.byIndex[d.Index.N]
	} else if n := len(cs.list); n > 0 {
		c = cs.list[n-1]
	}
	switch {
	case c == nil:
		return nil
	case d.ID != "" && c.id != "" && string(d.ID) != c.id:
		if !d.Index.Given {
			return cs.withID(string(d.ID))
		}
		return nil
	case d.Function.Name != "" && c.name != "":
		// Either a server that repeats the name in each fragment, or another call.
		if c.complete() && !blankArguments(d.Function.Arguments) {
			return nil
		}
		if !d.Index.Given && d.ID == "" && (c.chunk == chunk || string(d.Function.Name) != c.name) {
			return nil
		}
	case !d.Index.Given && d.ID != "" && c.id == "" && c.complete():
		return nil
	}
	return c
}

func (cs *calls) withID(id string) *call {
	for _, c := range cs.list {
		if c.id == id {
			return c
		}
	}
	return nil
}

// complete reports whether the arguments are a whole JSON object.
func (c *call) complete() bool {
	s := strings.TrimSpace(c.args.String())
	return c.object != nil || strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") && json.Valid([]byte(s))
}

func blankArguments(raw json.RawMessage) bool {
	return sse.IsNull(raw) || strings.Trim(string(raw), "\" \t\r\n") == ""
}

// arguments returns them as the model wrote them. None at all, or null, is
// what models write for a tool without parameters: {}.
func (c *call) arguments() string {
	c.args.End()
	args := c.args.String()
	if c.object != nil && strings.TrimSpace(args) == "" {
		args = message.Clean(string(c.object))
	}
	if s := strings.TrimSpace(args); s == "" || s == "null" {
		return "{}"
	}
	return args
}

// parts returns the calls in the order in which they began.
func (cs *calls) parts() []message.Part {
	var parts []message.Part
	for _, c := range cs.list {
		args := c.arguments()
		if c.id == "" && c.name == "" && args == "{}" || cs.formerly(c) {
			continue // an empty fragment, or told in another way
		}
		p := message.Call(message.ToolCall{ID: c.id, Name: c.name, Arguments: args})
		p.Opaque = opaque{vendor: vendor{ExtraContent: c.extra}}.sealed()
		parts = append(parts, p)
	}
	return parts
}
