package session

import (
	"fmt"
	"strconv"
	"strings"
)

// Question names the next question of a kind: "plan-1", then "plan-2". Where it
// has to be asked again in other words, it is "plan-1/try-2".
func (sc *Scope) Question(kind string) string {
	return sc.ChildScope(fmt.Sprintf("%s-%d", kind, sc.Concluded(kind)+1))
}

// A question is what the name of a child tells of it: "node/x/plan-2/try-3" is
// the third try at the second question for a plan of "node/x".
type question struct {
	parent, kind string
	n, try       int
}

// questionOf reads a name; kind is "" where it is no question's.
func questionOf(name string) question {
	q := question{try: 1}
	rest, last := cutLast(name, "/")
	if kind, n := numbered(last); kind == "try" {
		q.try = n
		rest, last = cutLast(rest, "/")
	}
	if kind, n := numbered(last); kind != "task" { // that is a node's, see NodeScope
		q.parent, q.kind, q.n = rest, kind, n
	}
	return q
}

func cutLast(s, sep string) (before, after string) {
	i := strings.LastIndex(s, sep)
	return s[:max(i, 0)], s[i+1:]
}

func numbered(s string) (word string, n int) {
	word, number := cutLast(s, "-")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return "", 0
	}
	return word, n
}

// Asks reports whether a child is a question of its parent, and no part of the
// work.
func (s *State) Asks(sc *Scope) bool {
	q := questionOf(sc.Name)
	return sc.Name != "" && q.kind != "" && s.Scope(q.parent) != nil
}

// overtaken reports whether nobody waits for the answer to a question any more:
// it was asked anew, or the talk that it belongs to has gone on without it.
func (s *State) overtaken(sc *Scope) bool {
	if !s.Asks(sc) {
		return false
	}
	q := questionOf(sc.Name)
	parent := s.Scope(q.parent)
	if q.n <= parent.Concluded(q.kind) {
		return true
	}
	again := parent.ChildScope(fmt.Sprintf("%s-%d/try-%d", q.kind, q.n, q.try+1))
	n := len(parent.Entries)
	return s.Scope(again) != nil || n > 0 && parent.Entries[n-1].Seq > sc.First
}
