package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// Journal is what an agent needs of a session's log. Append folds into the
// state what it wrote; Sync makes it durable; Commit does that and replaces
// the checkpoint. An error means that the session can't be stored: the agent
// stops.
type Journal interface {
	State() *session.State
	Append(scope string, data ...session.Data) error
	Sync() error
	Commit() error
}

// Runner drives a session: the only loop. To run is to resume.
//
// Every scope that runs has a goroutine of its own, but only the one that
// holds the floor touches the journal and its state; it is given up while a
// model or a tool is waited for (see outside).
type Runner struct {
	Journal  Journal
	Provider provider.Provider
	// Models gives the way to another model, for children that have one of
	// their own; nil: there is none.
	Models func(model string) (provider.Provider, error)
	// Window tells how many tokens a model takes, 0 where that is not known;
	// nil: it never is.
	Window func(model string) int
	// Tools are all there are; Settings.Tools of the session names those that are
	// offered, and Settings.Allow the classes beyond reading. nil: there are none.
	Tools *tool.Set
	// Strategy decides; default the one that Settings.Agent of the session names.
	Strategy Strategy

	// Recorded knows what calls are to be told in the place of running their tools;
	// nil knows nothing.
	Recorded func(message.ToolCall) (tool.Result, bool)

	// Artifacts takes what is too large for a result; nil: it is not kept.
	Artifacts tool.Artifacts
	// Mask hides secrets in what tools return and models say; a call whose
	// arguments hold a mask is refused. nil hides none.
	Mask *tool.Masker
	// Inbox is listened to between steps; nil: nobody speaks.
	Inbox Inbox
	// Price says what a reply of a model cost in US dollars, nil if its price is
	// not known; nil knows none.
	Price func(model string, u message.Usage) *float64
	// NewKey makes idempotency keys; default random UUIDs.
	NewKey func() string
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Grace is how long commands have to end before they are killed; default 5 s.
	Grace time.Duration
	// Parallel bounds the tool calls that run at once; default 8.
	Parallel int
	// Observe sees each event as it is appended, durable or not; Delta sees
	// text as it is streamed. Either may be nil; neither is called twice at
	// once.
	Observe func(scope string, d session.Data)
	Delta   func(scope string, d Delta)

	floor       sync.Mutex
	halted      *Finish          // why the session as a whole goes no further
	broken      error            // of the journal, with it
	flying      session.Spending // model calls that run
	reserved    int64            // room for results of calls that run
	uncommitted bool             // a step has ended since the last checkpoint
	committed   int64            // seq of the last event that it shows
}

// Stop is the cause of a context that ends a run on purpose; it says what the
// turn is closed with.
type Stop struct {
	Status session.Status
	Reason session.Reason
}

func (s *Stop) Error() string {
	if s.Reason == "" {
		return string(s.Status)
	}
	return string(s.Status) + ": " + string(s.Reason)
}

// Run goes on where the log ends, after adding prompt as a new turn if it is
// not blank, until the turn is closed. It returns how it was closed; an error
// means that the session could not be stored, or that there is no such agent.
func (r *Runner) Run(ctx context.Context, prompt string) (Finish, error) {
	r.floor.Lock()
	defer r.floor.Unlock()
	r.halted, r.broken = nil, nil
	if err := r.furnish(); err != nil {
		return Finish{}, err
	}
	end, err := r.begin(prompt)
	if end == nil && err == nil {
		ctx, done := r.inTime(ctx)
		end, err = r.scope("", demanding(shaped(r.Strategy))).loop(ctx)
		done()
	}
	if err == nil {
		err = r.end(*end)
	}
	if err != nil {
		return r.lost(err), err
	}
	return *end, nil
}

// furnish gives what was left to us its default.
func (r *Runner) furnish() error {
	if name := r.Journal.State().Settings.Agent; r.Strategy == nil {
		if r.Strategy = ByName(name); r.Strategy == nil {
			return fmt.Errorf("agent %q is not known; known are %s", name, strings.Join(Names(), ", "))
		}
	}
	if r.Tools == nil {
		r.Tools = &tool.Set{}
	}
	if r.NewKey == nil {
		r.NewKey = uuid.NewString
	}
	return nil
}

