package session

// Cut says what of a conversation is no longer held, and so no longer sent. The
// log has all of it.
type Cut struct {
	Before  int64 // entries before it have left, but for what the user says in an unfinished turn
	Outputs int64 // outputs of replies before it are sent as a note of their size
	Dropped int   // turns that have left and that no summary covers
	Steps   int   // steps of an unfinished turn that did
	Covered int   // turns that the summary covers
	Summary string
}

// trim follows a watermark. It only moves forward: what was left out once is
// not sent again.
func (sc *Scope) trim(d *ContextTrimmed) {
	sc.Cut.Dropped = max(sc.Cut.Dropped, d.Turns)
	sc.Cut.Steps += sc.leave(d.Before)
	sc.omit(d.Outputs)
}

// compact puts a summary in the place of what it tells of, and of the summary
// before it.
func (s *State) compact(sc *Scope, d *ContextCompacted) {
	if !blank(d.Summary) {
		sc.leave(d.Before)
		sc.Cut.Covered += max(d.Turns, 0)
		sc.Cut.Summary = d.Summary
		sc.Summing.Done++
	}
	s.summarised(sc, d.From)
}

// summarised lets go of the child that was asked for a summary: its question
// was as long as what it was about.
func (s *State) summarised(sc *Scope, from string) {
	sc.conclude(from)
	if from != "" && from != sc.Name {
		delete(s.scopes, from)
	}
}

// leave drops entries before a sequence number, further than before, and
// returns how many replies of the current turn were among them.
func (sc *Scope) leave(before int64) (steps int) {
	if before <= sc.Cut.Before {
		return 0
	}
	open, begin, from := sc.unfinished(), sc.goesOn(), sc.tail()
	first, heard := sc.Turn.First, sc.heard
	answer, kept := sc.Answer(), sc.Entries[:0]
	for i, e := range sc.Entries {
		if e.Seq >= before || i >= from || open && i >= begin && e.spoken() {
			kept = append(kept, e)
			continue
		}
		switch {
		case i < sc.Turn.First:
			first--
		case e.Reply != nil:
			steps++
		}
		if i < sc.heard {
			heard--
		}
	}
	if len(kept) == len(sc.Entries) {
		return 0
	}
	clear(sc.Entries[len(kept):])
	sc.Entries, sc.Turn.First, sc.heard = kept, first, heard
	sc.Cut.Before = max(sc.Cut.Before, before)
	sc.moves++
	if answer != sc.Answer() {
		sc.answer = answer
	}
	return steps
}

// unfinished reports whether the last turn may be gone on with.
func (sc *Scope) unfinished() bool { return sc.Turn.Open || sc.Turn.Status != Completed }

// goesOn is where the turn begins that is gone on with: the current one, or one
// before it whose last results the model has not seen.
func (sc *Scope) goesOn() int {
	i, first := sc.newest(), min(sc.Turn.First, len(sc.Entries))
	if i >= first {
		return first
	}
	for i > 0 && !sc.begins(i) {
		i--
	}
	return i
}

// begins reports whether a turn begins with an entry.
func (sc *Scope) begins(i int) bool {
	return sc.Entries[i].spoken() && (i == 0 || i == sc.Turn.First || !sc.Entries[i-1].spoken())
}

// tail is where that begins which stays whatever happens: what no turn has
// taken up, calls that wait for their results, the answer as far as it goes.
func (sc *Scope) tail() int {
	from := min(sc.heard, len(sc.Entries))
	if sc.LastReply() != nil && (sc.unfinished() || len(sc.Pending()) > 0) {
		from = min(from, len(sc.Entries)-1)
	}
	if sc.unfinished() {
		from = min(from, sc.newest(), sc.answerFrom())
	}
	return from
}

// newest is the place of the last reply if it has calls: what was brought for
// them the model has not seen. Else it is the end. A reply that says nothing may
// well have had no room to read it.
func (sc *Scope) newest() int {
	for i := len(sc.Entries) - 1; i >= 0; i-- {
		switch r := sc.Entries[i].Reply; {
		case r == nil || r.Blank():
		case len(r.Calls) > 0:
			return i
		default:
			return len(sc.Entries)
		}
	}
	return len(sc.Entries)
}

// spoken reports whether the entry is the user's own words.
func (e Entry) spoken() bool { return e.User != nil && e.User.Source != FromAgent }

// omit puts notes in the place of tool outputs that the model has seen.
func (sc *Scope) omit(before int64) {
	moved := false
	for _, e := range sc.Entries[:sc.newest()] {
		if e.Reply == nil || e.Seq >= before {
			continue
		}
		for _, c := range e.Reply.Calls {
			if note, ok := omitted(c.Result); ok {
				short := *c.Result // the event itself stays as it is
				short.Text = note
				c.Result, moved = &short, true
			}
		}
	}
	if moved {
		sc.Cut.Outputs = max(sc.Cut.Outputs, before)
		sc.moves++
	}
}
