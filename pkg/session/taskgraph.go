package session

import (
	"slices"
	"time"
	"unicode/utf8"
)

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

func (s *State) orchestratorState(w *Work, look Look) *OrchestratorState {
	o := &OrchestratorState{CompletedNodes: map[string]string{}}
	nodes := s.Nodes("")
	for i := range nodes {
		nodes[i].Status = s.seen(nodes[i].Status, look)
	}
	if look.Brief {
		s.excerpt(nodes)
	}
	if w.Graph != nil {
		o.CurrentRound = w.Graph.Round
		o.TaskGraph = &TaskGraph{Nodes: taskNodes(nodes)}
	}
	for _, n := range nodes {
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

// seen is a node's status for people: a node runs only while somebody runs the
// session. One that was begun is gone on with, unless nobody wants it any more.
func (s *State) seen(n NodeStatus, look Look) NodeStatus {
	status, _ := s.Status()
	switch {
	case status == Active && !look.Dead:
		return n
	case n == NodeRunning && status == Cancelled:
		return NodeCancelled
	case n == NodeRunning:
		return NodeInterrupted
	case n == NodePending && status == Cancelled:
		return NodeNotRun
	}
	return n
}

// What the texts of a task graph may have in a checkpoint, in characters, those
// of a kind together: as much as a request while they are still told to nodes
// and the join, little when that is over.
const (
	graphAtWork = 32 << 10
	graphJoined = 1 << 10
)

// excerpt cuts the texts of nodes, so that a checkpoint does not grow with what
// nodes bring.
func (s *State) excerpt(nodes []Node) {
	limit := graphAtWork
	if c := s.Settings.ContextChars; c > 0 {
		limit = min(limit, c/2)
	}
	if s.Main().Turn.Status == Completed {
		limit = graphJoined
	}
	var tasks, answers, errors []*string
	for i := range nodes {
		n := &nodes[i]
		tasks, answers = append(tasks, &n.Task), append(answers, &n.Answer)
		if n.Error != nil {
			e := *n.Error
			n.Error = &e
			errors = append(errors, &e.Message)
		}
	}
	for _, texts := range [][]*string{tasks, answers, errors} {
		shortenAll(texts, limit)
	}
}

// shortenAll cuts the longest of texts, until all have limit characters and
// notes of how many are missing.
func shortenAll(texts []*string, limit int) {
	var sizes []int
	for _, t := range texts {
		sizes = append(sizes, utf8.RuneCountInString(*t))
	}
	each := Waterline(sizes, limit)
	for _, t := range texts {
		*t = shorten(*t, each)
	}
}

// Waterline is what none of sizes may be more than, so that all of them have
// limit together: limit itself where that is so.
func Waterline(sizes []int, limit int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	left := limit
	for i, n := range sizes {
		if each := left / (len(sizes) - i); n > each {
			return each
		}
		left -= n
	}
	return limit
}

func taskNodes(nodes []Node) []TaskNode {
	out := []TaskNode{}
	for _, n := range nodes {
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
