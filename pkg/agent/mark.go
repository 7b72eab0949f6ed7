package agent

import (
	"encoding/json"
	"fmt"
	"slices"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

func markSpec() message.ToolSpec {
	return spec(markTool, "Mark a step of the plan as done, as soon as it is.", `{"type":"object","properties":{"step":{"type":"integer","minimum":1,"description":"its number in the plan"}},"required":["step"],"additionalProperties":false}`)
}

// callsAndMarks runs what a reply asks for. Marks come last: what they say is
// done may have been called for in the same reply.
func callsAndMarks(sc *session.Scope, calls []*session.Call) Action {
	var marks, others []*session.Call
	for _, c := range calls {
		if c.Wire.Name == markTool && sc.Work.Plan != nil {
			marks = append(marks, c)
		} else {
			others = append(others, c)
		}
	}
	if len(others) > 0 {
		return CallTools{others}
	}
	plan := *sc.Work.Plan
	plan.Done = slices.Clone(plan.Done)
	var events []session.Data
	for _, c := range marks {
		step, problem := markedStep(&plan, c.Wire.Arguments)
		if problem != "" {
			events = append(events, refuse(c, session.OutcomeInvalid, problem))
			continue
		}
		if !slices.Contains(plan.Done, step-1) {
			plan.Done = append(plan.Done, step-1)
		}
		events = append(events, refuse(c, session.OutcomeOK, fmt.Sprintf("step %d is marked; %d of %d are done", step, len(plan.Done), len(plan.Steps))))
	}
	slices.Sort(plan.Done)
	return Record{append([]session.Data{&plan}, events...)}
}

// markedStep reads which step is meant, by number, as text too, or by its words.
func markedStep(plan *session.PlanSet, args string) (int, string) {
	r := recordOf(json.RawMessage(args))
	var number float64 // some services make 2.0 of 2
	text := r.text("step", "index", "number", "id")
	if json.Unmarshal(r.field("step", "index", "number", "id"), &number) != nil {
		if number = float64(slices.Index(plan.Steps, text) + 1); number == 0 {
			_, _ = fmt.Sscan(text, &number)
		}
	}
	for n := range plan.Steps {
		if float64(n+1) == number {
			return n + 1, ""
		}
	}
	return 0, fmt.Sprintf(`want {"step": N} with N from 1 to %d`, len(plan.Steps))
}
