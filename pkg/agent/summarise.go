package agent

import (
	"strings"
	"unicode/utf8"

	"kagent/pkg/session"
)

// A summary is asked of a child, "summarise-1" and so on. What becomes of it is
// written down by its parent: context/compacted, or context/compact-failed.
const (
	summaryKind  = "summarise"
	summaryInput = 200_000 // characters of what is to be summarised
	summaryLeast = 2000    // characters that are always told of it
	summaryLong  = 4       // questions that may be too long for the service
	summarySteps = 6       // replies that a child may take
)

// summarise asks for a summary of what was said, so that a request of size
// characters fits into budget; nil where it would not fit even then, where that
// does not pay, or has failed in this turn.
func summarise(s *session.State, sc *session.Scope, size, budget int) Action {
	if child := s.Scope(sc.Question(summaryKind)); child != nil && child.Child != nil {
		return goOn(child)
	}
	p := sc.Past(budget / 5)
	if sc.Summing.Failed > 0 || sc.Summing.Long >= summaryLong || p.Chars == 0 || p.Chars < budget*3/10 || size-p.Chars >= budget {
		return nil
	}
	limit := budget * 4 / 5
	if sc.Refused > 0 { // nobody knows how much less would do; questions that were too long have lowered the budget already
		limit = budget / 2 << sc.Summing.Long
	}
	return askSummary(sc, p, limit, "")
}

// askSummary asks for a summary of p out of at most limit characters of it, and
// fewer after each question that was too long.
func askSummary(sc *session.Scope, p session.Past, limit int, instructions string) Spawn {
	limit = min(limit, summaryInput, p.Chars+utf8.RuneCountInString(sc.Cut.Summary))
	limit = max(limit>>sc.Summing.Long, summaryLeast)
	begin := session.ChildCreated{
		Task: retold(p, sc.Cut.Summary, limit, instructions), System: prompt(summaryKind), Tools: []string{}, Before: p.Before,
	}
	if sc.Child != nil {
		begin.Model = sc.Child.Model
	}
	return Spawn{[]Child{{Scope: sc.Question(summaryKind), Begin: begin, Strategy: summarising}}}
}

// summarising answers as React does. Whatever keeps a summary from being made
// is the child's own failure: the parent goes on without it.
func summarising(s *session.State, scope string) Action {
	sc := s.Scope(scope)
	switch a := React(s, scope).(type) {
	case CallModel:
		if sc.Turn.Steps >= summarySteps {
			return because(session.Failed, session.ReasonIncomplete, modelOf(s, sc)+": the model brought no summary")
		}
		a.Spare = true
		return a
	case Finish:
		if a.Status != session.Completed {
			a.Status, a.Reason = session.Failed, session.ReasonIncomplete
		}
		return a
	default:
		return a
	}
}

// goOn goes on with a summary that was asked for before.
func goOn(child *session.Scope) Action {
	return Spawn{[]Child{{Scope: child.Name, Begin: *child.Child, Strategy: summarising}}}
}

// concludeSummary writes down what became of a summary that a child has made.
func concludeSummary(sc, child *session.Scope, auto bool) Action {
	p := sc.PastBefore(child.Child.Before)
	if why := useless(child, p, sc.Cut.Summary); why != nil {
		return Record{[]session.Data{&session.CompactFailed{Error: why, From: child.Name}}}
	}
	return Record{[]session.Data{&session.ContextCompacted{
		Turns: p.Turns, Before: p.Before, Summary: summaryOf(child), Auto: auto, From: child.Name,
	}}}
}

// useless says why a summary can't take the place of p and of the one before
// it; nil where it can.
func useless(child *session.Scope, p session.Past, prior string) *session.Failure {
	said := summaryOf(child)
	t := child.Turn
	switch {
	case t.Status != session.Completed && t.Error != nil:
		return t.Error
	case t.Status != session.Completed:
		return explain(session.FailureEmpty, "the summary was not made")
	case said == "":
		return explain(session.FailureEmpty, "the summary is empty")
	case len(p.Entries) == 0:
		return explain(session.FailureSuperseded, "what it is about has left meanwhile")
	case utf8.RuneCountInString(said) >= p.Chars+utf8.RuneCountInString(prior):
		return explain(session.FailureTooLong, "the summary is longer than what it would replace")
	}
	return nil
}

// summaryOf is what a child has answered, without what it thought aloud.
func summaryOf(child *session.Scope) string {
	return strings.TrimSpace(thoughts.ReplaceAllString(child.Answer(), ""))
}
