package session

import (
	"kagent/pkg/message"
)

// Apply folds e into the state. It is total: every event, in any order, leads
// to a state; what makes no sense in it changes nothing but the counters of
// the log itself. The same function serves the live run and the replay, which
// is why a resume can be trusted.
func (s *State) Apply(e Event) {
	s.work(e)
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
		if d.Settings.Model != s.Settings.Model {
			s.measured = measured{} // another model has other tokens
		}
		s.Settings = d.Settings
	case *TurnStart:
		if sc.startTurn(e.Seq, d) && sc.Name == "" {
			s.used.begin(len(s.Denied))
		}
	case *TurnEnd:
		t := &sc.Turn
		t.Open, t.Status, t.Reason, t.Error, t.RetryAt = false, d.Status, d.Reason, d.Error, d.RetryAt
		t.Ended = e.Time
		t.N = max(t.N, d.Turn)
	case *StepStart:
		sc.InStep, sc.partial = true, nil
		sc.Tries++
	case *StepEnd:
		sc.InStep = false
		s.Attempts = 0
	case *UserMessage:
		if sc.Name == "" && d.Source == FromUser && blank(s.Task) { // of a fork that kept nothing
			s.Task = d.Text
		}
		sc.hear(e, *d, s.Task)
		s.take(d.Inbox)
	case *RequestHeader:
		sc.sent, sc.Asked = d.Chars, d.Chars
	case *RequestRetried:
		sc.retry(d)
	case *AssistantChunk:
		sc.partial = append(sc.partial, d.Text...)
	case *AssistantMessage:
		sc.reply(e, d)
		s.Iterations++
		s.Usage = s.Usage.Add(d.Usage)
		s.spend(d.CostUSD)
		s.measure(sc, d)
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
	case *Repaired:
		sc.owe(d.Note)
	case *Imported:
		sc.owe(d.Note)
		s.Iterations += max(d.Iterations, 0)
		s.ToolCalls += max(d.ToolCalls, 0)
		s.Usage = s.Usage.Add(d.Usage)
	case Unknown:
		s.UnknownOf = append(s.UnknownOf, d.Kind)
	default:
		s.conclude(sc, e)
	}
	sc.pay(e)
	if n := len(sc.Entries); n > 0 && sc.Name == "" {
		s.spoken = s.spoken || sc.Entries[n-1].Reply != nil || sc.Entries[n-1].spoken()
	}
}

// conclude takes in what an agent concluded.
func (s *State) conclude(sc *Scope, e Event) {
	switch d := e.Data.(type) {
	case *ChildCreated:
		if sc.Child == nil && sc.Name != "" {
			sc.Child = d
			sc.Entries = append(sc.Entries, Entry{Seq: e.Seq, Time: e.Time, User: &UserMessage{Source: FromTask, Text: d.Task}})
		}
	case *PlanSet:
		if sc.Work.setPlan(e.Seq, d) {
			sc.conclude(d.From)
		}
	case *RouteSet:
		sc.Work.Route = d
		sc.conclude(d.From)
	case *GraphSet:
		sc.Work.Graph = d
		sc.conclude(d.From)
	case *VerdictGiven:
		sc.Work.Verdicts = append(sc.Work.Verdicts, *d)
		sc.conclude(d.From)
	case *AnswerAdopted:
		s.adopt(sc, e, d.From)
	case *ApprovalGiven:
		sc.Work.Approved = true
	case *ContextTrimmed:
		sc.trim(d)
	case *ContextCompacted:
		s.compact(sc, d)
	case *CompactFailed:
		s.compactFailed(sc, d)
	}
}

// adopt makes what a child said last the scope's own reply.
func (s *State) adopt(sc *Scope, e Event, from string) {
	child := s.scopes[from]
	if child == nil || child == sc {
		return
	}
	said := AssistantMessage{Parts: []message.Part{message.Text(child.Answer())}, Stop: message.StopEnd, Model: s.Settings.Model}
	sc.Entries = append(sc.Entries, Entry{Seq: e.Seq, Time: e.Time, Reply: &Reply{AssistantMessage: said}})
	sc.heard, sc.answer = len(sc.Entries), ""
	sc.conclude(from)
}

func (s *State) scope(name string) *Scope {
	if s.scopes == nil {
		s.scopes = map[string]*Scope{}
	}
	sc := s.scopes[name]
	if sc == nil {
		sc = &Scope{Name: name, First: s.Seq, Created: s.Updated}
		s.scopes[name] = sc
	}
	sc.Updated = s.Updated
	return sc
}

func (s *State) spend(cost *float64) {
	if cost == nil {
		s.Unpriced++
		return
	}
	s.Spent += *cost
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
	case OutcomeOK:
		s.used.success(c.Wire.Name)
		s.ToolCalls++
	default:
		s.ToolCalls++
	}
}

// startTurn opens a turn and reports whether it is another one.
func (sc *Scope) startTurn(seq int64, d *TurnStart) (fresh bool) {
	fresh = d.Continues == 0 || d.Continues != sc.Turn.N
	sc.partial = nil
	if fresh || sc.Turn.stopped() { // what is given now may be another model
		sc.Refused, sc.Refusal, sc.Summing = 0, nil, Summing{}
	}
	sc.Work.begin(seq, sc.Turn.N == 0 || sc.Turn.Status == Completed && d.Continues == 0, sc.Entries[min(sc.heard, len(sc.Entries)):])
	if !fresh {
		sc.Turn.resume(seq)
	} else {
		sc.Turn = Turn{N: d.Turn, Open: true, Since: seq, First: sc.heard}
		sc.InStep, sc.Tries, sc.answer = false, 0, ""
	}
	sc.heard = len(sc.Entries)
	return fresh
}

// stopped reports whether a turn has ended by itself.
func (t *Turn) stopped() bool { return !t.Open && t.Status != Interrupted && t.Status != Cancelled }

// resume goes on with a turn. What it may ask for again is counted anew only
// where it had stopped by itself: one that was interrupted goes on as if
// nothing had happened.
func (t *Turn) resume(seq int64) {
	if t.stopped() {
		t.Since = seq
	}
	*t = Turn{N: t.N, Open: true, Steps: t.Steps, Since: t.Since, First: t.First}
}

// take remembers that a letter was taken up.
func (s *State) take(letter string) {
	if letter == "" {
		return
	}
	if s.taken == nil {
		s.taken = map[string]bool{}
	}
	s.taken[letter] = true
}

func (sc *Scope) hear(e Event, d UserMessage, task string) {
	if d.Source == FromTask {
		d.Text = task
		if sc.taskAt == 0 {
			sc.taskAt = e.Seq
		}
	}
	sc.Entries = append(sc.Entries, Entry{Seq: e.Seq, Time: e.Time, User: &d})
	switch {
	case d.Source == FromAgent:
	case d.Inbox != "" && sc.Turn.Open: // the turn that runs hears it
		sc.Work.add(e.Seq, d.Text)
	default:
		return
	}
	sc.heard = len(sc.Entries)
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
	sc.Tries, sc.partial, sc.answer = 0, nil, ""
}

// call finds a call of the reply that ends the conversation. Those before it
// are settled: whatever an event says of them later, what the model was told
// stays.
func (sc *Scope) call(id CallID) *Call {
	r := sc.LastReply()
	if r == nil || id.Index < 0 || id.Index >= len(r.Calls) || r.Calls[id.Index].ID != id {
		return nil
	}
	return r.Calls[id.Index]
}
