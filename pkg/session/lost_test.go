package session_test

import (
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

func TestWhatWasLostIsSaid(t *testing.T) {
	for want, l := range map[string]session.Lost{
		"event 5, 70 bytes: torn":                                {First: 5, Last: 5, Offset: 9, Bytes: 70, Why: "torn"},
		"events 5 to 7: missing":                                 {First: 5, Last: 7, Why: "missing"},
		"event 5 and what may have followed it, 3 bytes: torn":   {First: 5, Bytes: 3, Why: "torn"},
		"3 bytes, no event as far as is known: not a whole line": {Bytes: 3, Why: "not a whole line"},
		"event 7 does not follow event 6":                        {Offset: 9, Why: "event 7 does not follow event 6"},
	} {
		check(t, "what was lost", l.What(), want)
	}
}

func repaired(note string) session.Data { return &session.Repaired{From: "old", Note: note} }

func last(l *log) message.Message {
	m := l.main().Messages()
	return m[len(m)-1]
}

func TestTheModelIsToldOfALossWhenNoCallWaits(t *testing.T) {
	l := newLog(task(), turn(1))
	r := l.add(reply(message.StopCalls, "", asks("a", "x"), asks("b", "y")))
	l.add(begun(id(r, 0), 1), repaired("events are lost"))
	check(t, "the last to speak", last(l).Role, message.Assistant)
	l.add(brought(id(r, 0), session.OutcomeUnknown))
	check(t, "pending calls", len(l.main().Pending()), 1)
	l.add(brought(id(r, 1), session.OutcomeOK))
	check(t, "the note", last(l).Text(), "events are lost")
	l.add(reply(message.StopEnd, "I see"), ends(1, session.Completed, ""))
	check(t, "messages", len(l.main().Messages()), 6)
	check(t, "the answer", l.main().Answer(), "I see")
}

func TestALossDoesNotChangeHowTheSessionStands(t *testing.T) {
	l := newLog(task(), turn(1), reply(message.StopEnd, "yes"), ends(1, session.Completed, ""), repaired("lost"))
	check(t, "the status", first(l.state.Status()), session.Completed)
	check(t, "the answer", l.main().Answer(), "yes")
	l.add(says("and now?"), repaired("lost again"))
	check(t, "unheard", l.main().Unheard(), true)
	check(t, "the status", first(l.state.Status()), session.Active)
	l.add(turn(2))
	check(t, "unheard", l.main().Unheard(), false)
}

func TestWithoutALossNothingIsTold(t *testing.T) {
	l := newLog(task(), turn(1), repaired(""))
	check(t, "entries", len(l.main().Entries), 1)
	for _, m := range l.main().Messages() {
		check(t, "a note", strings.Contains(m.Text(), "lost"), false)
	}
}
