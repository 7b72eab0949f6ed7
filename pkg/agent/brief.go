package agent

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"kagent/pkg/message"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// What a child is told where nobody knows what its model takes, and what it is
// told at least, in characters.
const (
	toldMost  = 200_000
	toldLeast = 500
)

// toldRoom is how many characters a child may be told within the budget of a
// request. beside is what else there is to be sent with it. One that works needs
// half of it for what its tools bring, a question only room to ask again.
func toldRoom(budget, beside int, works bool) int {
	if budget <= 0 {
		return toldMost
	}
	room := session.Budget{Chars: budget}.Goal() - beside
	if works {
		room = min(room, budget/2)
	}
	return max(room, toldLeast)
}

// brief completes what a child begins with, so that it fits into a request.
func (r *run) brief(c Child) Child {
	if c.told == nil {
		return c
	}
	s := r.Journal.State()
	model := s.Settings.Model
	if c.Begin.Model != "" {
		model = c.Begin.Model
	}
	budget := s.ContextBudget(r.window(model))
	c.Begin.System += partsWithin(c.parts, budget/10)
	tools := slices.DeleteFunc(r.Tools.Specs(), func(t message.ToolSpec) bool { return !slices.Contains(c.Begin.Tools, t.Name) })
	beside := utf8.RuneCountInString(c.Begin.System) + beside(append(tools, c.offers...), "")
	room := toldRoom(budget, beside, len(tools) > 0)
	if c.told.size() <= room {
		c.Begin.Task, c.Begin.Asked = c.told.String(), ""
		return c
	}
	if slices.Contains(c.Begin.Tools, tool.ReadFileName) {
		c.Begin.Artifacts = r.keep(c.told, room)
	}
	c.Begin.Task = c.told.within(room)
	return c
}

// keep puts the sections that will be cut where read_file finds the whole.
func (r *Runner) keep(b *brief, room int) (all []message.Artifact) {
	if r.Artifacts == nil {
		return nil
	}
	for i, share := range b.shares(room) {
		if s := &b.sections[i]; share < utf8.RuneCountInString(s.text) {
			if a, ok := r.kept(s.text); ok {
				s.kept, all = tool.ArtifactPath(a), append(all, a)
			}
		}
	}
	return all
}

// kept makes an artifact of a text. Where that can't be, less is told, and the
// note says how much is missing.
func (r *Runner) kept(text string) (message.Artifact, bool) {
	a, err := r.Artifacts.Create()
	if err != nil {
		return message.Artifact{}, false
	}
	defer a.Discard()
	if _, err := io.WriteString(a, text); err != nil {
		return message.Artifact{}, false
	}
	kept, err := a.Keep()
	return kept, err == nil
}

// partsWithin lists the parts of a work in about limit characters, 0 for any.
func partsWithin(lines []string, limit int) string {
	if len(lines) == 0 {
		return ""
	}
	most := max(limit/len(lines), 60)
	var b strings.Builder
	b.WriteString("\n\nThe agents and their parts:\n")
	for _, line := range lines {
		if limit > 0 {
			line = clip(line, most)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
