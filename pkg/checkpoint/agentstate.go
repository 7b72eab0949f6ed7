package checkpoint

import (
	"encoding/json"

	"kagent/pkg/session"
)

// child is a child that has not ended, as the checkpoint shows it.
type child struct {
	Scope    string         `json:"scope"`
	Task     string         `json:"task"`
	Status   session.Status `json:"status"`
	Reason   session.Reason `json:"reason,omitempty"`
	Tools    []string       `json:"tools"`
	Decide   string         `json:"decide,omitempty"`
	Profile  string         `json:"profile,omitempty"`
	Pending  []pendingCall  `json:"pending"`
	System   string         `json:"systemPrompt"`
	Note     string         `json:"contextNote,omitempty"` // as in the head
	Messages []chatMessage  `json:"messages"`
}

// agentState shows what the agent has concluded, and the children that are at
// work.
func agentState(s *session.State, alive bool) (json.RawMessage, error) {
	fields, err := encodeJSON(s.AgentState(session.Look{Dead: !alive, Brief: true}))
	if err != nil {
		return nil, err
	}
	if string(fields) == "null" {
		fields = []byte("{}")
	}
	var open []child
	for _, sc := range s.Open() {
		open = append(open, childOf(s, sc, alive))
	}
	if len(open) == 0 {
		return fields, nil
	}
	children, err := encodeJSON(open)
	if err != nil {
		return nil, err
	}
	out := fields[:len(fields)-1]
	if len(out) > 1 {
		out = append(out, ',')
	}
	return append(append(append(out, `"children":`...), children...), '}'), nil
}

func childOf(s *session.State, sc *session.Scope, alive bool) child {
	c := child{
		Scope: sc.Name, Task: sc.Child.Task, Tools: append([]string{}, sc.Child.Tools...),
		Decide: sc.Child.Decide, Profile: sc.Child.Profile, System: sc.Child.System, Note: s.Aside(sc),
		Pending: pendingOf(sc), Messages: []chatMessage{},
	}
	status, reason := s.Status() // nobody works on it but the session
	c.Status, c.Reason = effective(status, reason, alive)
	if t := sc.Turn; t.N > 0 && !t.Open {
		c.Status, c.Reason = t.Status, t.Reason
	}
	for _, m := range sc.Messages() {
		c.Messages = append(c.Messages, chat(m))
	}
	return c
}

// pendingOf are the calls of conversations that wait for their results.
func pendingOf(scopes ...*session.Scope) []pendingCall {
	out := []pendingCall{}
	for _, sc := range scopes {
		for _, c := range sc.Pending() {
			p := pendingCall{c.ID, c.Wire.Name, "waiting"}
			if c.InDoubt() && c.Verdict == nil {
				p.State = "unknown"
			}
			out = append(out, p)
		}
	}
	return out
}
