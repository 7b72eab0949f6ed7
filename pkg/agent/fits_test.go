package agent_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// doubts are calls that were in doubt at a cut. The n-th call of the m-th
// reply with calls of a scope is "scope m.n": sequence numbers are moved by a
// cut.
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

// scopesOf are the session's own scope and all children.
func scopesOf(state *session.State) []*session.Scope {
	return append([]*session.Scope{state.Main()}, state.Children()...)
}

func callsOf(state *session.State) map[string]*session.Call {
	all := map[string]*session.Call{}
	for _, sc := range scopesOf(state) {
		m := 0
		for _, e := range sc.Entries {
			if e.Reply == nil || len(e.Reply.Calls) == 0 {
				continue
			}
			for n, c := range e.Reply.Calls {
				all[fmt.Sprintf("%s %d.%d", sc.Name, m, n)] = c
			}
			m++
		}
	}
	return all
}

// plain is what the model of a scope is sent, without times and with ids by
// their order. What it is told of calls in doubt is left out.
func plain(sc *session.Scope, doubt doubts) (lines []string) {
	ids, named, m := map[string]string{}, map[string]string{}, 0
	for _, msg := range sc.Messages() {
		line := string(msg.Role) + " " + msg.Model
		for n, c := range msg.Calls() {
			ids[c.ID], named[c.ID] = fmt.Sprint("#", len(ids)), fmt.Sprintf("%s %d.%d", sc.Name, m, n)
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
				line += fmt.Sprintf(" %s %q", p.Type, settled(p.Text, doubt))
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// brought is the part of a question that tells how calls ended.
var brought = regexp.MustCompile(`(?s)# (What was done|Why another plan is needed)\n.*?(\n# |$)`)

func settled(text string, doubt doubts) string {
	if len(doubt) == 0 {
		return text
	}
	return brought.ReplaceAllString(text, "$2")
}

// normal is all that a session came to, scope by scope: the order of events
// between children that ran together is a matter of chance.
func normal(state *session.State, doubt doubts) map[string][]string {
	out := map[string][]string{}
	for _, sc := range scopesOf(state) {
		t := sc.Turn
		lines := []string{fmt.Sprintf("turn %d, open %v, %s %s, %d steps, %d in all", t.N, t.Open, t.Status, t.Reason, t.Steps, sc.Steps)}
		if c := sc.Child; c != nil {
			lines = append(lines, fmt.Sprintf("child: %q %q %v %s %s %s", settled(c.Task, doubt), c.System, c.Tools, c.Decide, c.Model, c.Profile))
		}
		w := sc.Work
		lines = append(lines, fmt.Sprintf("work: %q %q", settled(w.Task, doubt), w.Added))
		if w.Route != nil {
			lines = append(lines, fmt.Sprintf("route: %+v", *w.Route))
		}
		if w.Plan != nil {
			lines = append(lines, fmt.Sprintf("plan: %+v, approved %v", *w.Plan, w.Approved))
		}
		for _, v := range w.Verdicts {
			lines = append(lines, fmt.Sprintf("verdict: %v %q %s", v.OK, v.Feedback, v.From))
		}
		for _, n := range state.Nodes(sc.Name) {
			lines = append(lines, fmt.Sprintf("node: %+v %s %s, attempt %d, %q", n.GraphNode, n.Status, n.Scope, n.Attempts, n.Answer))
		}
		out["scope "+sc.Name] = append(lines, plain(sc, doubt)...)
	}
	return out
}

// fits checks that a session which was cut ended as the whole one did.
func (s *stage) fits(whole *stage, state *session.State, doubt doubts) {
	s.Helper()
	status, reason := state.Status()
	wantStatus, wantReason := whole.final.Status()
	check(s, "the status", status, wantStatus)
	check(s, "the reason", reason, wantReason)
	check(s, "the answer", state.Main().Answer(), whole.final.Main().Answer())
	s.same(normal(state, doubt), normal(whole.final, doubt))
	unknown := false
	for _, c := range callsOf(state) {
		unknown = unknown || c.Result != nil && c.Result.Outcome == session.OutcomeUnknown
	}
	if !unknown && !maps.Equal(s.w.files, whole.w.files) {
		s.Errorf("the files are %v, want %v", s.w.files, whole.w.files)
	}
	s.sound(state, doubt)
}

func (s *stage) same(got, want map[string][]string) {
	s.Helper()
	for name, lines := range want {
		if !reflect.DeepEqual(got[name], lines) {
			s.Errorf("%s is\n%s\nwant\n%s", name, strings.Join(got[name], "\n"), strings.Join(lines, "\n"))
		}
	}
	for name, lines := range got {
		if want[name] == nil {
			s.Errorf("there is a %s that the whole session has not:\n%s", name, strings.Join(lines, "\n"))
		}
	}
}

// sound checks what must hold of every log, and of the world beside it.
func (s *stage) sound(state *session.State, doubt doubts) {
	s.Helper()
	open, attempts, keys, ended := map[string]bool{}, map[session.CallID]int{}, map[session.CallID]string{}, map[session.CallID]bool{}
	intended, created := map[string]bool{}, map[string]bool{}
	err := s.store.Events(s.Context(), "s", false, func(e session.Event) {
		switch d := e.Data.(type) {
		case *session.TurnStart:
			check(s, fmt.Sprintf("a turn open before event %d begins one", e.Seq), open[e.Scope], false)
			open[e.Scope] = true
		case *session.TurnEnd:
			check(s, fmt.Sprintf("a turn open before event %d ends it", e.Seq), open[e.Scope], true)
			open[e.Scope] = false
		case *session.ChildCreated:
			check(s, fmt.Sprintf("a child of event %d having begun before", e.Seq), created[e.Scope], false)
			created[e.Scope] = true
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

// stepsEnd checks that in a session that was not cut each step has its end.
func (s *stage) stepsEnd() {
	s.Helper()
	ended := map[string]int{}
	err := s.store.Events(s.Context(), "s", false, func(e session.Event) {
		switch d := e.Data.(type) {
		case *session.StepStart:
			check(s, fmt.Sprintf("steps of %q that ended before event %d", e.Scope, e.Seq), ended[e.Scope], d.Step-1)
		case *session.StepEnd:
			ended[e.Scope] = d.Step
		}
	})
	if err != nil {
		s.Fatal(err)
	}
}

// once checks how often a call that ended had its effect. Of the real file
// tools nobody counts. The call that a decision is made by has no result.
func (s *stage) once(name string, c *session.Call, doubt bool) {
	s.Helper()
	if c.Result == nil {
		check(s, "runs of a call without a result", s.w.count[c.Key]+c.Attempt, 0)
		return
	}
	n, o := s.w.count[c.Key], c.Result.Outcome
	counted := !strings.HasSuffix(c.Wire.Name, "_file") && c.Wire.Name != "mark_step"
	repeatable := c.Wire.Name == "look" || c.Wire.Name == "ping" || c.Wire.Name == "miss"
	switch {
	case c.Key == "" && n > 0, c.Key != "" && o == session.OutcomeOK && n == 0 && counted, o == session.OutcomeUnknown && !doubt:
		s.Errorf("call %s (%s) ended as %s and happened %d times", name, c.Wire.Name, o, n)
	case n > 1 && !repeatable:
		s.Errorf("call %s (%s) happened %d times", name, c.Wire.Name, n)
	}
}
