package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

const (
	maxPlan     = 12   // steps of a plan
	maxPlanned  = 2000 // characters of a step: it is said again with every request
	maxFailing  = 2    // failing steps in a row before another plan is asked for
	maxReplans  = 3
	markTool    = "mark_step"
	setPlanTool = "set_plan"
)

// PlanSolve plans first, and then works as React does with the plan in view.
// Steps are marked by a tool, in any order; when nothing but failures come,
// another plan is asked for.
func PlanSolve(s *session.State, scope string) Action {
	sc := s.Scope(scope)
	if calls := sc.Pending(); len(calls) > 0 && !filtered(sc.LastReply()) {
		return callsAndMarks(sc, calls)
	}
	w := sc.Work
	switch {
	case w.Plan == nil:
		return makePlan(s, sc, 0, "")
	case s.Settings.ConfirmPlan && !w.Approved:
		if changes := w.Unplanned(); len(changes) > 0 {
			return makePlan(s, sc, w.Plan.Replans, "The user was shown the plan and wants it changed:\n\n"+strings.Join(changes, "\n\n"))
		}
		return because(session.Paused, session.ReasonPlan, "the plan waits for your word: resume with --approve all, or with a prompt that says what to change")
	case failing(s, sc) >= maxFailing:
		if w.Plan.Replans >= maxReplans {
			return because(session.Failed, session.ReasonIncomplete, fmt.Sprintf("no plan is left: %d of them failed", maxReplans+1))
		}
		return makePlan(s, sc, w.Plan.Replans+1, "The steps that were tried last failed:\n\n"+history(sc, w.PlanSeq))
	}
	return inView(s, sc, React(s, scope))
}

// inView shows the plan to the model, and holds an answer back that comes
// before the plan is done.
func inView(s *session.State, sc *session.Scope, a Action) Action {
	switch a := a.(type) {
	case CallModel:
		a.Note, a.Tools = progress(sc.Work.Plan), append(a.Tools, markSpec())
		return a
	case Finish:
		if a.Status != session.Completed || left(sc.Work.Plan) == 0 {
			return a
		}
		if !reminded(s, sc) {
			return Record{[]session.Data{&session.UserMessage{Source: session.FromAgent, Text: prompt("unmarked")}}}
		}
		return because(session.Failed, session.ReasonIncomplete, fmt.Sprintf("%d of the plan's %d steps are not done", left(sc.Work.Plan), len(sc.Work.Plan.Steps)))
	}
	return a
}

// makePlan asks for a plan and writes it down. What is done stays done. Only the
// plans that failed are counted, not those that the user wanted changed.
func makePlan(s *session.State, sc *session.Scope, replans int, why string) Action {
	b := briefing(sc).section("Tools that there will be", shorten(strings.Join(s.Settings.Tools, ", "), 2<<10))
	next := &session.PlanSet{Done: []int{}, Replans: replans}
	if old := sc.Work.Plan; old != nil {
		for i, step := range old.Steps {
			if slices.Contains(old.Done, i) {
				next.Done = append(next.Done, len(next.Steps))
				next.Steps = append(next.Steps, step)
			}
		}
		b.section("Steps that are done; leave them out", shorten(strings.Join(next.Steps, "\n"), 8<<10)).
			section("Why another plan is needed", why)
	}
	steps, from, ok, a := planning().ask(s, sc.Name, b)
	if a != nil {
		return a
	}
	if !ok {
		steps = []string{wholeTask}
	}
	next.Steps, next.From = append(next.Steps, steps...), from
	return Record{[]session.Data{next}}
}

// wholeTask is the one step of a plan that could not be had. Nobody could be
// told to mark it: the answer does.
const wholeTask = "Do the task."

func planning() decision[[]string] {
	return decision[[]string]{
		kind:  "plan",
		words: anywhere,
		tool:  spec(setPlanTool, "Set the plan.", `{"type":"object","properties":{"steps":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":12,"description":"what to do, in order, each in a sentence"}},"required":["steps"],"additionalProperties":false}`),
		parse: func(raw json.RawMessage) ([]string, error) {
			list := raw
			if r := recordOf(raw); r != nil {
				list = r.field("steps", "plan", "currentPlan", "revised_plan", "tasks")
			}
			steps := texts(list, "step", "description", "text", "title", "task", "name")
			switch {
			case len(steps) == 0:
				return nil, errors.New(`want {"steps": ["…", "…"]} with at least one step`)
			case len(steps) > maxPlan:
				return nil, fmt.Errorf("the plan has %d steps, at most %d are allowed: join some", len(steps), maxPlan)
			}
			for i, step := range steps {
				if n := utf8.RuneCountInString(step); n > maxPlanned {
					return nil, fmt.Errorf("step %d has %d characters, at most %d are allowed: say it shorter", i+1, n, maxPlanned)
				}
			}
			return steps, nil
		},
	}
}

// texts reads a list of texts, or of objects that hold one under some name.
func texts(list json.RawMessage, names ...string) []string {
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil {
		return nil
	}
	var out []string
	for _, item := range items {
		text := record{"": item}.text("")
		if text == "" {
			text = recordOf(item).text(names...)
		}
		if text == "" {
			return nil
		}
		out = append(out, message.Clean(text))
	}
	return out
}

// progress is how the plan stands, for the end of what is sent: what stands
// before it is the same from one request to the next.
func progress(p *session.PlanSet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[The plan: %d of %d steps are done]\n", len(p.Done), len(p.Steps))
	for i, step := range p.Steps {
		mark := " "
		if slices.Contains(p.Done, i) {
			mark = "x"
		}
		fmt.Fprintf(&b, "%d. [%s] %s\n", i+1, mark, step)
	}
	return b.String() + "\n" + prompt("planned")
}

// left counts the steps that are not done.
func left(p *session.PlanSet) int {
	if slices.Equal(p.Steps[len(p.Done):], []string{wholeTask}) {
		return 0
	}
	return len(p.Steps) - len(p.Done)
}

// reminded reports whether the model was told of unmarked steps since the plan
// was set or the work was gone on with.
func reminded(s *session.State, sc *session.Scope) bool {
	return slices.ContainsFunc(sc.Entries, func(e session.Entry) bool {
		return e.User != nil && e.User.Source == session.FromAgent && e.User.Text == prompt("unmarked") && e.Seq > max(sc.Work.PlanSeq, s.Since(sc))
	})
}

// failing counts the failing steps that end the conversation, since the plan
// was set.
func failing(s *session.State, sc *session.Scope) int {
	n := 0
	for i := len(sc.Entries) - 1; i >= 0 && sc.Entries[i].Seq > max(sc.Work.PlanSeq, s.Since(sc)); i-- {
		if r := sc.Entries[i].Reply; r == nil || !fails(r) {
			break
		}
		n++
	}
	return n
}

// fails reports whether all that a step did failed. Marks do nothing: they count
// only where there is nothing else.
func fails(r *session.Reply) bool {
	did := slices.DeleteFunc(slices.Clone(r.Calls), func(c *session.Call) bool { return c.Wire.Name == markTool })
	if len(did) == 0 {
		did = r.Calls
	}
	return len(did) > 0 && !slices.ContainsFunc(did, func(c *session.Call) bool { return c.Result != nil && !failed(c.Result) })
}
