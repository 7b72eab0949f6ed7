package checkpoint

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// tsState is what an agent of kagent-ts had concluded, whichever it was.
type tsState struct {
	CurrentPlan       []string        `json:"currentPlan"`
	CompletedSteps    json.RawMessage `json:"completedSteps"` // how many, or which
	ReplanCount       float64         `json:"replanCount"`
	Complexity        string          `json:"complexity"`
	RouteReason       string          `json:"routeReason"`
	RoutingResult     *tsRoute        `json:"routingResult"`
	ReflectionHistory []tsReflection  `json:"reflectionHistory"`
	TaskGraph         *tsGraph        `json:"taskGraph"`
	CompletedNodes    json.RawMessage `json:"completedNodes"` // results by id, or pairs of both
	CompletedRounds   float64         `json:"completedRounds"`
	CurrentRound      float64         `json:"currentRound"`
	SynthesisResult   string          `json:"synthesisResult"`
}

type tsRoute struct {
	Complexity string `json:"complexity"`
	Reason     string `json:"reason"`
}

type tsReflection struct {
	Passed    *bool  `json:"passed"`
	OK        *bool  `json:"ok"`
	Satisfied *bool  `json:"satisfied"`
	Feedback  string `json:"feedback"`
	Reason    string `json:"reason"`
}

type tsGraph struct {
	Nodes []tsNode `json:"nodes"`
}

type tsNode struct {
	ID          string   `json:"id"`
	Description string   `json:"description"`
	Input       string   `json:"input"`
	DependsOn   []string `json:"dependsOn"`
	Status      string   `json:"status"`
	StartedAt   float64  `json:"startedAt"`
	DurationMs  float64  `json:"durationMs"`
	Result      *struct {
		Output string `json:"output"`
	} `json:"result"`
}

// state is that of the file's agent, in whichever place it stands.
func (f *tsFile) state() *tsState {
	for _, s := range []*tsState{f.AgentState, f.PlanState, f.FusionState, f.Orchestrator} {
		if s != nil {
			return s
		}
	}
	return &tsState{}
}

// tell writes the conversation, what the agent concluded of it, and its end.
func (f *tsFile) tell(a *author) {
	st := f.state()
	nodes := usable(st.nodes(f.Status == "active"))
	a.converse("", f.statements(nodes))
	a.settle("")
	if sc := a.scope(""); sc.Turn.N > 0 {
		st.conclude(a, f.AgentType, nodes, f.Status == "completed")
	}
	a.at(f.updated())
	a.say("", f.imported(a))
	if sc := a.scope(""); sc.Turn.Open {
		end := f.end(a, nodes)
		end.Turn = sc.Turn.N
		a.say("", end)
	}
}

// created and updated are when the file says that it was.
func (f *tsFile) created() time.Time {
	if f.Metadata != nil && f.CreatedAt == "" {
		return stamp(f.Metadata.CreatedAt)
	}
	return stamp(f.CreatedAt)
}

func (f *tsFile) updated() time.Time {
	if f.Metadata != nil && f.UpdatedAt == "" {
		return stamp(f.Metadata.UpdatedAt)
	}
	return stamp(f.UpdatedAt)
}

// underWay is what the model is told of a file that was active: kagent-ts writes
// it only after a step.
const underWay = "[This session was begun by another program, which was stopped while it worked. Its last step does not stand here: " +
	"tools may have run whose calls and results are not recorded. Check what is there before you repeat anything that has an effect.]"

// imported says where it all comes from, and what it counts beyond the events.
func (f *tsFile) imported(a *author) *session.Imported {
	d := &session.Imported{Format: f.format(), Origin: a.clean(f.SessionID)}
	if f.Status == "active" && a.scope("").Turn.N > 0 {
		d.Note = underWay
	}
	replies := 0
	for _, m := range f.Messages {
		if m.Role == "assistant" {
			replies++ // also those that were joined
		}
	}
	d.Iterations = max(replies-a.state.Iterations, 0)
	if m := f.Metadata; m != nil {
		d.Iterations = max(count(m.Iterations)-a.state.Iterations, 0)
		d.ToolCalls = max(count(m.ToolCalls)-a.state.ToolCalls, 0)
		d.Usage = message.Usage{Total: int64(count(m.TokenUsage))}
	}
	return d
}

// count is a number of things.
func count(n float64) int {
	if !(n > 0) {
		return 0
	}
	return int(min(n, math.MaxInt32))
}

