package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// planned is a call on its way: either it has a result already, or a tool is
// to run.
type planned struct {
	call   *session.Call
	tool   tool.Tool
	args   json.RawMessage
	change *message.FileChange
	result *session.ToolResult // set by the one goroutine that appends
	early  bool                // what it was refused for may change with the calls before it

	key     string
	brought *session.ToolResult // set by the goroutine that runs the tool
}

// callTools prepares the calls in order, makes them durable, runs them
// together and records their results in call order.
func (r *run) callTools(ctx context.Context, calls []*session.Call) (*Finish, error) {
	batch, end := r.prepare(calls)
	if end != nil {
		return end, nil
	}
	var begun []session.Data
	for _, p := range batch {
		if p.result != nil {
			continue
		}
		if p.key = p.call.Key; p.key == "" {
			p.key = r.NewKey()
		}
		begun = append(begun, &session.ToolCall{
			Call: p.call.ID, Tool: p.call.Wire.Name, Attempt: p.call.Attempt + 1, Key: p.key, Change: p.change,
		})
	}
	// Before the intent: a call that a full disk stops here is not in doubt.
	room := roomFor(batch)
	if err := r.reserve(room); err != nil {
		return nil, err
	}
	defer func() { r.reserved -= room }()
	if err := r.append(begun...); err != nil {
		return nil, err
	}
	// From here on a crash finds the intent: only now may an effect happen.
	if err := r.Journal.Sync(); err != nil {
		return nil, err
	}
	end, err := r.runAll(ctx, batch)
	if end != nil || err != nil {
		return end, err
	}
	return nil, r.endStep()
}

// prepare decides what becomes of each call, in order. It stops before a call
// that must wait for an earlier one of the batch (order.go): that one is prepared
// when the other is done.
func (r *run) prepare(calls []*session.Call) ([]*planned, *Finish) {
	var batch []*planned
	var running []touches
	for _, c := range calls {
		p := r.plan(c)
		if p == nil {
			return nil, unknownOutcome(fmt.Sprintf("nobody knows what became of call %s (%s)", c.ID, c.Wire.Name))
		}
		if p.waits(running) {
			break
		}
		if p.result != nil {
			p.result.Text = r.Mask.Mask(p.result.Text)
		} else {
			running = append(running, p.touches())
		}
		batch = append(batch, p)
	}
	return batch, nil
}

// plan decides what becomes of one call; nil means that a person must say.
func (r *run) plan(c *session.Call) *planned {
	p := &planned{call: c}
	t, known := r.Tools.Lookup(c.Wire.Name)
	recorded := r.recorded(c, t)
	if c.InDoubt() && (recorded == nil || c.Verdict != nil) {
		var again bool
		if p.result, again = r.resolve(c, t, r.Journal.State().Settings.OnUnknown); p.result == nil && !again {
			return nil
		}
	}
	if p.result != nil {
		return p
	}
	if known && !r.offered(c.Wire.Name) && c.InDoubt() { // allowed when it was begun
		p.result = refuse(c, session.OutcomeUnknown, unknownText)
		return p
	}
	if known && !slices.Contains(r.Journal.State().Settings.Tools, c.Wire.Name) {
		p.result = refuse(c, session.OutcomeDenied, fmt.Sprintf("denied: this run does not allow %s (class %s). Go on without it.", c.Wire.Name, t.Traits().Class))
		return p
	}
	if !known || !r.offered(c.Wire.Name) { // a child may have none of those that the run allows
		p.result = refuse(c, session.OutcomeInvalid, r.noSuchTool(c))
		return p
	}
	if r.Mask.Holds(c.Wire.Arguments) {
		p.result = refuse(c, session.OutcomeInvalid, maskedText)
		return p
	}
	args, problem := r.Tools.Check(c.Wire.Name, c.Wire.Arguments)
	if problem != nil {
		p.result = refuse(c, session.OutcomeInvalid, problem.Text+r.wasCut(c))
		return p
	}
	if p.tool, p.args = t, args; recorded != nil {
		p.tool = recorded
	}
	if fc, ok := p.tool.(tool.FileChanger); ok {
		change, err := fc.Change(args)
		if err != nil {
			p.result, p.early = refuse(c, session.OutcomeError, err.Error()), true
		}
		p.change = change
	}
	return p
}

