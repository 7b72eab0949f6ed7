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
// that is not whole.
func (sc *Scope) Past() Past {
	var p Past
	open, begin := sc.unfinished(), sc.goesOn()
	for i := 0; i < sc.tail(); i++ {
		e := sc.Entries[i]
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
