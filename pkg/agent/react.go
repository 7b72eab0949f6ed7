package agent

import (
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// How often a turn, since it was begun or went on after it had stopped by
// itself, may ask again for a reply that was cut at the output limit, or how
// often it may get one that says nothing.
const (
	maxContinued = 3
	maxBlank     = 2
)

// React is the plain loop: calls pending, run them; a reply without calls is
// the answer; else ask the model.
func React(s *session.State, scope string) Action {
	sc := s.Scope(scope)
	if sc == nil { // nothing happened in it yet
		return CallModel{}
	}
	r := sc.LastReply()
	if filtered(r) {
		// Its calls are not run either.
		return blame(r, session.Failed, session.ReasonContentFilter, "the model, or the service before it, refused to answer")
	}
	if calls := sc.Pending(); len(calls) > 0 {
		return CallTools{calls}
	}
	switch {
	case r == nil || len(r.Calls) > 0:
		return CallModel{}
	case noRoom(s)(r):
		if replies(s, sc, noRoom(s)) >= maxBlank {
			return blame(r, session.Paused, session.ReasonContextLength, "the model's window is full: it has no room for an answer")
		}
		return CallModel{}
	case r.Stop == message.StopLength:
		if replies(s, sc, unfinished) > maxContinued {
			return blame(r, session.Paused, session.ReasonMaxOutput, "the answer was cut at the output limit again and again"+advice(scope, "a resume goes on with it, --max-output allows longer pieces"))
		}
		return Record{[]session.Data{&session.UserMessage{Source: session.FromAgent, Text: prompt("continue")}}}
	case r.Blank():
		if replies(s, sc, (*session.Reply).Blank) >= maxBlank || replies(s, sc, unfinished) > maxContinued {
			return blame(r, session.Failed, session.ReasonIncomplete, "the model gave no answer when it was asked for one, twice"+advice(scope, "another prompt or another model may help"))
		}
		return CallModel{}
	}
	return finish(session.Completed, "")
}

// advice is for who reads how the session has ended, not a child of it.
func advice(scope, what string) string {
	if scope != "" {
		return ""
	}
	return "; " + what
}

func filtered(r *session.Reply) bool {
	return r != nil && (r.Stop == message.StopFilter || r.Stop == message.StopRefusal)
}

func unfinished(r *session.Reply) bool { return r.Stop == message.StopLength || r.Blank() }

// replies counts those at the end of the conversation, since the turn was begun
// or gone on with after it had stopped by itself, that are as like says.
func replies(s *session.State, sc *session.Scope, like func(*session.Reply) bool) int {
	n := 0
	for i := len(sc.Entries) - 1; i >= 0 && sc.Entries[i].Seq > s.Since(sc); i-- {
		switch e := sc.Entries[i]; {
		case e.Reply != nil && like(e.Reply):
			n++
		case e.Reply != nil || e.User.Source != session.FromAgent:
			return n
		}
	}
	return n
}
