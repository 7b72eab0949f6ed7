package cmd

import (
	"fmt"
	"strings"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// showPlan prints what the agent has concluded about its task.
func (a *app) showPlan(store *checkpoint.Store, id string) error {
	v, err := store.Read(id)
	if err != nil {
		return err
	}
	state := v.State.AgentState(session.Look{Dead: v.Owner == nil})
	if a.format == "json" {
		if state == nil {
			state = struct{}{}
		}
		a.out.json(state)
		return nil
	}
	p := planText{a.out}
	for _, w := range agent.Fallbacks(v.State) {
		p.line("%s", oneLine(w, 1000))
	}
	switch s := state.(type) {
	case *session.PlanState:
		p.plan(s.CurrentPlan, s.CompletedSteps, s.ReplanCount)
	case *session.FusionState:
		p.fusion(s)
	case *session.OrchestratorState:
		p.graph(s)
	default:
		a.say("the agent %s makes no plan", v.State.Settings.Agent)
	}
	return nil
}

// planText is what was concluded, for people.
type planText struct{ out *output }

func (p planText) line(format string, args ...any) { p.out.text(fmt.Sprintf(format, args...)) }

func (p planText) plan(steps []string, done []int, replans int) {
	title := fmt.Sprintf("plan: %d of %s done", len(done), plural(int64(len(steps)), "step"))
	if len(steps) == 0 {
		title = "plan: none yet"
	}
	if replans > 0 {
		title += ", replaced " + plural(int64(replans), "time")
	}
	p.line("%s", title)
	for i, step := range steps {
		mark := " "
		if len(done) > 0 && done[0] == i {
			mark, done = "x", done[1:]
		}
		p.line("  [%s] %d. %s", mark, i+1, oneLine(step, 200))
	}
}

func (p planText) fusion(s *session.FusionState) {
	if r := s.RoutingResult; r != nil {
		p.line("route: %s, %s", oneLine(r.Complexity, 40), oneLine(r.Reason, 300))
	}
	p.line("phase: %s", s.Phase)
	if s.RoutingResult != nil && s.RoutingResult.Complexity == session.Complex {
		p.plan(s.CurrentPlan, s.CompletedSteps, 0)
	}
	for _, v := range s.ReflectionHistory {
		p.line("verdict: %s", verdict(v.OK, v.Feedback))
	}
}

// verdict says a verdict in a line. A no without a word stands for one that could
// not be had.
func verdict(ok bool, feedback string) string {
	said := "not good enough"
	switch {
	case ok:
		said = "good"
	case feedback == "":
		said = "none was given"
	}
	return strings.TrimSuffix(said+": "+oneLine(feedback, 500), ": ")
}

func (p planText) graph(s *session.OrchestratorState) {
	if s.TaskGraph == nil {
		p.line("graph: none yet")
		return
	}
	p.line("graph: round %d, %d of %s done", s.CurrentRound, len(s.CompletedNodes), plural(int64(len(s.TaskGraph.Nodes)), "node"))
	for _, n := range s.TaskGraph.Nodes {
		p.node(n)
	}
}

func (p planText) node(n session.TaskNode) {
	line := fmt.Sprintf("  %-11s  %s", n.Status, oneLine(n.ID, 60))
	if n.Attempts > 1 {
		line += fmt.Sprintf(", attempt %d", n.Attempts)
	}
	if n.StartedAt != nil && n.EndedAt != nil {
		line += ", " + span(n.EndedAt.Sub(*n.StartedAt))
	} else if n.StartedAt != nil {
		line += ", since " + n.StartedAt.Local().Format(time.DateTime)
	}
	p.line("%s: %s", line, oneLine(n.Task, 200))
	for _, need := range n.Needs {
		p.line("               after %s", oneLine(need, 60))
	}
	if n.Error != "" {
		p.line("               %s", oneLine(n.Error, 300))
	}
}

// span shows a time that something took.
func span(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
