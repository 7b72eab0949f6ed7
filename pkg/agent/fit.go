package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// room is what a scope's request has to fit into.
type room struct {
	window int // of its model, in tokens; 0: not known
	other  int // characters that are sent beside the conversation: tools, a note
}

// fit lets a model be asked where the request fits. Where it does not, a
// summary is asked for, then things are left out; see session.State.Trim.
// Like a strategy it is a pure function of the state.
func fit(s *session.State, scope string, ask CallModel, in room) Action {
	sc := s.Scope(scope)
	if sc == nil || ask.Spare {
		return ask
	}
	if child := s.Scope(sc.Question(summaryKind)); child != nil && child.Ended() {
		return concludeSummary(sc, child, true)
	}
	b := session.Budget{Chars: s.ContextBudget(in.window), Other: in.other}
	if refused := refused(s, sc); refused > 0 {
		b.Hard = true
		if b.Chars <= 0 || refused < b.Chars {
			b.Chars = refused
		}
	}
	if b.Chars <= 0 {
		return ask
	}
	size := in.other + s.Size(scope)
	if size <= b.Goal() || !b.Hard && size <= b.Chars { // a refused one was cut meanwhile
		return ask
	}
	if a := summarise(s, sc, size, b.Chars); a != nil {
		return a
	}
	if d := s.Trim(scope, b); d != nil {
		return Record{[]session.Data{d}}
	}
	if b.Hard && size >= b.Chars {
		return tooLong(s, sc, size, in)
	}
	return ask
}

// refused is the size of the request that did not fit into the model, as far as
// its service said so: in words, or by a reply for which there was no room.
func refused(s *session.State, sc *session.Scope) int {
	if r := sc.LastReply(); r != nil && noRoom(s)(r) {
		return max(sc.Asked, 1)
	}
	return sc.Refused
}

// noRoom reports of a reply whether it was cut before its first word: the
// request had filled the window. Not where the answer may be as short as that,
// nor where nobody knows how long it was.
func noRoom(s *session.State) func(*session.Reply) bool {
	limit := int64(s.Settings.Sampling.MaxOutput)
	return func(r *session.Reply) bool {
		short := r.Usage != (message.Usage{}) && r.Usage.Output < 16 && (limit == 0 || r.Usage.Output < limit)
		return short && r.Stop == message.StopLength && len(r.Parts) == 0
	}
}

// longestQuote is how much of a refusal is repeated: it is in the log.
const longestQuote = 260

// tooLong ends a turn whose request can't be made to fit.
func tooLong(s *session.State, sc *session.Scope, size int, in room) Action {
	system := utf8.RuneCountInString(s.View(sc.Name).System)
	why := fmt.Sprintf("the request is too long for %s, and nothing more can be left out: of its %d characters %d are tool descriptions and %d the system prompt",
		modelOf(s, sc), size, in.other, system)
	if in.window > 0 {
		why += fmt.Sprintf("; the model takes %d tokens", in.window)
	}
	if sc.Refusal != nil {
		why += "; it said: " + strings.TrimSuffix(clip(sc.Refusal.Message, longestQuote), ".")
	}
	f := because(session.Paused, session.ReasonContextLength, why+". A model with a larger window, fewer tools or a shorter prompt may help")
	if sc.Refusal != nil {
		f.End.Error.Status = sc.Refusal.Status
	}
	return f
}

// size is that of a whole request, in characters.
func size(req provider.Request) int {
	return session.View{System: req.System, Messages: req.Messages}.Chars() + beside(req.Tools, req.Note)
}

// beside is the size of what is sent beside the conversation.
func beside(tools []message.ToolSpec, note string) int {
	n := utf8.RuneCountInString(note)
	for _, t := range tools {
		n += len(t.Name) + utf8.RuneCountInString(t.Description) + len(t.Schema)
	}
	return n
}
