package agent

import (
	"context"

	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// Compact has the model summarise all that was said so far. No turn is opened:
// the session stands as it did, and goes on with the summary. Where it comes to
// nothing, what the model would be sent is unchanged.
func (r *Runner) Compact(ctx context.Context, instructions string) (Finish, error) {
	r.floor.Lock()
	defer r.floor.Unlock()
	r.halted, r.broken = nil, nil
	if err := r.furnish(); err != nil {
		return Finish{}, err
	}
	sc := r.Journal.State().Main()
	run := r.scope("", nil)
	run.deaf = true
	run.strategy = compacting(sc.Concluded(summaryKind), sc.Summing, r.summaryLimit(), instructions)
	end, err := run.loop(ctx)
	if err == nil && end.Status != session.Completed {
		err = r.giveUpSummary(end)
	}
	if err == nil {
		err = r.commit()
	}
	if err != nil {
		return r.lost(err), err
	}
	return *end, nil
}

// Compactable returns what Compact would summarise.
func Compactable(s *session.State) session.Past { return s.Main().Past(0) }

// summaryLimit is how much of the conversation a question may hold.
func (r *Runner) summaryLimit() int {
	s := r.Journal.State()
	limit := summaryInput
	if budget := s.ContextBudget(r.window(s.Settings.Model)); budget > 0 {
		limit = min(limit, budget*4/5)
	}
	if t := s.Main().Turn; t.Reason == session.ReasonContextLength && s.Main().Asked > 0 {
		limit = min(limit, s.Main().Asked/2) // as much was too much
	}
	return limit
}

// compacting is the strategy of Compact: one summary of all there is, asked for
// again where the question was too long. was and asked are what there was of
// summaries before.
func compacting(asked int, was session.Summing, limit int, instructions string) Strategy {
	return func(s *session.State, scope string) Action {
		sc := s.Main()
		p := sc.Past(0)
		if child := s.Scope(sc.Question(summaryKind)); child != nil && child.Child != nil {
			return compactingWith(sc, child, askSummary(sc, p, limit, instructions).Children[0].Begin)
		}
		now := sc.Summing
		switch {
		case len(p.Entries) == 0:
			return finish(session.Completed, "")
		case now.Failed > was.Failed, now.Long >= was.Long+summaryLong:
			return noSummary(now.Why)
		}
		return askSummary(sc, p, limit, instructions)
	}
}

// compactingWith goes on with a summary that was begun, if it is the one that is
// wanted now.
func compactingWith(sc, child *session.Scope, wanted session.ChildCreated) Action {
	switch {
	case child.Child.Before != wanted.Before || child.Child.Task != wanted.Task:
		why := explain(session.FailureSuperseded, "another summary is asked for")
		return Record{[]session.Data{&session.CompactFailed{Error: why, From: child.Name}}}
	case child.Ended():
		return concludeSummary(sc, child, false)
	}
	return goOn(child)
}

// noSummary ends a Compact that came to nothing, by what kept it.
func noSummary(why *session.Failure) Action {
	f := finish(session.Failed, session.ReasonIncomplete)
	if why != nil {
		if known := outcome(provider.Kind(why.Kind)); known.Reason != session.ReasonInternal {
			f = known
		}
	}
	f.End.Error = why
	return f
}

// giveUpSummary lets go of a summary that is not there yet. One that was paid
// for waits for the next Compact.
func (r *Runner) giveUpSummary(end *Finish) error {
	s := r.Journal.State()
	from := s.Main().Question(summaryKind)
	if s.Scope(from) == nil || answered(s, from) {
		return nil
	}
	why := explain(end.Reason, "it was stopped before the summary was there")
	return r.append("", &session.CompactFailed{Error: why, From: from})
}

// answered reports whether a summary is there, and only not yet in its place.
func answered(s *session.State, from string) bool {
	f, ok := summarising(s, from).(Finish)
	return ok && f.Status == session.Completed
}
