package session

import (
	"fmt"
	"slices"
	"time"
)

// NodeTries is how often a node of a task graph is attempted: what failed so
// often has failed for good.
const NodeTries = 3

// TaskGraph is a task graph with what became of its nodes.
type TaskGraph struct {
	Nodes []TaskNode `json:"nodes"`
}

// TaskNode is a node and what became of it.
type TaskNode struct {
	ID        string     `json:"id"`
	Task      string     `json:"task"`
	Needs     []string   `json:"needs"`
	Profile   string     `json:"profile,omitempty"`
	Round     int        `json:"round"`
	Status    NodeStatus `json:"status"`
	Attempts  int        `json:"attempts"`
	StartedAt *time.Time `json:"startedAt"`
	EndedAt   *time.Time `json:"endedAt"`
	Error     string     `json:"error,omitempty"`
}

// NodeStatus says how a node stands.
type NodeStatus string

// The statuses of a node. Running also means: begun, in a session that nobody
// runs now. Not run are those that need a node which failed, once it is clear.
const (
	NodePending   NodeStatus = "pending"
	NodeRunning   NodeStatus = "running"
	NodeCompleted NodeStatus = "completed"
	NodeFailed    NodeStatus = "failed"
	NodeNotRun    NodeStatus = "not_run"
)

func (s *State) orchestratorState(w *Work) *OrchestratorState {
	o := &OrchestratorState{CompletedNodes: map[string]string{}}
	if w.Graph != nil {
		o.CurrentRound = w.Graph.Round
		o.TaskGraph = &TaskGraph{Nodes: s.taskNodes(w)}
	}
	for _, n := range o.nodes() {
		if tries := s.NodeAttempts(n.ID); n.Status == NodeCompleted {
			o.CompletedNodes[n.ID] = tries[len(tries)-1].Answer()
		}
	}
	if r := s.Main().LastReply(); w.Graph != nil && r != nil && len(r.Calls) == 0 && !r.Blank() {
		text := s.Main().Answer()
		o.SynthesisResult = &text
	}
	return o
}

func (o *OrchestratorState) nodes() []TaskNode {
	if o.TaskGraph == nil {
		return nil
	}
	return o.TaskGraph.Nodes
}

// NodeAttempts returns the scopes in which a node of the session's graph was
// attempted, in order: for the present work, not for an earlier one that had a
// node of that name.
func (s *State) NodeAttempts(id string) []*Scope {
	var out []*Scope
	since := s.Main().Work.Since
	name := "node/" + id
	for n := 1; ; n++ {
		sc := s.scopes[name]
		switch {
		case sc != nil && sc.First >= since:
			out = append(out, sc)
		case n > 2: // counted from 1 or from 2
			return out
		}
		name = fmt.Sprintf("node/%s/try-%d", id, n)
	}
}

func (s *State) taskNodes(w *Work) []TaskNode {
	out := make([]TaskNode, 0, len(w.Graph.Nodes))
	status := map[string]NodeStatus{}
	for _, g := range w.Graph.Nodes {
		n := s.taskNode(g)
		out, status[n.ID] = append(out, n), n.Status
	}
	// Each round may show that more can't be run.
	for changed := true; changed; {
		changed = false
		for i := range out {
			n := &out[i]
			lost := func(id string) bool { return status[id] == NodeFailed || status[id] == NodeNotRun }
			if n.Status == NodePending && n.Attempts == 0 && slices.ContainsFunc(n.Needs, lost) {
				n.Status, status[n.ID], changed = NodeNotRun, NodeNotRun, true
			}
		}
	}
	return out
}

func (s *State) taskNode(g GraphNode) TaskNode {
	n := TaskNode{ID: g.ID, Task: g.Task, Needs: append([]string{}, g.Needs...), Profile: g.Profile, Round: g.Round, Status: NodePending}
	tries := s.NodeAttempts(g.ID)
	if n.Attempts = len(tries); n.Attempts == 0 {
		return n
	}
	last := tries[n.Attempts-1]
	n.StartedAt = &tries[0].Created
	switch {
	case !last.ended():
		n.Status = NodeRunning
		return n
	case last.Turn.Status == Completed:
		n.Status = NodeCompleted
	case n.Attempts >= NodeTries || s.stopped():
		n.Status = NodeFailed
	default: // it is tried again
		return n
	}
	n.EndedAt = &last.Updated
	if last.Turn.Status != Completed && last.Turn.Error != nil {
		n.Error = last.Turn.Error.Message
	}
	return n
}

// stopped reports whether the session's own turn has ended by itself.
func (s *State) stopped() bool {
	t := s.Main().Turn
	return t.N > 0 && !t.Open && (t.Status == Completed || t.Status == Failed)
}
