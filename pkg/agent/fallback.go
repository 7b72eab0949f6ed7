package agent

import (
	"fmt"
	"strings"

	"kagent/pkg/session"
)

// Fallback says, in a line, that a conclusion stands in for one that could not
// be had: what was asked for, why it did not come, and what is done instead. It
// is "" of any other event. The log tells it by how the child has ended that was
// asked.
func Fallback(s *session.State, scope string, d session.Data) string {
	switch d := d.(type) {
	case *session.RouteSet:
		return instead("route", without(s, d.From, "route"), "the task is taken for complex")
	case *session.PlanSet:
		return instead("plan", without(s, d.From, "plan"), oneStep(d))
	case *session.GraphSet:
		return instead("task graph", without(s, d.From, "split"), "the task is one node")
	case *session.VerdictGiven:
		return instead("verdict", without(s, d.From, "verify"), "the answer is not known to do what was asked")
	case *session.CompactFailed:
		return instead("summary", unsummarised(s.Scope(scope), d.Error), "what is too much for a request is left out")
	}
	return ""
}

// Fallbacks are those that the session's work stands on.
func Fallbacks(s *session.State) (all []string) {
	w := s.Main().Work
	var there []session.Data
	if w.Route != nil {
		there = append(there, w.Route)
	}
	if w.Plan != nil {
		there = append(there, w.Plan)
	}
	if w.Graph != nil {
		there = append(there, w.Graph)
	}
	for _, d := range there {
		if text := Fallback(s, "", d); text != "" {
			all = append(all, text)
		}
	}
	return all
}

func instead(what, why, then string) string {
	if why == "" {
		return ""
	}
	return fmt.Sprintf("no %s: %s; %s", what, strings.TrimRight(flat(why), "."), then)
}

func oneStep(d *session.PlanSet) string {
	if len(d.Steps) > 1 {
		return "what is left of the task is one step"
	}
	return "the task is one step"
}

// without says why a child has brought no decision, "" of one that has.
func without(s *session.State, child, kind string) string {
	c := s.Scope(child)
	switch {
	case c == nil || c.Child == nil || !c.Ended() || c.Turn.Status == session.Completed:
		return ""
	case c.Turn.Error == nil:
		return standing(c.Turn)
	case c.Turn.Reason == session.ReasonIncomplete:
		return "the replies were of no use (" + strings.TrimPrefix(c.Turn.Error.Message, unusable(kind)) + ")"
	}
	return c.Turn.Error.Message
}

func standing(t session.Turn) string {
	return strings.Trim(string(t.Status)+": "+string(t.Reason), ": ")
}

// unusable begins the error of a child whose words could not be understood.
func unusable(kind string) string { return "no usable " + kind + ": " }

// unsummarised says why there is no summary, "" where one may still come.
func unsummarised(sc *session.Scope, why *session.Failure) string {
	switch {
	case why == nil || why.Kind == session.FailureSuperseded:
		return ""
	case why.Kind == string(session.ReasonContextLength) && sc != nil && sc.Summing.Long < summaryLong:
		return "" // it is asked for in fewer words
	}
	return why.Message
}
