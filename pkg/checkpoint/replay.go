package checkpoint

import (
	"fmt"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// replay writes the sound events of one log into another, so that they make a
// session again. Without holes it is a copy. Behind one, what refers to an
// event that is lost is left out, and what must have happened in the hole for
// the next event to make sense is written down: the end or the beginning of a
// turn, that a result is unknown.
type replay struct {
	j       *Journal
	from    string
	saved   *saved
	holes   int
	replies map[string]answered // the last reply of each scope
	set     int64               // number, in the old log, of the last event with settings
	out     Repair
	runs    []run              // where the numbers moved
	missed  []string           // tools that were called in what is lost
	refs    []message.Artifact // that the new log names
}

// answered is where a reply stood and stands, and how many holes came before.
type answered struct {
	old, new int64
	holes    int
}

// lostResult is what the model is told of a call whose result was lost and
// after which it had been asked again.
const lostResult = "The result of this call was lost with a part of the session's record. The call may have happened wholly, in part or not at all. Check before you repeat it."

// take replays one event.
func (r *replay) take(f find, e session.Event) error {
	if f.hole {
		r.holes++
	}
	first := r.j.state.Seq == 0
	if _, ok := e.Data.(*session.Created); first && !ok {
		if err := r.j.put(r.saved.created(r.out.SessionID)); err != nil {
			return err
		}
		first = false
	}
	why, err := r.fit(e, first)
	if err != nil {
		return err
	}
	if why != "" {
		r.lose(f, e, why)
		return nil
	}
	if err := r.j.put(e); err != nil {
		return err
	}
	r.moved(f.seq, r.j.state.Seq)
	switch e.Data.(type) {
	case *session.Created, *session.SettingsChanged:
		r.set = f.seq
	case *session.AssistantMessage:
		r.replies[e.Scope] = answered{old: f.seq, new: r.j.state.Seq, holes: r.holes}
	}
	r.refs = append(r.refs, session.Artifacts(e.Data)...)
	return nil
}

// fit makes an event and the new session fit each other, or says why the event
// can't be taken over.
func (r *replay) fit(e session.Event, first bool) (why string, err error) {
	rename(e, r.out.SessionID, r.from)
	switch d := e.Data.(type) {
	case *session.Created:
		if !first {
			return "the session had been created before", nil
		}
	case *session.UserMessage:
		return "", r.speak(e, d.Source == session.FromTask)
	case *session.AssistantMessage:
		if err := r.turn(e); err != nil {
			return "", err
		}
		return "", r.speak(e, false)
	case *session.StepStart, *session.RequestHeader, *session.RequestRetried, *session.AssistantChunk:
		return "", r.turn(e)
	case *session.TurnStart:
		if err := r.endTurn(e); err != nil || e.Scope != "" {
			return "", err
		}
		return "", r.begin(e)
	case *session.TurnEnd:
		return r.ended(r.scope(e), d), nil
	case *session.ToolCall:
		if why := r.call(e, &d.Call); why != "" {
			r.missed = append(r.missed, d.Tool)
			return why, nil
		}
		return "", r.turn(e)
	case *session.ToolResult:
		return r.call(e, &d.Call), nil
	case *session.OutcomeSettled:
		return r.call(e, &d.Call), nil
	case *session.ContextTrimmed:
		d.Before, d.Outputs = r.mark(d.Before), r.mark(d.Outputs)
	case *session.ContextCompacted:
		d.Before = r.mark(d.Before)
	case *session.ChildCreated:
		d.Before = r.mark(d.Before)
	}
	return "", nil
}

func (r *replay) scope(e session.Event) *session.Scope {
	if sc := r.j.state.Scope(e.Scope); sc != nil {
		return sc
	}
	return &session.Scope{}
}

// lose notes a sound event that makes no sense any more.
func (r *replay) lose(f find, e session.Event, why string) {
	r.out.Lost = append(r.out.Lost, session.Lost{
		First: f.seq, Last: f.seq, Offset: f.at, Bytes: f.next - f.at, Why: fmt.Sprintf("%s, but %s", e.Type, why),
	})
}

// call gives a call its new identity; it says why where there is no such call.
func (r *replay) call(e session.Event, id *session.CallID) string {
	was := r.replies[e.Scope]
	c := callOf(r.scope(e), session.CallID{Reply: was.new, Index: id.Index})
	switch {
	case was.old != id.Reply || c == nil:
		return "the reply with its call is lost"
	case c.Result != nil:
		return "its call has a result"
	}
	*id = c.ID
	return ""
}

// callOf finds a call of the reply that ends the conversation.
func callOf(sc *session.Scope, id session.CallID) *session.Call {
	last := sc.LastReply()
	if last == nil || id.Index < 0 || id.Index >= len(last.Calls) || last.Calls[id.Index].ID != id {
		return nil
	}
	return last.Calls[id.Index]
}

// speak makes room for what somebody says: the calls before it that lost their
// results get one, and the task comes first.
func (r *replay) speak(e session.Event, task bool) error {
	for _, c := range r.doubtful(e.Scope) {
		r.out.InDoubt = append(r.out.InDoubt, Doubt{Call: c.ID, Tool: c.Wire.Name, Told: true})
		d := &session.ToolResult{Call: c.ID, Outcome: session.OutcomeUnknown, Text: lostResult}
		if err := r.add(e, d); err != nil {
			return err
		}
	}
	if task || e.Scope != "" {
		return nil
	}
	return r.begin(e)
}

// begin lets a conversation that lost its first message begin with the task.
func (r *replay) begin(e session.Event) error {
	if r.holes == 0 || r.j.state.Main().Begun() {
		return nil
	}
	return r.add(e, &session.UserMessage{Source: session.FromTask})
}

// doubtful returns the open calls of a scope whose further events may be lost.
func (r *replay) doubtful(scope string) []*session.Call {
	sc := r.j.state.Scope(scope)
	if was, ok := r.replies[scope]; !ok || was.holes == r.holes || sc == nil {
		return nil
	}
	return sc.Pending()
}

// turn opens a turn where the event that did so is lost: only in one a model
// is asked and tools begin.
func (r *replay) turn(e session.Event) error {
	sc := r.scope(e)
	t := sc.Turn
	if r.holes == 0 || t.Open || e.Scope != "" {
		return nil
	}
	if err := r.begin(e); err != nil {
		return err
	}
	d := &session.TurnStart{Turn: t.N + 1}
	if t.N > 0 && t.Status != session.Completed && !sc.Unheard() {
		d.Turn, d.Continues = t.N, t.N
	}
	return r.add(e, d)
}

// ended says why the end of a turn can't stand: without the answer that it
// speaks of, the turn is not completed.
func (r *replay) ended(sc *session.Scope, d *session.TurnEnd) string {
	last := sc.LastReply()
	switch {
	case r.holes == 0:
	case !sc.Turn.Open:
		return "its turn is lost"
	case d.Status == session.Completed && (last == nil || len(last.Calls) > 0):
		return "its answer is lost"
	}
	return ""
}

// endTurn closes a turn whose end is lost.
func (r *replay) endTurn(e session.Event) error {
	t := r.scope(e).Turn
	if r.holes == 0 || !t.Open {
		return nil
	}
	return r.add(e, &session.TurnEnd{Turn: t.N, Status: session.Interrupted, Reason: session.ReasonCrash})
}

// add writes what is not in the old log, under the time of the event that
// called for it, so that times stay in order.
func (r *replay) add(e session.Event, d session.Data) error {
	e.Type, e.Data = d.Type(), d
	return r.j.put(e)
}
