package gemini

import (
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

type wirePart struct {
	Text      *string     `json:"text,omitempty"`
	Thought   bool        `json:"thought,omitempty"`
	Call      *wireCall   `json:"functionCall,omitempty"`
	Result    *wireResult `json:"functionResponse,omitempty"`
	Signature string      `json:"thoughtSignature,omitempty"`
}

type wireCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type wireResult struct {
	ID       string   `json:"id,omitempty"`
	Name     string   `json:"name"`
	Response response `json:"response"`
}

// response is an object with one of the two keys that the service knows.
type response struct {
	Output *string `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
}

// speech collects contents. Roles alternate: what one side says in a row is
// one content, and so all results of a message are.
type speech struct {
	contents []content
	calls    map[string]wireCall // sent so far, by the id in the session
}

// noBeginning stands before a conversation that begins with the model's words.
const noBeginning = "(The beginning of the conversation is left out.)"

func (s *speech) add(role string, part any) error {
	raw, err := sse.Encode(part)
	if err != nil {
		return err
	}
	if len(s.contents) == 0 && role == "model" { // the service wants the user to begin
		if err := s.add("user", wirePart{Text: clean(noBeginning)}); err != nil {
			return err
		}
	}
	if n := len(s.contents); n == 0 || s.contents[n-1].Role != role {
		s.contents = append(s.contents, content{Role: role})
	}
	last := &s.contents[len(s.contents)-1]
	last.Parts = append(last.Parts, raw)
	return nil
}

// contents returns messages as the service wants them.
func (c *client) contents(list []message.Message) ([]content, error) {
	s := &speech{calls: map[string]wireCall{}}
	for _, m := range list {
		said := m.Role == message.Assistant && hasSaid(m)
		for i, p := range m.Parts {
			var err error
			switch {
			case said:
				err = c.said(s, m, i)
			case m.Role == message.User && p.Type == message.TypeText && notBlank(p.Text):
				err = s.add("user", wirePart{Text: clean(p.Text)})
			case m.Role == message.Tool && p.Type == message.TypeResult && p.Result != nil:
				err = s.add("user", wirePart{Result: s.result(*p.Result)})
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return s.contents, nil
}

// hasSaid reports whether there is more than thoughts in a message.
func hasSaid(m message.Message) bool { return notBlank(m.Text()) || len(m.Calls()) > 0 }

// said adds a part of the model's. What the vendor made comes back as it was,
// in its place; what another vendor made is left out: its thoughts, and the ids
// of its calls, which mean nothing here (results are matched in order then).
func (c *client) said(s *speech, m message.Message, i int) error {
	p := m.Parts[i]
	own := m.Model == c.http.ID()
	var o opaque
	if own {
		o = opened(p.Opaque)
	}
	switch {
	case o.Part != nil:
		return s.add("model", o.Part)
	case p.Type == message.TypeCall && p.Call != nil:
		return s.add("model", wirePart{Call: s.call(*p.Call, o.Anonymous || !own), Signature: c.signature(o, m, i)})
	case p.Type == message.TypeText && (notBlank(p.Text) || o.Signature != ""):
		return s.add("model", wirePart{Text: clean(p.Text), Signature: o.Signature})
	case p.Type == message.TypeReasoning && own && p.Text != "" && !o.Masked:
		return s.add("model", wirePart{Text: clean(p.Text), Thought: true, Signature: o.Signature})
	}
	return nil
}

// signature returns the one to send with a call. Gemini 3 wants one on the
// first call of each message; to those of its own that it never signed belongs none.
func (c *client) signature(o opaque, m message.Message, i int) string {
	first := message.Message{Parts: m.Parts[:i]}
	if o.Signature == "" && (m.Model != c.http.ID() || o.Masked) && !c.before3() && len(first.Calls()) == 0 {
		return noValidation
	}
	return o.Signature
}

func (s *speech) call(call message.ToolCall, anonymous bool) *wireCall {
	w := wireCall{ID: message.Clean(call.ID), Name: legalName(call.Name), Args: json.RawMessage(sse.LegalArguments(call.Arguments))}
	if anonymous {
		w.ID = ""
	}
	s.calls[call.ID] = w
	return &w
}

// result answers the call with the same id, by the name that it was sent with.
func (s *speech) result(r message.ToolResult) *wireResult {
	w := wireResult{ID: message.Clean(r.ID), Name: legalName(r.Name)}
	if call, ok := s.calls[r.ID]; ok && r.ID != "" {
		w.ID, w.Name = call.ID, call.Name
	}
	text := clean(r.Text)
	if r.IsError {
		w.Response.Error = text
	} else {
		w.Response.Output = text
	}
	return &w
}

func notBlank(s string) bool { return strings.TrimSpace(s) != "" }

func clean(s string) *string {
	s = message.Clean(s)
	return &s
}
