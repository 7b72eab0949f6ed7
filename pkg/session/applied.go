package session

import "kagent/pkg/message"

// The steps of Apply.

func (s *State) spend(cost *float64) {
	if cost == nil {
		s.Unpriced++
		return
	}
	s.Spent += *cost
}

// bill counts what an attempt has cost that brought no reply.
func (s *State) bill(b Billed) {
	if b.Usage != nil {
		s.Usage = s.Usage.Add(*b.Usage)
		s.spend(b.CostUSD)
	}
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
