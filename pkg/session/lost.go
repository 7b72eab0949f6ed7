package session

import "fmt"

// Lost is a part of a damaged log that a repair could not save: the events
// First to Last, at Offset of the old log, where Bytes can't be read any more.
// First is 0 where bytes were lost and no event is known to be missing; Last
// is 0 where nobody knows how far it went.
type Lost struct {
	First  int64  `json:"first"`
	Last   int64  `json:"last"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	Why    string `json:"why"`
}

// Events names the events that are missing.
func (l Lost) Events() string {
	switch {
	case l.First == 0:
		return ""
	case l.Last == 0:
		return fmt.Sprintf("event %d and what may have followed it", l.First)
	case l.First == l.Last:
		return fmt.Sprintf("event %d", l.First)
	}
	return fmt.Sprintf("events %d to %d", l.First, l.Last)
}

// What says what was lost and why, but not where.
func (l Lost) What() string {
	switch {
	case l.First == 0 && l.Bytes == 0:
		return l.Why
	case l.Bytes == 0:
		return l.Events() + ": " + l.Why
	case l.First == 0:
		return fmt.Sprintf("%d bytes, no event as far as is known: %s", l.Bytes, l.Why)
	}
	return fmt.Sprintf("%s, %d bytes: %s", l.Events(), l.Bytes, l.Why)
}

// owe has the model told of what was lost. Where calls wait for their results
// it is told after them: words between a call and its result make services
// refuse a history.
func (sc *Scope) owe(note string) {
	if note != "" {
		sc.owed = &UserMessage{Source: FromAgent, Text: note}
	}
}

// pay says what is owed, once no call waits. What the user said and no turn
// has taken up stays unheard.
func (sc *Scope) pay(e Event) {
	if sc.owed == nil || len(sc.Pending()) > 0 {
		return
	}
	unheard := sc.Unheard()
	sc.Entries = append(sc.Entries, Entry{Seq: e.Seq, Time: e.Time, User: sc.owed})
	sc.owed = nil
	if !unheard {
		sc.heard = len(sc.Entries)
	}
}
