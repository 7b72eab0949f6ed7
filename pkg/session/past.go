package session

// Past is the part of a conversation that a summary may take the place of.
type Past struct {
	Entries []Entry
	Turns   int   // that end in it
	Before  int64 // as ContextCompacted says it
	Chars   int   // what it adds to a request
}

// Past returns all but what has to stay as it was said: the user's words in a
// turn that goes on, the last reply with what was brought for it, an answer
// that is not whole. Of that turn's steps the last ones stay too, as many as
// keep characters hold.
func (sc *Scope) Past(keep int) Past {
	end := sc.tail()
	for begin := sc.goesOn(); end > begin; end-- {
		whole, _ := sc.Entries[end-1].size()
		if keep -= whole; keep < 0 || !sc.unfinished() {
			break
		}
	}
	return sc.past(end)
}

// PastBefore returns what of it stands before a number, as Past had said it.
func (sc *Scope) PastBefore(before int64) Past {
	end := 0
	for end < sc.tail() && sc.Entries[end].Seq < before {
		end++
	}
	return sc.past(end)
}

func (sc *Scope) past(end int) Past {
	var p Past
	open, begin := sc.unfinished(), sc.goesOn()
	for i, e := range sc.Entries[:end] {
		if open && i >= begin && e.spoken() {
			continue
		}
		whole, _ := e.size()
		p.Entries, p.Before, p.Chars = append(p.Entries, e), e.Seq+1, p.Chars+whole
		if sc.nextTurn(i) == i+1 && (i < begin || !open) {
			p.Turns++
		}
	}
	return p
}
