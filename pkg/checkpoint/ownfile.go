package checkpoint

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// ownFile is a checkpoint of kagent whose log is lost.
type ownFile struct {
	saved
	agent ownState
}

// ownState is what agentState holds, whichever the agent was.
type ownState struct {
	CurrentPlan       []string             `json:"currentPlan"`
	CompletedSteps    []int                `json:"completedSteps"`
	ReplanCount       int                  `json:"replanCount"`
	RoutingResult     *tsRoute             `json:"routingResult"`
	ReflectionHistory []session.Reflection `json:"reflectionHistory"`
	TaskGraph         *session.TaskGraph   `json:"taskGraph"`
	CompletedNodes    map[string]string    `json:"completedNodes"`
	CurrentRound      int                  `json:"currentRound"`
	Children          []child              `json:"children"`
}

var ownShape = session.ShapeOf(ownState{})

func understandOwn(b []byte, schema string) (teller, error) {
	if schema != Schema {
		return nil, fmt.Errorf("it has the format %q, which this version does not know", cut(schema, 60))
	}
	if err := checkKeys(b); err != nil {
		return nil, err
	}
	f := &ownFile{}
	if err := json.Unmarshal(b, &f.saved); err != nil {
		return nil, broken(err)
	}
	if len(f.AgentState) > 0 {
		err := ownShape.Check(f.AgentState)
		if err == nil {
			err = json.Unmarshal(f.AgentState, &f.agent)
		}
		if err != nil {
			return nil, broken(err)
		}
	}
	return f, nil
}

func (f *ownFile) format() string { return "kagent" }
func (f *ownFile) origin() string { return f.SessionID }
func (f *ownFile) task() string   { return f.saved.task() }

func (f *ownFile) created() time.Time { return dated(f.Metadata.CreatedAt) }

// dated is a time that can be written down again.
func dated(t time.Time) time.Time {
	if t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.UTC()
}

// settings are as careful as those of a repair.
func (f *ownFile) settings() session.Settings {
	return f.saved.created("").Data.(*session.Created).Settings
}

func statementsOf(msgs []chatMessage) (out []statement) {
	for _, m := range msgs {
		s := statement{role: string(m.Role), text: m.Content, answer: m.ToolCallID, at: millis(float64(m.Timestamp))}
		for _, c := range m.ToolCalls {
			s.calls = append(s.calls, message.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		out = append(out, s)
	}
	return out
}

// tell writes what the checkpoint shows. What its owner did after it is lost.
func (f *ownFile) tell(a *author) {
	a.converse("", statementsOf(f.Messages))
	a.doubt("", f.Pending, f.Status == session.Active)
	sc := a.scope("")
	if sc.Turn.N > 0 {
		f.conclude(a)
	}
	a.at(dated(f.Metadata.UpdatedAt))
	d := &session.Imported{
		Format: f.format(), Origin: a.clean(f.SessionID), Usage: f.Usage,
		Iterations: max(f.Metadata.Iterations-a.state.Iterations, 0), ToolCalls: max(f.Metadata.ToolCalls-a.state.ToolCalls, 0),
	}
	if f.Status == session.Active && sc.Turn.N > 0 {
		d.Note = underWay
	}
	a.say("", d)
	if a.scope("").Turn.Open {
		a.say("", f.end(a))
	}
}

func (f *ownFile) end(a *author) *session.TurnEnd {
	sc := a.scope("")
	end := &session.TurnEnd{Turn: sc.Turn.N, Status: f.Status, Reason: f.Reason, Error: f.Error}
	if f.RetryAt != nil {
		end.RetryAt = dated(*f.RetryAt)
	}
	switch f.Status {
	case session.Completed:
		if hasAnswer(sc) {
			return end
		}
	case session.Failed, session.Paused, session.Interrupted, session.Cancelled:
		return end
	}
	return &session.TurnEnd{Turn: sc.Turn.N, Status: session.Interrupted, Reason: session.ReasonCrash}
}

func (f *ownFile) conclude(a *author) {
	st := &f.agent
	if r := st.RoutingResult; r != nil {
		a.route(r.Complexity, r.Reason)
	}
	a.plan(st.CurrentPlan, st.CompletedSteps, max(st.ReplanCount, 0))
	for _, r := range st.ReflectionHistory {
		a.say("", &session.VerdictGiven{OK: r.OK, Feedback: a.clean(r.Feedback)}) // the reply has another number now
	}
	a.graph(usable(st.nodes()), max(st.CurrentRound, 1))
}

// nodes are those of the task graph. A child at work goes on as the first
// attempt of its node.
func (s *ownState) nodes() (out []node) {
	if s.TaskGraph == nil {
		return nil
	}
	for _, n := range s.TaskGraph.Nodes {
		to := node{ID: n.ID, task: n.Task, needs: n.Needs, profile: n.Profile, round: n.Round, done: n.Status == session.NodeCompleted, output: s.CompletedNodes[n.ID]}
		if n.StartedAt != nil {
			to.from = dated(*n.StartedAt)
		}
		if n.EndedAt != nil {
			to.to = dated(*n.EndedAt)
		}
		for i, c := range s.Children {
			if c.Scope == "node/"+n.ID || strings.HasPrefix(c.Scope, "node/"+n.ID+"/") {
				to.talk = &s.Children[i]
			}
		}
		out = append(out, to)
	}
	return out
}
