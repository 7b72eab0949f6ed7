package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

const maxRevisions = 2

// Fusion first looks how hard the task is. A simple one is done as React does
// it; a complex one is planned, done, and its answer judged before it counts.
func Fusion(s *session.State, scope string) Action {
	sc := s.Scope(scope)
	switch {
	case sc.Work.Route == nil:
		return takeRoute(s, sc)
	case sc.Work.Route.Complexity == session.Simple:
		return React(s, scope)
	}
	a := PlanSolve(s, scope)
	if f, ok := a.(Finish); ok && f.Status == session.Completed {
		return reflect(s, sc, f)
	}
	return a
}

func takeRoute(s *session.State, sc *session.Scope) Action {
	route, from, ok, a := routing().ask(s, sc.Name, briefing(sc))
	if a != nil {
		return a
	}
	if !ok {
		route = session.RouteSet{Complexity: session.Complex, Reason: "the question how hard the task is brought no usable answer"}
	}
	route.From = from
	return Record{[]session.Data{&route}}
}

func routing() decision[session.RouteSet] {
	complexity, reason := []string{"complexity", "route", "type"}, []string{"reason", "explanation"}
	return decision[session.RouteSet]{
		kind:    "route",
		words:   conclusion(complexity[:2]), // no reason is asked for: what is taken for complex costs more
		against: func(r session.RouteSet) bool { return r.Complexity == session.Complex },
		tool:    spec("set_route", "Say how hard the task is.", `{"type":"object","properties":{"complexity":{"type":"string","enum":["simple","complex"]},"reason":{"type":"string"}},"required":["complexity","reason"],"additionalProperties":false}`),
		parse: func(raw json.RawMessage) (session.RouteSet, error) {
			r := recordOf(raw)
			route := session.RouteSet{Complexity: strings.ToLower(r.text(complexity...)), Reason: message.Clean(r.text(reason...))}
			if route.Complexity != session.Simple && route.Complexity != session.Complex {
				return route, errors.New(`want {"complexity": "simple" or "complex", "reason": "…"}`)
			}
			return route, nil
		},
	}
}

// reflect lets an answer count only when it was judged to do what was asked.
func reflect(s *session.State, sc *session.Scope, done Finish) Action {
	answered := sc.Entries[len(sc.Entries)-1].Seq
	var v session.VerdictGiven
	if n := len(sc.Work.Verdicts); n > 0 {
		v = sc.Work.Verdicts[n-1]
	}
	switch {
	case v.Reply != answered, none(v) && !recent(s, sc, v.From):
		return judge(s, sc, answered)
	case v.OK:
		return done
	case none(v):
		return because(session.Failed, session.ReasonIncomplete, strings.TrimSuffix("nobody can say whether the answer does what was asked: no usable verdict was given: "+without(s, v.From, "verify"), ": "))
	case revised(s, sc) > maxRevisions:
		return because(session.Failed, session.ReasonIncomplete, fmt.Sprintf("after %d revisions the answer still falls short: %s", maxRevisions, v.Feedback))
	}
	return Record{[]session.Data{&session.UserMessage{Source: session.FromAgent, Text: promptWith("revise", v.Feedback)}}}
}

// none is the verdict that stands for one that could not be had.
func none(v session.VerdictGiven) bool { return !v.OK && v.Feedback == "" }

// recent reports whether a child was asked since the work was gone on with.
func recent(s *session.State, sc *session.Scope, child string) bool {
	c := s.Scope(child)
	return c != nil && c.Turn.Since > s.Since(sc)
}

// revised counts the answers that were judged since then.
func revised(s *session.State, sc *session.Scope) (n int) {
	for _, v := range sc.Work.Verdicts {
		if v.Reply > s.Since(sc) {
			n++
		}
	}
	return n
}

func judge(s *session.State, sc *session.Scope, answered int64) Action {
	b := briefing(sc).
		section("What was done", shorten(history(sc, sc.Work.From-1), historyLimit)).
		lead("The answer to judge", sc.Answer())
	v, from, ok, a := verifying().ask(s, sc.Name, b)
	if a != nil {
		return a
	}
	if !ok {
		v = session.VerdictGiven{}
	}
	v.Reply, v.From = answered, from
	return Record{[]session.Data{&v}}
}

func verifying() decision[session.VerdictGiven] {
	passes := []string{"ok", "pass", "passed", "satisfied", "success", "complete", "approved"}
	feedback := []string{"feedback", "reason", "suggestions", "issues"}
	return decision[session.VerdictGiven]{
		kind:    "verify",
		words:   conclusion(passes, feedback),
		against: func(v session.VerdictGiven) bool { return !v.OK },
		tool:    spec("give_verdict", "Say whether the answer does what was asked.", `{"type":"object","properties":{"ok":{"type":"boolean"},"feedback":{"type":"string","description":"if not: what is wrong or missing"}},"required":["ok","feedback"],"additionalProperties":false}`),
		parse: func(raw json.RawMessage) (v session.VerdictGiven, err error) {
			r := recordOf(raw)
			if json.Unmarshal(r.field(passes...), &v.OK) != nil {
				return v, errors.New(`want {"ok": true or false, "feedback": "…"}`)
			}
			if v.Feedback = message.Clean(r.text(feedback...)); v.Feedback == "" && !v.OK {
				v.Feedback = "It does not do what was asked."
			}
			return v, nil
		},
	}
}
