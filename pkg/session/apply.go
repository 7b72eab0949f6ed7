package session

import (
	"kagent/pkg/message"
)

// Apply folds e into the state. It is total: every event, in any order, leads
// to a state; what makes no sense in it changes nothing but the counters of
// the log itself. The same function serves the live run and the replay, which
// is why a resume can be trusted.
func (s *State) Apply(e Event) {
	s.Seq, s.Epoch, s.Updated = e.Seq, e.Epoch, e.Time
	sc := s.scope(e.Scope)
	switch d := e.Data.(type) {
	case *Created:
		s.ID, s.Schema, s.Version = d.ID, d.Schema, d.Version
		s.Task, s.PromptHash, s.Settings = d.Task, d.PromptHash, d.Settings
		s.Created = e.Time
	case *Opened:
		s.Owner, s.OwnedSince, s.Version = *d, e.Time, d.Version
		s.Attempts++
	case *Removed:
		s.Removed = true
	case *SettingsChanged:
		s.Settings = d.Settings
	case *TurnStart:
		sc.startTurn(e.Seq, d)
	case *TurnEnd:
		t := &sc.Turn
		t.Open, t.Status, t.Reason, t.Error, t.RetryAt = false, d.Status, d.Reason, d.Error, d.RetryAt
		t.N = max(t.N, d.Turn)
	case *StepStart:
		sc.InStep, sc.Partial = true, ""
		sc.Tries++
	case *StepEnd:
		sc.InStep = false
		s.Attempts = 0
	case *UserMessage:
		sc.hear(e, *d, s.Task)
	case *RequestRetried:
		sc.Partial = ""
		sc.Tries++
	case *AssistantChunk:
		sc.Partial += d.Text
	case *AssistantMessage:
		sc.reply(e, d)
		s.Iterations++
		s.Usage = s.Usage.Add(d.Usage)
	case *ToolCall:
		if c := sc.call(d.Call); c != nil {
			c.Attempt, c.Key, c.Change, c.Verdict = max(d.Attempt, 1), d.Key, d.Change, nil
		}
	case *ToolResult:
		s.settle(sc, e, d)
	case *OutcomeSettled:
		if c := sc.call(d.Call); c != nil {
			c.Verdict = d
		}
	case Unknown:
		s.UnknownOf = append(s.UnknownOf, d.Kind)
	}
}

func (s *State) scope(name string) *Scope {
	if s.scopes == nil {
		s.scopes = map[string]*Scope{}
	}
	sc := s.scopes[name]
	if sc == nil {
		sc = &Scope{Name: name}
		s.scopes[name] = sc
	}
	return sc
}

func (s *State) settle(sc *Scope, e Event, d *ToolResult) {
	c := sc.call(d.Call)
	if c == nil || c.Result != nil {
		return
	}
	c.Result, c.Ended = d, e.Time
	switch d.Outcome {
	case OutcomeDenied:
		s.Denied = append(s.Denied, c.Wire.Name)
	case OutcomeInvalid, OutcomeNotRun:
	default:
		s.ToolCalls++
	}
}

func (sc *Scope) startTurn(seq int64, d *TurnStart) {
	sc.Partial = ""
	if d.Continues != 0 && d.Continues == sc.Turn.N {
		sc.Turn.Open, sc.Turn.Since = true, seq
		sc.Turn.Status, sc.Turn.Reason, sc.Turn.Error = "", "", nil
	} else {
		sc.Turn = Turn{N: d.Turn, Open: true, Since: seq, First: sc.heard}
		sc.InStep, sc.Tries = false, 0
	}
	sc.heard = len(sc.Entries)
}

func (sc *Scope) hear(e Event, d UserMessage, task string) {
	if d.Source == FromTask {
		d.Text = task
	}
	sc.Entries = append(sc.Entries, Entry{Seq: e.Seq, Time: e.Time, User: &d})
	if d.Source == FromAgent {
		sc.heard = len(sc.Entries)
	}
}

func (sc *Scope) reply(e Event, d *AssistantMessage) {
	r := &Reply{AssistantMessage: *d}
	for i, c := range (message.Message{Parts: d.Parts}).Calls() {
		r.Calls = append(r.Calls, &Call{ID: CallID{Reply: e.Seq, Index: i}, Wire: c})
	}
	sc.Entries = append(sc.Entries, Entry{Seq: e.Seq, Time: e.Time, Reply: r})
	sc.heard = len(sc.Entries)
	sc.Steps++
	sc.Turn.Steps++
	sc.Tries, sc.Partial = 0, ""
}

// call finds a call; those of the last replies are the ones asked for.
func (sc *Scope) call(id CallID) *Call {
	for i := len(sc.Entries) - 1; i >= 0 && sc.Entries[i].Seq >= id.Reply; i-- {
		if e := sc.Entries[i]; e.Seq == id.Reply && e.Reply != nil && id.Index < len(e.Reply.Calls) {
			return e.Reply.Calls[id.Index]
		}
	}
	return nil
}
