package agent_test

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// doubts are calls that were in doubt at a cut. The n-th call of the m-th
// reply with calls is "m.n": sequence numbers are moved by a cut.
type doubts map[string]bool

func doubted(state *session.State, before doubts) doubts {
	d := maps.Clone(before)
	if d == nil {
		d = doubts{}
	}
	for name, c := range callsOf(state) {
		if c.InDoubt() {
			d[name] = true
		}
	}
	return d
}

func callsOf(state *session.State) map[string]*session.Call {
	all, m := map[string]*session.Call{}, 0
	for _, e := range state.Main().Entries {
		if e.Reply == nil || len(e.Reply.Calls) == 0 {
			continue
		}
		for n, c := range e.Reply.Calls {
			all[fmt.Sprintf("%d.%d", m, n)] = c
		}
		m++
	}
	return all
}

// plain is what the model is sent, without times and with ids by their order.
// What it is told of calls in doubt is left out.
func plain(state *session.State, doubt doubts) (lines []string) {
	ids, named, m := map[string]string{}, map[string]string{}, 0
	for _, msg := range state.Main().Messages() {
		line := string(msg.Role) + " " + msg.Model
		for n, c := range msg.Calls() {
			ids[c.ID], named[c.ID] = fmt.Sprint("#", len(ids)), fmt.Sprintf("%d.%d", m, n)
		}
		if len(msg.Calls()) > 0 {
			m++
		}
		for _, p := range msg.Parts {
			switch p.Type {
			case message.TypeCall:
				line += fmt.Sprintf(" %s: %s(%s)", ids[p.Call.ID], p.Call.Name, p.Call.Arguments)
			case message.TypeResult:
				line += fmt.Sprintf(" %s: %s", ids[p.Result.ID], p.Result.Name)
				if !doubt[named[p.Result.ID]] {
					line += fmt.Sprintf(" %q %v", p.Result.Text, p.Result.IsError)
				}
			default:
				line += fmt.Sprintf(" %s %q", p.Type, p.Text)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// fits checks that a session which was cut ended as the whole one did.
func (s *stage) fits(whole *stage, state *session.State, doubt doubts) {
	s.Helper()
	status, reason := state.Status()
	wantStatus, wantReason := whole.final.Status()
	check(s, "the status", status, wantStatus)
	check(s, "the reason", reason, wantReason)
	check(s, "the answer", state.Main().Answer(), whole.final.Main().Answer())
	check(s, "the turn", state.Main().Turn.N, whole.final.Main().Turn.N)
	check(s, "its steps", state.Main().Turn.Steps, whole.final.Main().Turn.Steps)
	if got, want := plain(state, doubt), plain(whole.final, doubt); !reflect.DeepEqual(got, want) {
		s.Errorf("the messages are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	unknown := false
	for _, c := range callsOf(state) {
		unknown = unknown || c.Result.Outcome == session.OutcomeUnknown
	}
	if !unknown && !maps.Equal(s.w.files, whole.w.files) {
		s.Errorf("the files are %v, want %v", s.w.files, whole.w.files)
	}
	s.sound(state, doubt)
}

// sound checks what must hold of every log, and of the world beside it.
func (s *stage) sound(state *session.State, doubt doubts) {
	s.Helper()
	open, attempts, keys, ended := false, map[session.CallID]int{}, map[session.CallID]string{}, map[session.CallID]bool{}
	intended := map[string]bool{}
	err := s.store.Events(s.Context(), "s", false, func(e session.Event) {
		switch d := e.Data.(type) {
		case *session.TurnStart:
			check(s, fmt.Sprintf("a turn open before event %d begins one", e.Seq), open, false)
			open = true
		case *session.TurnEnd:
			check(s, fmt.Sprintf("a turn open before event %d ends it", e.Seq), open, true)
			open = false
		case *session.ToolCall:
			attempts[d.Call]++
			check(s, "the attempt", d.Attempt, attempts[d.Call])
			if old := keys[d.Call]; old != "" {
				check(s, "the key of a further attempt", d.Key, old)
			}
			check(s, "a call having ended before it began", ended[d.Call], false)
			keys[d.Call], intended[d.Key] = d.Key, true
		case *session.ToolResult:
			check(s, "a call having two results", ended[d.Call], false)
			ended[d.Call] = true
		}
	})
	if err != nil {
		s.Fatal(err)
	}
	v, err := s.store.Read("s")
	if err != nil {
		s.Fatal(err)
	}
	if !reflect.DeepEqual(v.State, state) {
		s.Errorf("the log leads to\n%+v\nthe run had\n%+v", v.State, state)
	}
	for key := range s.w.count {
		check(s, "an effect being intended", intended[key], true)
	}
	for name, c := range callsOf(state) {
		s.once(name, c, doubt[name])
	}
}

// once checks how often a call that ended had its effect. Of the real file
// tools nobody counts.
func (s *stage) once(name string, c *session.Call, doubt bool) {
	s.Helper()
	n, o := s.w.count[c.Key], c.Result.Outcome
	counted := !strings.HasSuffix(c.Wire.Name, "_file")
	repeatable := c.Wire.Name == "look" || c.Wire.Name == "ping"
	switch {
	case c.Key == "" && n > 0, c.Key != "" && o == session.OutcomeOK && n == 0 && counted, o == session.OutcomeUnknown && !doubt:
		s.Errorf("call %s (%s) ended as %s and happened %d times", name, c.Wire.Name, o, n)
	case n > 1 && !repeatable:
		s.Errorf("call %s (%s) happened %d times", name, c.Wire.Name, n)
	}
}
