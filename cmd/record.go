package cmd

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"kagent/pkg/agent"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/script"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// record writes the log of a session as a script. It is made anew from the whole
// log, so that a session that was killed and resumed is recorded like any other.
func (a *app) record(id, file string) error {
	r := recording{state: &session.State{}, tools: map[string][]string{}, replies: map[int64]int{}}
	if err := a.store().Events(context.Background(), id, false, r.event); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := script.Write(&text, r.all); err != nil {
		return err
	}
	if text.Len() > script.MaxSize {
		a.say("warning: %s has %s: more than the %s that a script may have", file, size(int64(text.Len())), size(script.MaxSize))
	}
	return replaceFile(a.signals.ctx, file, text.Bytes(), 0o600)
}

// recording follows a log.
type recording struct {
	state   *session.State
	all     []script.Recorded
	tools   map[string][]string // that were offered last, by scope
	replies map[int64]int       // where in all a reply is, by its number in the log
}

func (r *recording) event(e session.Event) {
	switch d := e.Data.(type) {
	case *session.RequestHeader:
		r.tools[e.Scope] = d.Tools
	case *session.AssistantMessage:
		said := r.asked(e.Scope)
		said.Parts, said.Stop, said.Usage = d.Parts, d.Stop, d.Usage
		said.Results = make([]*script.Result, len(message.Message{Parts: d.Parts}.Calls()))
		r.replies[e.Seq] = len(r.all)
		r.all = append(r.all, said)
	case *session.ToolResult:
		if i, known := r.replies[d.Call.Reply]; known && d.Call.Index < len(r.all[i].Results) {
			r.all[i].Results[d.Call.Index] = resultOf(d)
		}
	case *session.TurnEnd:
		r.failed(e.Scope, d.Error)
	}
	r.state.Apply(e)
}

// asked is what the model of a scope is asked next.
func (r *recording) asked(scope string) script.Recorded {
	sc := r.state.Scope(scope)
	out := script.Recorded{
		Scope: scope, Ordinal: 1, Tools: r.tools[scope],
		Agent: r.state.Settings.Agent, System: agent.GivenSystem(r.state, sc),
	}
	if sc == nil {
		return out
	}
	out.Ordinal = sc.Steps + 1
	for _, e := range slices.Backward(sc.Entries) {
		if e.User != nil && strings.TrimSpace(e.User.Text) != "" {
			out.LastUser = e.User.Text
			break
		}
	}
	return out
}

// failed records what ended a turn, for the scopes that waited for a reply: a
// child's own, or all of them where the session as a whole has ended.
func (r *recording) failed(scope string, why *session.Failure) {
	if why == nil || !slices.Contains(script.Kinds(), provider.Kind(why.Kind)) {
		return
	}
	waiting := r.state.Live()
	if scope != "" { // what closes a child closes its step first
		waiting = []*session.Scope{r.state.Scope(scope)}
	}
	for _, sc := range waiting {
		if sc != nil && (sc.InStep || scope != "") && sc.Tries > 0 {
			out := r.asked(sc.Name)
			out.Tries, out.Fail = sc.Tries, errorOf(why)
			r.all = append(r.all, out)
		}
	}
}

// errorOf is the error that a failure was made of: other requests may tell of it
// in the same words.
func errorOf(why *session.Failure) *provider.Error {
	e := &provider.Error{Kind: provider.Kind(why.Kind), Message: why.Message, Status: why.Status}
	if from, _, ok := strings.Cut(why.Message, ": "+why.Kind); ok {
		apart := *e
		apart.Provider, apart.Message = from, ""
		if said, ok := strings.CutPrefix(why.Message, apart.Error()); ok && from != "" {
			apart.Message = said
			return &apart
		}
	}
	return e
}

func resultOf(d *session.ToolResult) *script.Result {
	out := &script.Result{Outcome: string(session.OutcomeError), Text: d.Text, ExitCode: d.ExitCode}
	if d.Outcome == session.OutcomeOK || d.Outcome == session.OutcomeTimeout {
		out.Outcome = string(d.Outcome)
	}
	return out
}

// recordedResults returns what knows the results that the scripts of a session
// hold; nil where it has none.
func recordedResults(s session.Settings) func(message.ToolCall) (tool.Result, bool) {
	var scripts []*script.Script
	for _, name := range chainOf(s.Model) {
		if file, ok := strings.CutPrefix(name, "script:"); ok {
			if one, err := script.Load(file); err == nil { // else there is no way to the model
				scripts = append(scripts, one)
			}
		}
	}
	if scripts == nil {
		return nil
	}
	return func(c message.ToolCall) (tool.Result, bool) {
		r, ok := script.ResultOf(c, scripts...)
		return tool.Result{Outcome: tool.Outcome(r.Outcome), Text: r.Text, ExitCode: r.ExitCode}, ok
	}
}
