package agent

import (
	"fmt"

	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// A call that was begun and has no result is in doubt: the process died, or
// the tool was ended with it. Nobody can promise "exactly once"; what is
// promised is that nothing happens twice silently.

const (
	unknownText = "The outcome of this call is unknown: kagent was stopped while it ran. It may have happened wholly, in part or not at all. Check before you repeat it."
	notRunText  = "Not run: the turn ended before this call began."
	verifiedOK  = "Done: kagent was stopped while it ran, and the file has been checked since: it holds what was to be written."
)

// resolve decides on a call in doubt: a result, or that it may run again.
// Neither means that a person must say. onUnknown is what to do where nothing
// is known of it.
func (r *Runner) resolve(c *session.Call, t tool.Tool, onUnknown string) (*session.ToolResult, bool) {
	if c.Verdict != nil {
		return settled(c)
	}
	if c.Change != nil {
		if res, again := r.verify(c, t); res != nil || again {
			return res, again
		}
	}
	if t != nil && t.Traits().Repeatable() {
		return nil, true
	}
	switch onUnknown {
	case "rerun":
		return nil, true
	case "stop":
		return nil, false
	}
	return refuse(c, session.OutcomeUnknown, unknownText), false
}

// Undecided returns the calls that keep the session waiting for a person's
// word: in doubt, neither known nor to be repeated.
func (r *Runner) Undecided() []*session.Call {
	s := r.Journal.State()
	var out []*session.Call
	for _, sc := range s.Live() {
		for _, c := range sc.Pending() {
			if t, _ := r.Tools.Lookup(c.Wire.Name); c.InDoubt() {
				if res, again := r.resolve(c, t, s.Settings.OnUnknown); res == nil && !again {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// settled follows a person's word.
func settled(c *session.Call) (*session.ToolResult, bool) {
	text := c.Verdict.Text
	if text != "" {
		text = " They add: " + text
	}
	switch c.Verdict.Verdict {
	case session.VerdictRerun:
		return nil, true
	case session.VerdictNotDone:
		return refuse(c, session.OutcomeError, "Not done: the user has checked that this call did not happen."+text), false
	}
	return refuse(c, session.OutcomeOK, "Done: the user has checked that this call did happen."+text), false
}

// verify asks the file itself: it holds what was wanted, or what was there
// before, or something else, which leaves the doubt.
func (r *Runner) verify(c *session.Call, t tool.Tool) (*session.ToolResult, bool) {
	fc, ok := t.(tool.FileChanger)
	if !ok {
		return nil, false
	}
	hash, err := fc.Hash(c.Change.Path)
	switch {
	case err != nil:
		return nil, false
	case hash == c.Change.After:
		return refuse(c, session.OutcomeOK, verifiedOK), false
	case hash == c.Change.Before:
		return nil, true
	}
	return nil, false
}

// interject makes room for what the user says in the middle of the work: open
// calls are settled, so that the history stays whole. Questions are asked anew.
func (r *Runner) interject() (*Finish, error) {
	s := r.Journal.State()
	for _, sc := range s.Live() {
		if len(sc.Pending()) > 0 && !s.Asks(sc) {
			if end, err := r.abandon(sc); end != nil || err != nil {
				return end, err
			}
		}
	}
	return nil, nil
}

// tell has the children that work hear what the user said since they began, and
// since anything was last said in them.
func (r *Runner) tell() error {
	s := r.Journal.State()
	for _, sc := range s.Open() {
		if s.Asks(sc) || len(sc.Pending()) > 0 || len(sc.Entries) == 0 {
			continue
		}
		var said []session.Data
		for _, e := range s.Main().Entries {
			if e.User != nil && e.User.Source == session.FromUser && e.Seq > sc.Entries[len(sc.Entries)-1].Seq {
				said = append(said, &session.UserMessage{Source: session.FromAgent, Text: promptWith("added", e.User.Text)})
			}
		}
		if err := r.append(sc.Name, said...); err != nil {
			return err
		}
	}
	return nil
}

// abandon gives results to the open calls of a scope that a new prompt
// replaces. None is run again.
func (r *Runner) abandon(sc *session.Scope) (*Finish, error) {
	onUnknown := r.Journal.State().Settings.OnUnknown
	if onUnknown == "rerun" {
		onUnknown = "tell"
	}
	var results []session.Data
	for _, c := range sc.Pending() {
		res := refuse(c, session.OutcomeNotRun, notRunText)
		if c.InDoubt() {
			t, _ := r.Tools.Lookup(c.Wire.Name)
			known, again := r.resolve(c, t, onUnknown)
			switch {
			case known != nil:
				res = known
			case !again:
				return unknownOutcome("the new prompt was not taken up: first say what became of call " + c.ID.String()), nil
			default:
				res = refuse(c, session.OutcomeNotRun, fmt.Sprintf("%s was stopped before it ended, and was not run again.", c.Wire.Name))
			}
		}
		res.Text = r.Mask.Mask(res.Text)
		results = append(results, res)
	}
	return nil, r.append(sc.Name, append(results, &session.StepEnd{Step: sc.Steps})...)
}

// unknownOutcome ends a turn that only a person's word can bring forward.
func unknownOutcome(why string) *Finish {
	f := finish(session.Paused, session.ReasonUnknownOutcome)
	f.End.Error = &session.Failure{Kind: string(f.Reason), Message: why}
	return &f
}
