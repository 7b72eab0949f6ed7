package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// cast says what the model of each scope replies, in order; the last one again
// and again. "node/*" is for all scopes that begin so.
type cast map[string][]provider.Reply

func (c cast) play(_ context.Context, req provider.Request, _ func(provider.Event)) (provider.Reply, error) {
	replies, ok := c[req.Label.Scope]
	for name := req.Label.Scope; !ok && name != ""; name = name[:len(name)-1] {
		replies, ok = c[name+"*"]
	}
	if !ok {
		return provider.Reply{}, &provider.Error{Kind: provider.InvalidRequest, Message: "nobody plays " + req.Label.Scope}
	}
	return replies[min(req.Label.Ordinal, len(replies))-1], nil
}

// calls is a reply that calls tools: names and arguments in turn.
func calls(namesAndArgs ...string) provider.Reply {
	reply := provider.Reply{Stop: message.StopCalls}
	for pair := range slices.Chunk(namesAndArgs, 2) {
		reply.Parts = append(reply.Parts, message.Call(message.ToolCall{Name: pair[0], Arguments: pair[1]}))
	}
	return reply
}

func refuses(text string) provider.Reply {
	return provider.Reply{Parts: []message.Part{message.Text(text)}, Stop: message.StopRefusal}
}

// agentRig is a rig of one of the agents. plays is a cast or a model.
func agentRig(t testing.TB, name string, plays any, tools ...tool.Tool) *rig {
	if c, ok := plays.(cast); ok {
		plays = model(c.play)
	}
	r := newRig(t, plays, tools...)
	r.Strategy = agent.ByName(name)
	r.set(func(s *session.Settings) { s.Agent = name })
	return r
}

// asks are the requests of a scope.
func (r *rig) asks(scope string) (list []provider.Request) {
	for _, req := range r.asked {
		if req.Label.Scope == scope {
			list = append(list, req)
		}
	}
	return list
}

// scopes are those that asked a model, each once, in order.
func (r *rig) scopes() (list []string) {
	for _, req := range r.asked {
		if !slices.Contains(list, req.Label.Scope) {
			list = append(list, req.Label.Scope)
		}
	}
	return list
}

func (r *rig) main() *session.Scope { return r.log.state.Main() }

// said is the last message of a request.
func lastSaid(req provider.Request) string {
	m := req.Messages[len(req.Messages)-1]
	if p := m.Parts[0]; p.Result != nil {
		return p.Result.Text
	}
	return m.Text()
}

// contains checks that a text has all of these, in this order.
func contains(t testing.TB, what, text string, want ...string) {
	t.Helper()
	rest := text
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Errorf("%s: no %q (after what was found before) in\n%s", what, w, text)
			return
		}
		rest = after
	}
}

func without(t testing.TB, what, text string, unwanted ...string) {
	t.Helper()
	for _, w := range unwanted {
		if strings.Contains(text, w) {
			t.Errorf("%s: %q stands in\n%s", what, w, text)
		}
	}
}

// plan and graph are what their tools take.
func plan(steps ...string) provider.Reply {
	b, _ := json.Marshal(map[string]any{"steps": steps})
	return calls("set_plan", string(b))
}

// graph takes nodes as "id" or "id: need need".
func graph(tool string, nodes ...string) provider.Reply {
	list := []any{}
	for _, n := range nodes {
		id, needs, _ := strings.Cut(n, ":")
		list = append(list, map[string]any{"id": id, "task": "do " + id, "needs": append([]string{}, strings.Fields(needs)...)})
	}
	b, _ := json.Marshal(map[string]any{"nodes": list})
	return calls(tool, string(b))
}

func route(complexity string) provider.Reply {
	return calls("set_route", fmt.Sprintf(`{"complexity":%q,"reason":"so it is"}`, complexity))
}

func verdict(ok bool, feedback string) provider.Reply {
	return calls("give_verdict", fmt.Sprintf(`{"ok":%v,"feedback":%q}`, ok, feedback))
}

func mark(step string) []string { return []string{"mark_step", `{"step":` + step + `}`} }

// act calls a tool with a value.
func act(name, v string) []string { return []string{name, fmt.Sprintf(`{"v":%q}`, v)} }

// together is one reply with several calls.
func together(pairs ...[]string) provider.Reply { return calls(slices.Concat(pairs...)...) }
