package script

import (
	"context"
	"strconv"
	"strings"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// Stream answers req with the first reply that fits. It fails with
// provider.InvalidRequest if none does.
func (s *Script) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	if ctx.Err() != nil {
		return provider.Reply{}, context.Cause(ctx)
	}
	f := factsOf(req)
	i, err := s.find(f)
	if err != nil {
		return provider.Reply{}, err
	}
	r := &s.replies[i]
	parts := r.parts(f, func(call int) string { return s.id(f.Ordinal, i, call) })
	if err := r.play(ctx, parts, emit); err != nil {
		return provider.Reply{}, err
	}
	out := provider.Reply{Parts: parts, Stop: r.stop, Model: "script"}
	if out.Stop == "" {
		out.Stop = message.StopEnd
		if len(r.calls) > 0 {
			out.Stop = message.StopCalls
		}
	}
	if out.Usage = Estimate(req, parts); r.usage != nil {
		out.Usage = *r.usage
	}
	return out, nil
}

// play streams the parts with the waits between them, and fails if the reply
// says so.
func (r *reply) play(ctx context.Context, parts []message.Part, emit func(provider.Event)) error {
	if err := wait(ctx, r.delay); err != nil {
		return err
	}
	for _, p := range parts {
		switch p.Type {
		case message.TypeReasoning:
			emit(provider.Event{Reasoning: p.Text})
		case message.TypeText:
			for i, piece := range split(p.Text, r.pieces) {
				if i > 0 {
					if err := wait(ctx, r.pieceDelay); err != nil {
						return err
					}
				}
				emit(provider.Event{Text: piece})
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.fail != nil {
		e := *r.fail
		return &e
	}
	return nil
}

// parts fills in the templates; id names a call that has no name of its own.
func (r *reply) parts(f facts, id func(call int) string) []message.Part {
	var parts []message.Part
	plain := f.templates(func(s string) string { return s })
	// Braces next to each other occur in JSON inside strings only: what is
	// filled in must be escaped as a string's inside.
	quoted := f.templates(func(s string) string { q := quote(s); return q[1 : len(q)-1] })
	if r.verbatim {
		plain, quoted = strings.NewReplacer(), strings.NewReplacer()
	}
	if s := message.Clean(plain.Replace(r.reasoning)); s != "" {
		parts = append(parts, message.Part{Type: message.TypeReasoning, Text: s})
	}
	if s := message.Clean(plain.Replace(r.text)); s != "" {
		parts = append(parts, message.Text(s))
	}
	for i, c := range r.calls {
		args := c.arguments
		if !c.verbatim {
			args = quoted.Replace(args)
		}
		named := message.ToolCall{ID: id(i), Name: c.name, Arguments: args}
		if c.id != nil {
			named.ID = *c.id
		}
		parts = append(parts, message.Call(named))
	}
	return parts
}

func (f facts) templates(as func(string) string) *strings.Replacer {
	return strings.NewReplacer(
		"{{last_user}}", as(f.lastUser),
		"{{tool_result}}", as(f.lastResult),
		"{{n_tool_results}}", strconv.Itoa(f.results),
		"{{ordinal}}", strconv.Itoa(f.Ordinal),
		"{{attempt}}", strconv.Itoa(f.Attempt),
	)
}

// split cuts s into n pieces of nearly the same number of runes, fewer if s is
// shorter.
func split(s string, n int) []string {
	runes := []rune(s)
	n = min(n, len(runes))
	pieces := make([]string, n)
	for i := range pieces {
		pieces[i] = string(runes[i*len(runes)/n : (i+1)*len(runes)/n])
	}
	return pieces
}

// wait returns after d, or with ctx's cause.
func wait(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
