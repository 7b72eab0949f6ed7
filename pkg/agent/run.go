package agent

import (
	"context"
	"fmt"

	"kagent/pkg/session"
)

// run is the way of one scope through the loop.
type run struct {
	*Runner
	name     string
	strategy Strategy
	deaf     bool // what waits in the inbox is for a turn

	children map[string]bool // those that run now
	ended    chan string     // their names, as they end
}

func (r *Runner) scope(name string, strategy Strategy) *run {
	return &run{Runner: r, name: name, strategy: strategy, children: map[string]bool{}, ended: make(chan string)}
}

// loop is the only one: decide, do, again.
func (r *run) loop(ctx context.Context) (end *Finish, err error) {
	for end == nil && err == nil {
		switch {
		case r.halted != nil:
			end, err = r.halted, r.broken
		case ctx.Err() != nil:
			end = r.stopped(ctx)
		default:
			if err = r.hear(); err == nil {
				end, err = r.do(ctx, r.decide())
			}
		}
	}
	if err != nil || r.name == "" || !end.own() {
		r.halt(end, err)
	}
	for len(r.children) > 0 {
		r.await()
	}
	return end, err
}

// decide asks the strategy, and sees to it that a request fits.
func (r *run) decide() Action {
	s := r.Journal.State()
	a := r.strategy(s, r.name)
	if ask, ok := a.(CallModel); ok {
		tools := append(r.specs(), ask.Tools...)
		return fit(s, r.name, ask, room{r.window(modelOf(s, r.state())), beside(tools, ask.Note)})
	}
	return a
}

// do carries out one action. It returns how the turn is to be closed, nil to
// go on.
func (r *run) do(ctx context.Context, a Action) (*Finish, error) {
	switch a := a.(type) {
	case CallModel:
		return r.callModel(ctx, a)
	case CallTools:
		return r.callTools(ctx, a.Calls)
	case Spawn:
		return nil, r.spawn(ctx, a.Children)
	case Record:
		if err := r.append(a.Events...); err != nil {
			return nil, err
		}
		return nil, r.endStep()
	case Finish:
		return &a, nil
	}
	f := finish(session.Failed, session.ReasonInternal)
	f.End.Error = explain(f.Reason, fmt.Sprintf("the strategy asked for a %T", a))
	return &f, nil
}

// state is the scope's own; a child of which nothing is known has one that is
// empty.
func (r *run) state() *session.Scope {
	if sc := r.Journal.State().Scope(r.name); sc != nil {
		return sc
	}
	return &session.Scope{Name: r.name}
}

// append writes what happens in the scope.
func (r *run) append(data ...session.Data) error { return r.Runner.append(r.name, data...) }

// endStep ends the step if its reply is there and no call waits for a result.
func (r *run) endStep() error {
	sc := r.state()
	if !sc.InStep || sc.Tries > 0 || len(sc.Pending()) > 0 {
		return nil
	}
	r.uncommitted = true
	return r.append(&session.StepEnd{Step: sc.Steps})
}