// outside gives up the floor while do waits for something.
func (r *Runner) outside(do func()) {
	r.floor.Unlock()
	defer r.floor.Lock()
	do()
}

// begin opens a turn, or continues the one that was cut. A prompt that comes
// while only a person can say what became of a call is not taken up.
func (r *Runner) begin(prompt string) (*Finish, error) {
	sc := r.Journal.State().Main()
	prompted := strings.TrimSpace(prompt) != ""
	var end *Finish
	if prompted {
		var err error
		if end, err = r.interject(); err != nil {
			return nil, err
		}
	}
	if !sc.Begun() { // also when a prompt comes first: it adds to the task
		if err := r.append("", &session.UserMessage{Source: session.FromTask}); err != nil {
			return nil, err
		}
	}
	if end == nil {
		if err := r.open(prompt, prompted || sc.Turn.Status == session.Completed); err != nil {
			return nil, err
		}
	}
	if err := r.tell(); err != nil { // also of what a run that was killed did not come to
		return nil, err
	}
	sc = r.Journal.State().Main()
	start := &session.TurnStart{Turn: sc.Turn.N + 1}
	if !sc.Unheard() {
		if sc.Turn.Status == session.Completed {
			return &Finish{Status: session.Completed}, nil
		}
		start.Turn, start.Continues = sc.Turn.N, sc.Turn.N
	}
	if err := r.append("", start); err != nil {
		return nil, err
	}
	return end, r.commit()
}

// open says what opens another turn: the prompt, and what was sent before it.
func (r *Runner) open(prompt string, another bool) error {
	if !another {
		return nil
	}
	if err := r.listen(); err != nil || strings.TrimSpace(prompt) == "" {
		return err
	}
	return r.append("", &session.UserMessage{Source: session.FromUser, Text: message.Clean(prompt)})
}

// end closes the turn, durably. One that is closed is saved again: whoever closed
// it may have died before the checkpoint, or children have ended since.
func (r *Runner) end(f Finish) error {
	t := r.Journal.State().Main().Turn
	switch {
	case !t.Open && r.committed == r.Journal.State().Seq:
		return nil
	case !t.Open:
		return r.commit()
	}
	f.End.Turn, f.End.Status, f.End.Reason = t.N, f.Status, f.Reason
	if err := r.append("", &f.End); err != nil {
		return err
	}
	return r.commit()
}

// lost tries to note in the log that the disk failed; where it can't, the turn
// stays open and the next open closes it as a crash.
func (r *Runner) lost(cause error) Finish {
	f := finish(session.Interrupted, session.ReasonStorage)
	f.End.Error = &session.Failure{Kind: string(session.ReasonStorage), Message: cause.Error()}
	_ = r.end(f)
	return f
}

func (r *Runner) append(scope string, data ...session.Data) error {
	if len(data) == 0 {
		return nil
	}
	if err := r.Journal.Append(scope, data...); err != nil {
		return err
	}
	for _, d := range data {
		if r.Observe != nil {
			r.Observe(scope, d)
		}
	}
	return nil
}

func (r *Runner) commit() error {
	r.uncommitted, r.committed = false, r.Journal.State().Seq
	return r.Journal.Commit()
}

func (r *Runner) window(model string) int {
	if r.Window == nil {
		return 0
	}
	return r.Window(model)
}

func (r *Runner) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// stopped is how a turn is closed when its context ended.
func (r *Runner) stopped(ctx context.Context) *Finish {
	f := finish(session.Interrupted, session.ReasonSignal)
	var stop *Stop
	if errors.As(context.Cause(ctx), &stop) {
		f = finish(stop.Status, stop.Reason)
	}
	if f.Reason == session.ReasonDeadline {
		f.End.Error = explain(f.Reason, r.Journal.State().Overdue())
	}
	return &f
}
