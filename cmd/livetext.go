package cmd

import (
	"bytes"
	"slices"

	"kagent/pkg/agent"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// liveText shows the session's own replies on stdout as they are streamed; what
// children say is no part of the answer.
//
// Decided on 2026-12-01: what went out can't be taken back, and to hold a reply
// back until it is whole would be no streaming. When an attempt fails of which
// something was shown, the text of the next one is held back as long as it says
// the same: then stdout has the reply once, as if nothing had happened. At the
// first difference the line is ended, stderr says that what was shown is void,
// and the reply is shown from its beginning. On a terminal whose line was broken
// by progress in between it is shown from the beginning in any case. A reply that
// goes on with one that was cut at the output limit is one with it.
type liveText struct {
	write func(text string)
	fresh func() bool // whether what is written next begins a line
	lined bool        // progress goes to the same terminal, on lines of its own
	warn  func(format string, args ...any)
	state *session.State

	base    string // of the answer, which this reply goes on with
	said    []byte // base, and this attempt's text, while it is compared with shown
	shown   []byte // of the reply, with base
	model   string // that said it
	behind  bool   // said is not shown yet
	retried bool   // shown is of an earlier attempt
	open    bool   // the reply has begun and not ended
	spoke   bool   // something has gone to stdout
}

func (l *liveText) observe(scope string, d session.Data) {
	if l == nil || scope != "" {
		return
	}
	switch d := d.(type) {
	case *session.StepStart:
		l.begin()
	case *session.RequestRetried:
		if !d.GivenUp {
			l.again()
		}
	case *session.AssistantMessage:
		l.settle(d)
	}
}

// begin is before the first attempt at a reply, or one by another run of the turn.
func (l *liveText) begin() {
	if l.open {
		l.again()
		return
	}
	l.base = continued(l.state.Main())
	if l.base == "" || l.base != string(l.shown) {
		l.shown = l.shown[:0] // it stays, on a line of its own
	}
	l.said, l.behind = []byte(l.base), true
}

// continued is what an answer says that was cut at the output limit and is gone
// on with.
func continued(sc *session.Scope) string {
	for _, e := range slices.Backward(sc.Entries) {
		switch {
		case e.Reply != nil && e.Reply.Stop == message.StopLength && len(e.Reply.Calls) == 0:
			return sc.Answer()
		case e.Reply != nil && e.Reply.Blank():
		case e.Reply != nil || e.User.Source != session.FromAgent:
			return ""
		}
	}
	return ""
}

func (l *liveText) again() {
	l.said, l.behind = []byte(l.base), true
	l.retried = l.open
}

// add takes what is streamed.
func (l *liveText) add(d agent.Delta) {
	l.open = true
	if !l.behind {
		l.put(d.Text, d.Model)
		return
	}
	l.said = append(l.said, d.Text...)
	if !bytes.HasPrefix(l.shown, l.said) || l.broken() {
		l.catchUp(d.Model)
	}
}

// settle shows what is missing of a reply that has come.
func (l *liveText) settle(d *session.AssistantMessage) {
	if l.behind {
		l.said = append([]byte(l.base), message.Message{Parts: d.Parts}.Text()...)
		if !bytes.Equal(l.said, l.shown) {
			l.catchUp(d.Model)
		}
	}
	l.open, l.behind, l.retried = false, false, false
}

// catchUp shows what is said and was held back.
func (l *liveText) catchUp(model string) {
	if l.retried && (!bytes.HasPrefix(l.said, l.shown) || l.broken()) {
		l.void(model)
	}
	if len(l.shown) == 0 {
		l.endLine()
	}
	l.behind, l.retried = false, false
	l.put(string(l.said[len(l.shown):]), model)
}

// broken reports whether progress has cut through the line that was shown last.
func (l *liveText) broken() bool {
	return l.retried && l.lined && l.fresh() && len(l.shown) > 0 && !bytes.HasSuffix(l.shown, []byte("\n"))
}

func (l *liveText) void(model string) {
	l.endLine()
	if model == l.model {
		l.warn("warning: the reply shown so far is void, it begins again")
	} else {
		l.warn("warning: the reply shown so far is void, %s answers from the beginning", oneLine(model, 100))
	}
	l.shown = l.shown[:0]
}

func (l *liveText) put(text, model string) {
	if text == "" {
		return
	}
	l.write(text)
	l.shown = append(l.shown, text...)
	l.model, l.spoke = model, true
}

func (l *liveText) endLine() {
	if l.spoke && !l.fresh() {
		l.write("\n")
	}
}

// end ends what was shown; an answer that was not is shown last.
func (l *liveText) end(answer *string) {
	if answer != nil && !bytes.Contains(l.shown, []byte(*answer)) {
		l.endLine()
		l.put(*answer, "")
	}
	l.endLine()
}

// begun reports whether something was shown.
func (l *liveText) begun() bool { return l != nil && l.spoke }

// cut reports whether what was shown last is of a reply that never came.
func (l *liveText) cut() bool { return l.begun() && l.open && len(l.shown) > len(l.base) }
