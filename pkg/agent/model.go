package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// callModel makes one model call and records what came of it. The reply is
// made durable together with the calls that it asks for.
func (r *run) callModel(ctx context.Context, ask CallModel) (*Finish, error) {
	if r.uncommitted {
		if err := r.commit(); err != nil {
			return nil, err
		}
	}
	s, sc := r.Journal.State(), r.state()
	if !s.Settings.Limits.StepsLeft(sc.Turn) {
		return r.outOfSteps(s.Settings.Limits.MaxSteps), nil
	}
	if end := r.exhausted(); end != nil {
		return end, nil
	}
	model := modelOf(s, sc)
	way, err := r.way(model)
	if err != nil {
		return r.failed(ctx, err), nil
	}
	req := r.request(ask)
	step := &session.StepStart{Step: sc.Steps + 1}
	if err := r.append(step, header(model, req)); err != nil {
		return nil, err
	}
	req.Label = provider.Label{Scope: r.name, Ordinal: step.Step, Attempt: r.state().Tries, Agent: s.Settings.Agent, System: GivenSystem(s, sc)}
	k, reply, err := r.stream(ctx, way, model, req)
	switch {
	case k.err != nil:
		return nil, k.err
	case err != nil && k.over != nil:
		return k.over, nil
	case err != nil:
		return r.unanswered(ctx, ask, err, k.billed())
	}
	if err := r.append(r.said(cmp.Or(reply.Asked, model), reply)); err != nil {
		return nil, err
	}
	return nil, r.endStep()
}

// unanswered says what becomes of a request that brought no reply. One that is
// too long is made to fit and asked once more.
func (r *run) unanswered(ctx context.Context, ask CallModel, err error, billed session.Billed) (*Finish, error) {
	f := r.failed(ctx, err)
	d := &session.RequestRetried{Attempt: r.state().Tries, Error: f.End.Error, Billed: billed}
	switch {
	case f.Reason == session.ReasonContextLength && r.state().Refused == 0 && !ask.Spare:
		return nil, r.retry(d)
	case billed.Usage != nil:
		if d.GivenUp = true; d.Error == nil {
			d.Error = explain(cmp.Or(f.Reason, session.Reason(f.Status)), "the request was given up")
		}
		if err := r.retry(d); err != nil {
			return nil, err
		}
	}
	switch {
	case f.Reason == session.ReasonContextLength && !ask.Spare:
		f.End.Error.Message = "though much was left out, the request is too long for the model: " + f.End.Error.Message
	case ask.Spare && ctx.Err() == nil && !f.final:
		f.Status, f.Reason = session.Failed, session.ReasonIncomplete
	}
	return f, nil
}

// said is a reply as the log has it.
func (r *run) said(model string, reply provider.Reply) *session.AssistantMessage {
	m := &session.AssistantMessage{Parts: r.storable(reply.Parts, reply.Stop), Stop: reply.Stop, Usage: reply.Usage, Model: model, AnsweredBy: r.Mask.MaskReply(message.Clean(reply.Model))}
	m.Masked = r.newMasks(reply.Parts, m.Parts)
	if r.Price != nil {
		m.CostUSD = r.Price(model, reply.Usage)
	}
	return m
}

// stream asks the model. The sink, closed, tells what came beside the reply.
func (r *run) stream(ctx context.Context, way provider.Provider, model string, req provider.Request) (k *sink, reply provider.Reply, err error) {
	streaming, giveUp := context.WithCancel(ctx)
	defer giveUp()
	k = &sink{run: r, model: model, last: r.now(), giveUp: giveUp, held: r.estimate(model, r.state().Asked)}
	r.asking(k.held, func() { reply, err = asked(streaming, way, req, k.take) })
	k.close(err != nil)
	return k, reply, err
}

// asked is what a provider replies. A panic of its ends the turn, not the
// process.
func asked(ctx context.Context, p provider.Provider, req provider.Request, emit func(provider.Event)) (reply provider.Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			reply, err = provider.Reply{}, &provider.Error{Kind: provider.Internal, Message: fmt.Sprintf("the provider failed inside kagent: %v", v)}
		}
	}()
	return p.Stream(ctx, req, emit)
}

// request is what the scope's model is sent next.
func (r *run) request(ask CallModel) provider.Request {
	view := r.Journal.State().View(r.name)
	return provider.Request{
		System: view.System, Messages: view.Messages, Note: ask.Note, Tools: append(r.specs(), ask.Tools...), Choice: ask.Choice, Output: ask.Output,
		Options: provider.Options(r.Journal.State().Settings.Sampling),
	}
}

// modelOf names the model that a scope is answered by.
func modelOf(s *session.State, sc *session.Scope) string {
	if sc.Child != nil && sc.Child.Model != "" {
		return sc.Child.Model
	}
	return s.Settings.Model
}

func (r *run) way(model string) (provider.Provider, error) {
	if model == r.Journal.State().Settings.Model || r.Models == nil {
		return r.Provider, nil
	}
	return r.Models(model)
}

func (r *run) outOfSteps(limit int) *Finish {
	f := because(session.Paused, session.ReasonMaxSteps, fmt.Sprintf("the limit of %s for a turn is reached; --max-steps raises it", modelCalls(limit)))
	return &f
}

func modelCalls(n int) string {
	if n == 1 {
		return "1 model call"
	}
	return fmt.Sprintf("%d model calls", n)
}

func (r *run) specs() []message.ToolSpec {
	var specs []message.ToolSpec
	for _, spec := range r.Tools.Specs() {
		if r.offered(spec.Name) {
			specs = append(specs, spec)
		}
	}
	return specs
}

func header(model string, req provider.Request) *session.RequestHeader {
	h := &session.RequestHeader{Model: model, Tools: []string{}, Chars: size(req), Sampling: session.Sampling(req.Options)}
	sum := sha256.New()
	sum.Write([]byte(req.System))
	for _, t := range req.Tools {
		h.Tools = append(h.Tools, t.Name)
		_ = json.NewEncoder(sum).Encode(t) // a hash takes every write
	}
	h.Prompt = hex.EncodeToString(sum.Sum(nil))
	return h
}

// failed says how the turn ends after a model call that brought no reply.
func (r *Runner) failed(ctx context.Context, err error) *Finish {
	if ctx.Err() != nil {
		return r.stopped(ctx)
	}
	var e *provider.Error
	if !errors.As(err, &e) {
		e = &provider.Error{Kind: provider.Internal, Message: err.Error()}
	}
	f := outcome(e.Kind)
	f.final = e.Final
	f.End.Error = r.failure(e)
	if e.RetryAfter > 0 {
		f.End.RetryAt = r.now().Add(e.RetryAfter).UTC()
	}
	return &f
}

func (r *Runner) failure(e *provider.Error) *session.Failure {
	return &session.Failure{Kind: string(e.Kind), Message: r.Mask.MaskReply(message.Clean(e.Error())), Status: e.Status}
}

// outcome maps a kind of failure to how the turn ends.
func outcome(k provider.Kind) Finish {
	m := k.Means()
	return finish(session.Status(m.Status), session.Reason(m.Reason))
}
