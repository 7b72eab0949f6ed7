package session

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kagent/pkg/message"
)

// Messages returns what the model is sent: a pure projection of the entries.
// Every call is followed by its results, in call order, ids are legal and
// unique, blank texts are left out. Calls of the last reply that still wait
// for their result have none here: a model is asked only after them.
func (sc *Scope) Messages() []message.Message {
	var p Projection
	return append(p.Settled(sc), p.Rest(sc)...)
}

// Projection turns the entries of one scope into messages, each once: an entry
// whose results are complete does not change again before a watermark moves.
type Projection struct {
	used  map[string]bool
	done  int
	moves int
}

// Moved reports whether a watermark has moved since the last call. Then all
// that was returned is void, and the projection begins anew.
func (p *Projection) Moved(sc *Scope) bool {
	if p.moves == sc.moves {
		return false
	}
	*p = Projection{moves: sc.moves}
	return true
}

// Settled returns the messages of the entries that have become final since
// the last call.
func (p *Projection) Settled(sc *Scope) []message.Message {
	if p.used == nil {
		p.used = map[string]bool{}
	}
	var out []message.Message
	for ; p.done < len(sc.Entries); p.done++ {
		last := p.done == len(sc.Entries)-1
		if last && len(sc.Pending()) > 0 {
			break
		}
		msgs, ids := p.project(sc.Entries[p.done], false)
		for _, id := range ids {
			p.used[id] = true
		}
		out = append(out, msgs...)
	}
	return out
}

// Rest returns the messages after the settled ones.
func (p *Projection) Rest(sc *Scope) []message.Message {
	if p.done >= len(sc.Entries) {
		return nil
	}
	msgs, _ := p.project(sc.Entries[p.done], true)
	return msgs
}

func (p *Projection) project(e Entry, open bool) (msgs []message.Message, ids []string) {
	if e.User != nil {
		if blank(e.User.Text) {
			return nil, nil
		}
		return []message.Message{{Role: message.User, Parts: []message.Part{message.Text(e.User.Text)}, Time: e.Time}}, nil
	}
	said := message.Message{Role: message.Assistant, Time: e.Time, Model: e.Reply.Model}
	var results []message.Message
	i := 0
	for _, part := range e.Reply.Parts {
		switch {
		case part.Type == message.TypeText && blank(part.Text),
			part.Type == message.TypeCall && part.Call == nil,
			part.Type == message.TypeResult: // a result has its own message
			continue
		case part.Type == message.TypeCall:
			c := e.Reply.Calls[i]
			i++
			id := p.wireID(c, ids)
			ids = append(ids, id)
			part.Call = &message.ToolCall{ID: id, Name: legalName(c.Wire.Name), Arguments: object(c.Wire.Arguments)}
			if m, ok := result(c, id, open); ok {
				results = append(results, m)
			}
		}
		said.Parts = append(said.Parts, part)
	}
	if e.Reply.Blank() {
		return nil, nil
	}
	return append([]message.Message{said}, results...), ids
}

const noResult = "[no result was recorded for this call]"

// result is what the model is told of a call. A call left without a result in
// the middle of a history would make services refuse it for ever.
func result(c *Call, id string, open bool) (message.Message, bool) {
	r := message.ToolResult{ID: id, Name: legalName(c.Wire.Name), IsError: true, Text: noResult}
	m := message.Message{Role: message.Tool, Time: c.Ended}
	switch {
	case c.Result != nil:
		r.Text, r.IsError = c.Result.Text, c.Result.Outcome != OutcomeOK
	case open:
		return m, false
	}
	m.Parts = []message.Part{message.Result(r)}
	return m, true
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// wireID keeps a vendor's id where it is legal everywhere and not used before.
func (p *Projection) wireID(c *Call, here []string) string {
	id := c.Wire.ID
	for n := 0; p.used[id] || slices.Contains(here, id) || !legalID.MatchString(id); n++ {
		id = fmt.Sprintf("call_%d_%d", c.ID.Reply, c.ID.Index+n)
	}
	return id
}

var (
	// OpenAI takes 1 to 40 characters, Anthropic these ones.
	legalID    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
	illegalRun = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)
)

// legalName makes a name that a model made up fit to be sent back.
func legalName(name string) string {
	name = illegalRun.ReplaceAllString(name, "_")
	if len(name) > 64 {
		name = name[:64]
	}
	if name == "" || name == "_" {
		return "unnamed"
	}
	return name
}

// object returns arguments as services demand them in a history: an object.
// The log keeps what the model wrote, and its result says what was wrong.
func object(args string) string {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &m) != nil || m == nil {
		return "{}"
	}
	return message.CleanEscapes(args)
}