// end is how the last turn ended. What is called completed counts as that only
// with an answer, and with nothing left over: kagent-ts took the text of a
// network error for one.
func (f *tsFile) end(a *author, nodes []node) *session.TurnEnd {
	lost := &session.TurnEnd{Status: session.Interrupted, Reason: session.ReasonNetwork}
	switch f.Status {
	case "active":
		lost.Reason = session.ReasonCrash
		return lost
	case "interrupted":
		return lost
	case "cancelled":
		return &session.TurnEnd{Status: session.Cancelled}
	}
	var left []string
	for _, n := range nodes {
		if !n.done {
			left = append(left, n.ID+" is not done")
		}
	}
	switch {
	case len(left) > 0:
		why := &session.Failure{Kind: string(session.ReasonIncomplete), Message: cut(strings.Join(left, "; "), 2000)}
		return &session.TurnEnd{Status: session.Failed, Reason: session.ReasonIncomplete, Error: why}
	case !hasAnswer(a.scope("")):
		return lost
	}
	return &session.TurnEnd{Status: session.Completed}
}

// conclude writes down what the agent had understood.
func (s *tsState) conclude(a *author, agent string, nodes []node, ended bool) {
	route := s.RoutingResult
	if route == nil && s.Complexity != "" {
		route = &tsRoute{s.Complexity, s.RouteReason}
	}
	if agent == "fusion" && route != nil && route.Complexity != "" {
		a.route(route.Complexity, route.Reason)
	}
	if agent == "fusion" || agent == "plan-solve" {
		a.plan(s.CurrentPlan, s.done(), count(s.ReplanCount))
	}
	for _, r := range s.ReflectionHistory {
		if v, ok := r.verdict(); ok && agent == "fusion" {
			v.Feedback = a.clean(v.Feedback)
			a.say("", &v)
		}
	}
	if agent != "orchestrator" {
		return
	}
	a.graph(nodes, s.round(nodes, ended))
	if text := a.clean(s.SynthesisResult); strings.TrimSpace(text) != "" && !hasAnswer(a.scope("")) {
		a.converse("", []statement{{role: "assistant", text: text}})
	}
}

// round is the one that is under way, or the last: one form of the file counts
// those that are over.
func (s *tsState) round(nodes []node, ended bool) int {
	over := count(s.CompletedRounds)
	if !ended && slices.ContainsFunc(nodes, func(n node) bool { return !n.done }) {
		over++
	}
	return max(count(s.CurrentRound), over, 1)
}

// done are the indexes of the steps that are done.
func (s *tsState) done() []int {
	var list []float64
	if json.Unmarshal(s.CompletedSteps, &list) == nil {
		out := make([]int, 0, len(list))
		for _, n := range list {
			out = append(out, int(max(min(n, math.MaxInt32), -1)))
		}
		return out
	}
	var n float64
	_ = json.Unmarshal(s.CompletedSteps, &n) // else none
	var out []int
	for i := range min(count(n), len(s.CurrentPlan)) {
		out = append(out, i)
	}
	return out
}

func (r tsReflection) verdict() (v session.VerdictGiven, ok bool) {
	for _, said := range []*bool{r.OK, r.Passed, r.Satisfied} {
		if said != nil {
			v.OK, ok = *said, true
		}
	}
	if v.Feedback = r.Feedback; v.Feedback == "" {
		v.Feedback = r.Reason
	}
	return v, ok
}

// nodes are those of the task graph, with their results. In a file that was
// active the ready ones may have been begun.
func (s *tsState) nodes(active bool) (out []node) {
	if s.TaskGraph == nil {
		return nil
	}
	brought := s.completed()
	for _, n := range s.TaskGraph.Nodes {
		to := node{ID: n.ID, task: n.Input, needs: n.DependsOn, done: n.Status == "completed"}
		if strings.TrimSpace(to.task) == "" {
			to.task = n.Description
		}
		if n.Result != nil {
			to.output = unwrapped(n.Result.Output)
		}
		if text, ok := brought[n.ID]; ok {
			to.done, to.output = true, unwrapped(text)
		}
		to.from = millis(n.StartedAt)
		to.to = to.from.Add(time.Duration(count(n.DurationMs)) * time.Millisecond)
		to.begun = active && n.Status != "failed"
		out = append(out, to)
	}
	return out
}

// completed are the results by node. What JavaScript makes of a Map is {}.
func (s *tsState) completed() map[string]string {
	var results map[string]string
	if json.Unmarshal(s.CompletedNodes, &results) == nil {
		return results
	}
	var pairs [][2]string
	results = map[string]string{}
	if json.Unmarshal(s.CompletedNodes, &pairs) == nil {
		for _, p := range pairs {
			results[p[0]] = p[1]
		}
	}
	return results
}

// unwrapped takes what kagent-ts puts around the result of a node from it.
func unwrapped(text string) string {
	inner, ok := strings.CutPrefix(text, "<subagent-result ")
	if !ok {
		return text
	}
	_, inner, ok = strings.Cut(inner, ">\n")
	inner, whole := strings.CutSuffix(strings.TrimSpace(inner), "</subagent-result>")
	if !ok || !whole {
		return text
	}
	return strings.TrimSpace(inner)
}
