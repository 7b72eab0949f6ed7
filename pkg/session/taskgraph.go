package session

import "time"

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

func (s *State) orchestratorState(w *Work) *OrchestratorState {
	o := &OrchestratorState{CompletedNodes: map[string]string{}}
	if w.Graph != nil {
		o.CurrentRound = w.Graph.Round
		o.TaskGraph = &TaskGraph{Nodes: s.taskNodes()}
	}
	for _, n := range s.Nodes("") {
		if n.Status == NodeCompleted {
			o.CompletedNodes[n.ID] = n.Answer
		}
	}
	if r := s.Main().LastReply(); w.Graph != nil && r != nil && len(r.Calls) == 0 && !r.Blank() {
		text := s.Main().Answer()
		o.SynthesisResult = &text
	}
	return o
}

func (s *State) taskNodes() []TaskNode {
	out := []TaskNode{}
	for _, n := range s.Nodes("") {
		t := TaskNode{
			ID: n.ID, Task: n.Task, Needs: append([]string{}, n.Needs...), Profile: n.Profile, Round: n.Round,
			Status: n.Status, Attempts: n.Attempts, StartedAt: moment(n.Started), EndedAt: moment(n.Ended),
		}
		if n.Error != nil {
			t.Error = n.Error.Message
		}
		out = append(out, t)
	}
	return out
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
