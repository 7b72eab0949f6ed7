package agent

import (
	"fmt"
	"strings"

	"kagent/pkg/session"
)

// How much of what came before a child is told at most, in bytes.
const (
	beforeLimit  = 8 << 10
	historyLimit = 6 << 10
)

// briefing begins what a child is told of the work: the task with what the user
// added to it, and what was said before it.
func briefing(sc *session.Scope) *brief {
	var b brief
	return b.section("Earlier in this conversation", shorten(before(sc), beforeLimit)).
		lead("Task", sc.Work.Whole())
}

// before is what was said in the turns before the one that began the work.
func before(sc *session.Scope) string {
	var b strings.Builder
	if sc.Cut.Summary != "" {
		fmt.Fprintf(&b, "Summary: %s\n\n", shorten(sc.Cut.Summary, 6<<10))
	}
	for _, e := range sc.Entries {
		switch {
		case e.Seq >= sc.Work.From:
			return b.String()
		case e.User != nil && e.User.Source != session.FromAgent:
			fmt.Fprintf(&b, "User: %s\n\n", shorten(e.User.Text, 2<<10))
		case e.Reply != nil && len(e.Reply.Calls) == 0:
			fmt.Fprintf(&b, "You: %s\n\n", shorten(e.Reply.Text(), 4<<10))
		}
	}
	return b.String()
}

// history lists the tool calls of the work, newest last, with how they ended.
func history(sc *session.Scope, from int64) string {
	var lines []string
	for _, e := range sc.Entries {
		if e.Reply == nil || e.Seq <= from {
			continue
		}
		for _, c := range e.Reply.Calls {
			if c.Result == nil || c.Wire.Name == markTool {
				continue
			}
			line := fmt.Sprintf("%s %s: %s", c.Wire.Name, shorten(flat(c.Wire.Arguments), 200), c.Result.Outcome)
			if failed(c.Result) {
				line += ": " + shorten(flat(c.Result.Text), 300)
			}
			lines = append(lines, line)
		}
	}
	if n := len(lines) - 40; n > 0 {
		lines = append([]string{fmt.Sprintf("(%d earlier ones are left out)", n)}, lines[n:]...)
	}
	return strings.Join(lines, "\n")
}

func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// failed reports whether a call came to nothing, by what its tool said of it:
// never by its words.
func failed(r *session.ToolResult) bool {
	return r.Outcome != session.OutcomeOK || r.ExitCode != nil && *r.ExitCode != 0
}
