package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// Room that is reserved in the log before an effect. A result holds up to 32
// KiB of output, which escapes and replaced bytes may double; the line of the
// call stands before it. The rest is for the lines that end the step and the
// turn. What needs more, even so, is recorded in short.
const (
	resultRoom = 64 << 10
	endRoom    = 4 << 10
)

// A Reserver is a Journal that can set room for n more bytes aside. An error
// means that they could not be written.
type Reserver interface {
	Reserve(n int64) error
}

// roomFor is what the results of a batch may need, if one of its calls has an
// effect.
func roomFor(batch []*planned) int64 {
	for _, p := range batch {
		if p.result == nil && p.tool.Traits().Class != tool.Read {
			return int64(len(batch))*resultRoom + endRoom
		}
	}
	return 0
}

// reserve sets room for results aside, beside that of other scopes' calls: a
// full disk is to stop them before, not after.
func (r *Runner) reserve(room int64) error {
	r.reserved += room
	if journal, ok := r.Journal.(Reserver); ok && room > 0 {
		if err := journal.Reserve(r.reserved); err != nil {
			r.reserved -= room
			return err
		}
	}
	return nil
}

// record appends the results that are there, in order, from *next on.
func (r *run) record(batch []*planned, next *int) error {
	for ; *next < len(batch) && batch[*next].result != nil; *next++ {
		if err := r.recordOne(batch[*next]); err != nil {
			return err
		}
	}
	return nil
}

// saveFinished closes the turn with the results that came before the end,
// still in call order; nothing that is known is lost.
func (r *run) saveFinished(rest []*planned, f Finish) error {
	for _, p := range rest {
		if p.result == nil {
			continue
		}
		if err := r.recordOne(p); err != nil {
			return err
		}
	}
	return r.end(f)
}

// shortResult is the text of a result that there was no room for.
const shortResult = 1 << 10

// recordOne appends a result. Where the disk refuses, what matters of it may
// still find room.
func (r *run) recordOne(p *planned) error {
	err := r.append(p.result)
	if err == nil {
		return nil
	}
	short := inShort(*p.result)
	if r.append(short) != nil {
		return err
	}
	p.result = short
	return nil
}

func inShort(res session.ToolResult) *session.ToolResult {
	if extra := len(res.Text) - shortResult; extra > 0 {
		res.Text = shorten(res.Text, shortResult) + "\n[the disk had no room for more of this result]"
		res.Omitted += int64(extra)
	}
	return &res
}

// unrecorded adds to an error of the journal what the calls did whose results
// it did not take: the user is told, and the resume finds them in doubt.
func unrecorded(err error, batch []*planned) error {
	if err == nil {
		return nil
	}
	for _, p := range batch {
		if what := p.untold(); what != "" {
			err = fmt.Errorf("%w; not recorded: call %s (%s) %s", err, p.call.ID, p.call.Wire.Name, what)
		}
	}
	return err
}

// untold says what became of a call with an effect that has no result in the
// log; "" where nothing happened.
func (p *planned) untold() string {
	res := p.brought
	switch {
	case res == nil, p.call.Result != nil, p.tool.Traits().Class == tool.Read, res.Text == notStarted:
		return ""
	case res.Outcome == session.OutcomeStopped:
		return "was ended while it ran: what it did by then is not known"
	}
	code := ""
	if res.ExitCode != nil {
		code = fmt.Sprintf(", exit code %d", *res.ExitCode)
	}
	line, _, _ := strings.Cut(res.Text, "\n")
	return fmt.Sprintf("ended: %s%s: %s", res.Outcome, code, shorten(line, 200))
}

// shorten takes from the middle of a text what is more than limit bytes.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := limit/2, len(text)-limit/2
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + " … " + text[tail:]
}
