package agent

import (
	"context"

	"kagent/pkg/session"
)

// spawn runs children until one of them has ended. When the session as a whole
// goes no further, those that run end what they do, and are recorded.
func (r *run) spawn(ctx context.Context, children []Child) error {
	for _, c := range children {
		if r.children[c.Scope] {
			continue
		}
		if err := r.beginChild(c); err != nil {
			return err
		}
		r.children[c.Scope] = true
		go r.child(ctx, r.scope(c.Scope, c.Strategy))
	}
	r.await()
	return nil
}

// beginChild writes down what a child begins with, unless it has begun before.
func (r *run) beginChild(c Child) error {
	var begin []session.Data
	sc := r.Journal.State().Scope(c.Scope)
	if sc == nil || sc.Child == nil {
		c = r.brief(c)
		begin = append(begin, &c.Begin)
	}
	switch {
	case sc == nil || sc.Turn.N == 0:
		begin = append(begin, &session.TurnStart{Turn: 1})
	case !sc.Turn.Open: // by another program, that closes what it leaves
		begin = append(begin, &session.TurnStart{Turn: sc.Turn.N, Continues: sc.Turn.N})
	}
	return r.Runner.append(c.Scope, begin...)
}

// child runs one to its end, on a goroutine of its own. What concerns the
// session as a whole leaves it open: it is gone on with when the session is.
func (r *run) child(ctx context.Context, c *run) {
	c.floor.Lock()
	end, err := c.loop(ctx)
	if err == nil && end.own() {
		c.halt(nil, c.close(end))
	}
	c.floor.Unlock()
	r.ended <- c.name
}

// close ends a child by what it came to itself.
func (r *run) close(end *Finish) error {
	sc := r.state()
	if sc.InStep { // the call of a decision has no result
		if err := r.append(&session.StepEnd{Step: sc.Steps}); err != nil {
			return err
		}
	}
	end.End.Turn, end.End.Status, end.End.Reason = sc.Turn.N, end.Status, end.Reason
	r.uncommitted = true
	return r.append(&end.End)
}

// own reports whether a child has come to an end by itself. All else, such as
// a network that is down, a key that is refused, a limit or a question to a
// person, would meet the next one too.
func (f *Finish) own() bool {
	switch f.Status {
	case session.Completed:
		return true
	case session.Failed:
		if f.final {
			return false
		}
		switch f.Reason {
		case session.ReasonIncomplete, session.ReasonContentFilter, session.ReasonInvalidRequest:
			return true
		}
	}
	return false
}

// await waits until one child has ended.
func (r *run) await() {
	if len(r.children) > 0 {
		r.outside(func() { delete(r.children, <-r.ended) })
	}
}

// halt keeps the session as a whole from going any further; the first reason
// counts.
func (r *run) halt(end *Finish, err error) {
	if r.halted != nil || end == nil && err == nil {
		return
	}
	if end == nil {
		f := finish(session.Interrupted, session.ReasonStorage)
		end = &f
	}
	r.halted, r.broken = end, err
}
