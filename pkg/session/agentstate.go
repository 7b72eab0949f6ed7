package session

import (
	"cmp"
	"slices"
	"strings"
)

// What an agent has concluded so far, in the form that users see. It is derived
// from the state at each look and stored nowhere.

// PlanState is how plan-solve stands. CurrentStep is the first that is not
// done, the number of steps where all are.
type PlanState struct {
	CurrentPlan    []string `json:"currentPlan"`
	CompletedSteps []int    `json:"completedSteps"`
	ReplanCount    int      `json:"replanCount"`
	CurrentStep    int      `json:"currentStep"`
}

// FusionState is how fusion stands.
type FusionState struct {
	RoutingResult     *RoutingResult `json:"routingResult"`
	CurrentPlan       []string       `json:"currentPlan"`
	CompletedSteps    []int          `json:"completedSteps"`
	ReflectionHistory []Reflection   `json:"reflectionHistory"`
	Phase             string         `json:"phase"`
}

// RoutingResult says what a task was taken for.
type RoutingResult struct {
	Complexity string `json:"complexity"`
	Reason     string `json:"reason"`
}

// Reflection is a verdict on an answer.
type Reflection struct {
	OK       bool   `json:"ok"`
	Feedback string `json:"feedback"`
	Reply    int64  `json:"reply"`
}

// The phases of fusion.
const (
	PhaseRouting    = "routing"
	PhasePlanning   = "planning"
	PhaseExecuting  = "executing"
	PhaseReflecting = "reflecting"
)

// OrchestratorState is how the orchestrator stands. SynthesisResult is the
// answer that was made of the nodes' results.
type OrchestratorState struct {
	TaskGraph       *TaskGraph        `json:"taskGraph"`
	CompletedNodes  map[string]string `json:"completedNodes"`
	CurrentRound    int               `json:"currentRound"`
	SynthesisResult *string           `json:"synthesisResult"`
}

// Look is how somebody looks at what an agent has concluded.
type Look struct {
	Dead  bool // nobody runs the session
	Brief bool // texts of a task graph are cut: they stand in the log
}

// AgentState is a *PlanState, *FusionState or *OrchestratorState, by the
// session's agent, and nil for agents that conclude nothing.
func (s *State) AgentState(look Look) any {
	w := &s.Main().Work
	switch s.Settings.Agent {
	case "plan-solve":
		return w.planState()
	case "fusion":
		return s.fusionState(w)
	case "orchestrator":
		return s.orchestratorState(w, look)
	}
	return nil
}

func (w *Work) planState() *PlanState {
	p := &PlanState{CurrentPlan: []string{}, CompletedSteps: []int{}}
	if w.Plan == nil {
		return p
	}
	p.CurrentPlan = append(p.CurrentPlan, w.Plan.Steps...)
	p.ReplanCount = w.Plan.Replans
	for i := range p.CurrentPlan {
		if slices.Contains(w.Plan.Done, i) {
			p.CompletedSteps = append(p.CompletedSteps, i)
		}
	}
	for slices.Contains(p.CompletedSteps, p.CurrentStep) {
		p.CurrentStep++
	}
	return p
}

func (s *State) fusionState(w *Work) *FusionState {
	p := w.planState()
	f := &FusionState{
		CurrentPlan: p.CurrentPlan, CompletedSteps: p.CompletedSteps,
		ReflectionHistory: []Reflection{}, Phase: s.phase(w),
	}
	if w.Route != nil {
		f.RoutingResult = &RoutingResult{w.Route.Complexity, w.Route.Reason}
	}
	for _, v := range w.Verdicts {
		f.ReflectionHistory = append(f.ReflectionHistory, Reflection{v.OK, v.Feedback, v.Reply})
	}
	return f
}

// phase is what fusion does: what it asks a child, or what comes next.
func (s *State) phase(w *Work) string {
	for _, child := range s.Open() {
		q := questionOf(child.Name)
		if q.parent != "" { // a node's own
			continue
		}
		switch q.kind {
		case "route":
			return PhaseRouting
		case "plan":
			return PhasePlanning
		case "verify":
			return PhaseReflecting
		}
	}
	r := s.Main().LastReply()
	switch {
	case w.Route == nil:
		return PhaseRouting
	case w.Route.Complexity != Complex:
		return PhaseExecuting
	case w.Plan == nil, s.Settings.ConfirmPlan && !w.Approved:
		return PhasePlanning
	case r != nil && len(r.Calls) == 0 && !r.Blank():
		return PhaseReflecting
	}
	return PhaseExecuting
}

// Children are all scopes but the session's own, in the order in which they
// began.
func (s *State) Children() []*Scope {
	var out []*Scope
	for name, sc := range s.scopes {
		if name != "" {
			out = append(out, sc)
		}
	}
	slices.SortFunc(out, func(a, b *Scope) int {
		return cmp.Or(cmp.Compare(a.First, b.First), strings.Compare(a.Name, b.Name))
	})
	return out
}