func refuse(c *session.Call, o session.Outcome, text string) *session.ToolResult {
	return &session.ToolResult{Call: c.ID, Outcome: o, Text: message.Clean(text)}
}

// offered reports whether the scope's model may use a tool.
func (r *run) offered(name string) bool {
	child := r.state().Child
	return slices.Contains(r.Journal.State().Settings.Tools, name) && (child == nil || slices.Contains(child.Tools, name))
}

func (r *run) noSuchTool(c *session.Call) string {
	offered := strings.Join(slices.DeleteFunc(r.Tools.Names(), func(name string) bool { return !r.offered(name) }), ", ")
	if offered == "" {
		offered = "none"
	}
	name := []rune(message.Clean(c.Wire.Name))
	return fmt.Sprintf("there is no tool named %q; those there are: %s", string(name[:min(len(name), 80)]), offered)
}

const maskedText = "the arguments hold a mask in the place of a secret. You were not shown the secret, so the call can't mean what it says: " +
	"use the file or the variable that holds it by its name, or change another part of the file."

// wasCut explains arguments that end in the middle.
func (r *run) wasCut(c *session.Call) string {
	if last := r.state().LastReply(); last != nil && last.Stop == message.StopLength {
		return " Your reply was cut at the output limit: make the call again, shorter or in parts."
	}
	return ""
}

// runAll runs the planned calls, at most Parallel at once. Results are
// appended in call order as soon as those before them are there. When ctx ends
// first, the turn is closed and saved, and only then are the tools ended:
// their calls stay in doubt.
func (r *run) runAll(ctx context.Context, batch []*planned) (*Finish, error) {
	toolCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	done := make(chan *planned, len(batch)) // so that what has ended is here when ctx ends
	running := r.start(toolCtx, batch, done)
	next := 0
	err := r.record(batch, &next)
	for err == nil && running > 0 {
		var p *planned
		r.outside(func() {
			select {
			case p = <-done:
			case <-ctx.Done():
			}
		})
		if p != nil {
			running--
			p.result = p.brought
			err = r.record(batch, &next)
			continue
		}
		for ; len(done) > 0; running-- {
			p := <-done
			p.result = p.brought
		}
		f := r.halted // what came first counts
		if f == nil {
			f = r.stopped(ctx)
		}
		err = r.saveFinished(batch[next:], *f)
		cancel(context.Cause(ctx))
		r.outside(func() { drain(done, running) })
		return f, unrecorded(err, batch)
	}
	cancel(err)
	r.outside(func() { drain(done, running) })
	return nil, unrecorded(err, batch)
}

func drain(done <-chan *planned, n int) {
	for ; n > 0; n-- {
		<-done
	}
}

// start begins the calls that are to run and returns their number; each is
// sent to done when it has brought something.
func (r *Runner) start(ctx context.Context, batch []*planned, done chan<- *planned) int {
	limit := r.Parallel
	if limit <= 0 {
		limit = 8
	}
	slots := make(chan struct{}, limit)
	n := 0
	for _, p := range batch {
		if p.result != nil {
			continue
		}
		n++
		go func() {
			slots <- struct{}{}
			p.brought = r.runOne(ctx, p)
			<-slots
			done <- p
		}()
	}
	return n
}

const notStarted = "not started: the run ended first"

func (r *Runner) runOne(ctx context.Context, p *planned) (out *session.ToolResult) {
	began := r.now()
	out = &session.ToolResult{Call: p.call.ID}
	defer func() { out.DurationMs = r.now().Sub(began).Milliseconds() }()
	if ctx.Err() != nil {
		out.Outcome, out.Text = session.OutcomeStopped, notStarted
		return out
	}
	res := patiently(ctx, r.Grace, p.tool, tool.Call{Args: p.args, Key: p.key, Artifacts: r.Artifacts})
	out.Outcome, out.Text, out.ExitCode = session.Outcome(res.Outcome), r.Mask.Mask(message.Clean(res.Text)), res.ExitCode
	out.Omitted, out.Artifact = res.Omitted, res.Artifact
	return out
}
