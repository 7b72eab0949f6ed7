package session

import "unicode/utf8"

// Budget bounds a request, in characters.
type Budget struct {
	Chars int  // of the whole request; 0 for no bound
	Other int  // what it holds beside the system text and the messages: tools, a note
	Hard  bool // the service has refused it: steps of the current turn may leave too
}

// Goal is what a request that passes the budget is cut to, so that the next
// ones fit as they are: what stands before them is in a service's cache. Where a
// service has refused one, nobody knows how much less would do.
func (b Budget) Goal() int {
	if b.Hard {
		return b.Chars / 2
	}
	return int(int64(b.Chars) * 7 / 10)
}

// Trim decides what of a scope is no longer sent, so that a request fits into
// a budget; nil where it fits, or nothing can be left out. In this order, and
// from the oldest on: outputs of old turns, old turns, outputs of the current
// turn that the model has seen; where it has to be hard, steps of that turn.
// What the user says in the current turn stays, and so does the last reply
// with all that was brought for it.
func (s *State) Trim(scope string, b Budget) *ContextTrimmed {
	sc := s.scopes[scope]
	if sc == nil || b.Chars <= 0 {
		return nil
	}
	t := trimmer{s: s, sc: sc, cut: sc.Cut, goal: b.Goal()}
	t.total = b.Other + s.Size(scope)
	if t.total <= b.Chars && !b.Hard {
		return nil
	}
	begin, end := sc.goesOn(), sc.tail()
	t.omit(0, min(begin, end))
	t.drop(min(begin, end))
	t.omit(begin, end)
	if b.Hard {
		t.leave(begin, end)
	}
	d := &ContextTrimmed{Turns: t.cut.Dropped, Before: t.cut.Before, Outputs: t.cut.Outputs}
	if d.Turns == sc.Cut.Dropped && d.Before == sc.Cut.Before && d.Outputs == sc.Cut.Outputs {
		return nil
	}
	return d
}

// Size is that of a scope's view in characters, or a little more.
func (s *State) Size(scope string) int {
	sc := s.scopes[scope]
	if sc == nil {
		return utf8.RuneCountInString(s.Settings.System)
	}
	n := utf8.RuneCountInString(join(s.system(sc), s.Aside(sc)))
	for _, e := range sc.Entries {
		whole, _ := e.size()
		n += whole
	}
	return n
}

// trimmer moves the watermarks until the request is as small as it should be.
type trimmer struct {
	s     *State
	sc    *Scope
	cut   Cut
	total int
	goal  int
}

// omit leaves out outputs of the entries from i up to end.
func (t *trimmer) omit(i, end int) {
	for ; i < end && t.total > t.goal; i++ {
		e := t.sc.Entries[i]
		if whole, noted := e.size(); noted < whole {
			t.total -= whole - noted
			t.cut.Outputs = max(t.cut.Outputs, e.Seq+1)
		}
	}
}

// drop leaves out whole turns of the entries up to end.
func (t *trimmer) drop(end int) {
	for i := 0; i < end && t.total > t.goal; {
		next := t.sc.nextTurn(i)
		if next > end {
			break
		}
		for ; i < next; i++ {
			t.total -= t.left(t.sc.Entries[i])
		}
		cut := t.cut
		cut.Dropped++
		t.move(cut, next)
	}
}

// nextTurn is where the turn ends that begins at i.
func (sc *Scope) nextTurn(i int) int {
	for i++; i < len(sc.Entries) && !sc.begins(i); i++ {
	}
	return i
}

// leave leaves out steps of the current turn.
func (t *trimmer) leave(i, end int) {
	for ; i < end && t.total > t.goal; i++ {
		e := t.sc.Entries[i]
		if e.spoken() {
			continue
		}
		t.total -= t.left(e)
		cut := t.cut
		if e.Reply != nil {
			cut.Steps++
		}
		t.move(cut, i+1)
	}
}

// left is the size of an entry that leaves, given the outputs that have.
func (t *trimmer) left(e Entry) int {
	whole, noted := e.size()
	if e.Seq < t.cut.Outputs {
		return noted
	}
	return whole
}

// move lets the entries before next leave; what the model is told of it counts.
func (t *trimmer) move(cut Cut, next int) {
	cut.Before = t.sc.Entries[next-1].Seq + 1
	t.total += utf8.RuneCountInString(t.s.aside(t.sc, cut)) - utf8.RuneCountInString(t.s.aside(t.sc, t.cut))
	t.cut = cut
}
