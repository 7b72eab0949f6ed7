package agent

import (
	"slices"
	"strings"

	"kagent/pkg/tool"
)

// Calls of one reply run together, but as if they ran one after the other: what
// reads a file waits for what changes it before, and the other way round. A
// command may read and change anything. Commands run together all the same: who
// gives two of them in one reply has no order in mind, or joins them by &&.

// touches is what a call reads and changes, as far as it is known beforehand:
// a file or a directory with all below it, "" for nothing.
type touches struct {
	reads, changes string
	command        bool
}

func (p *planned) touches() touches {
	switch p.tool.Traits().Class {
	case tool.Execute:
		return touches{tool.Everywhere, tool.Everywhere, true}
	case tool.Write:
		if p.change == nil { // of a file too large, or of something else
			return touches{reads: tool.Everywhere, changes: tool.Everywhere}
		}
		return touches{reads: p.change.Path, changes: p.change.Path}
	}
	if r, ok := p.tool.(tool.FileReader); ok {
		return touches{reads: r.Reads(p.args)}
	}
	return touches{}
}

// follows reports whether t must wait for a call before it in the reply.
func (t touches) follows(before touches) bool {
	if t.command && before.command {
		return false
	}
	return meet(t.reads, before.changes) || meet(t.changes, before.reads) || meet(t.changes, before.changes)
}

// meet reports whether one of two places is the other or in it.
func meet(a, b string) bool {
	in := func(a, b string) bool { return b == tool.Everywhere || a == b || strings.HasPrefix(a, b+"/") }
	return a != "" && b != "" && (in(a, b) || in(b, a))
}

// waits reports whether a call can be run, or judged, only when those before it
// are done. What it was refused for may be what one of them changes.
func (p *planned) waits(before []touches) bool {
	if p.result != nil {
		return p.early && slices.ContainsFunc(before, func(b touches) bool { return b.changes != "" })
	}
	return slices.ContainsFunc(before, p.touches().follows)
}
