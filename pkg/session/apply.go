package session

import (
	"cmp"

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
	switch e.Data.(type) {
	case *Created, *Opened, *Removed, *SettingsChanged, *Repaired, *Imported, Unknown:
		s.applyLife(sc, e)
	case *TurnStart, *TurnEnd, *StepStart, *StepEnd:
		s.applyTurn(sc, e)
	case *UserMessage, *RequestHeader, *RequestRetried, *AssistantChunk, *AssistantMessage:
		s.applyTalk(sc, e)
	case *ToolCall, *ToolResult, *OutcomeSettled:
		s.applyCall(sc, e)
	default:
		s.conclude(sc, e)
	}
	sc.pay(e)
	if n := len(sc.Entries); n > 0 && sc.Name == "" {
		s.spoken = s.spoken || sc.Entries[n-1].Reply != nil || sc.Entries[n-1].spoken()
	}
}

// applyLife takes in where the session comes from, who has it, and how it is set.
func (s *State) applyLife(sc *Scope, e Event) {
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
	case *Repaired:
		sc.owe(d.Note)
	case *Imported:
		sc.owe(d.Note)
		s.Iterations += max(d.Iterations, 0)
		s.ToolCalls += max(d.ToolCalls, 0)
		s.Unmetered = 0 // a file need not tell it of each reply
		s.Usage = s.Usage.Add(d.Usage)
	case Unknown:
		s.UnknownOf = append(s.UnknownOf, d.Kind)
	}
}

// applyTurn takes in how a scope's turns and steps begin and end.
func (s *State) applyTurn(sc *Scope, e Event) {
	switch d := e.Data.(type) {
	case *TurnStart:
		if sc.startTurn(e.Seq, d) && sc.Name == "" {
			s.used.begin(len(s.Denied))
		}
	case *TurnEnd:
		t := &sc.Turn
		t.Open, t.Reason, t.Error, t.RetryAt = false, d.Reason, d.Error, d.RetryAt
		t.Status = cmp.Or(d.Status, Interrupted) // no writer leaves it out; then it can be gone on with
		t.Ended = e.Time
		t.N = max(t.N, d.Turn)
	case *StepStart:
		sc.InStep, sc.partial = true, nil
		sc.Tries++
	case *StepEnd:
		sc.InStep = false
		s.Attempts = 0
	}
}

// applyTalk takes in what user and model say to each other.
func (s *State) applyTalk(sc *Scope, e Event) {
	switch d := e.Data.(type) {
	case *UserMessage:
		if sc.Name == "" && d.Source == FromUser && blank(s.Task) { // of a fork that kept nothing
			s.Task = d.Text
		}
		sc.hear(e, *d, s.Task)
		s.take(d.Inbox)
	case *RequestHeader:
		sc.sent, sc.Asked = d.Chars, d.Chars
	case *RequestRetried:
		s.bill(d.Billed)
		sc.retry(d)
	case *AssistantChunk:
		sc.partial = append(sc.partial, d.Text...)
	case *AssistantMessage:
		sc.reply(e, d)
		s.Iterations++
		if d.Usage == (message.Usage{}) {
			s.Unmetered++
		}
		s.Usage = s.Usage.Add(d.Usage)
		s.spend(d.CostUSD)
		s.measure(sc, d)
	}
}

// applyCall takes in what becomes of the calls of the last reply.
func (s *State) applyCall(sc *Scope, e Event) {
	switch d := e.Data.(type) {
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
