package session

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// NodeStatus says how a node of a task graph stands.
type NodeStatus string

// The statuses of a node. NotRun: something that it needs has failed. The last
// two are those of one that was begun, in a session that nobody runs.
const (
	NodePending   NodeStatus = "pending"
	NodeRunning   NodeStatus = "running"
	NodeCompleted NodeStatus = "completed"
	NodeFailed    NodeStatus = "failed"
	NodeNotRun    NodeStatus = "not_run"

	NodeInterrupted NodeStatus = "interrupted"
	NodeCancelled   NodeStatus = "cancelled"
)

// NodeTries is how often a node of a task graph is attempted: what failed so
// often has failed for good.
const NodeTries = 3

// Node is a node of a task graph with what its children have come to. Attempts
// counts all that began; Failed those that failed since the turn was begun, or
// gone on with after it had stopped by itself: so many count against the limit.
type Node struct {
	GraphNode
	Status   NodeStatus
	Scope    string // of the latest attempt, "" before the first
	Attempts int
	Failed   int
	Started  time.Time // of the first attempt
	Ended    time.Time // of the latest one, if it has ended
	Answer   string    // once completed
	Error    *Failure  // of the latest attempt, once failed
}

// Nodes returns how the nodes of a scope's task graph stand, in its order. They
// are what their children are: nothing else is written down of them.
func (s *State) Nodes(scope string) []Node {
	sc := s.Scope(scope)
	if sc == nil || sc.Work.Graph == nil {
		return nil
	}
	nodes := make([]Node, len(sc.Work.Graph.Nodes))
	status := map[string]NodeStatus{}
	for i, n := range sc.Work.Graph.Nodes {
		nodes[i] = s.node(sc, n)
		status[n.ID] = nodes[i].Status
	}
	lost := func(id string) bool { return status[id] == NodeFailed || status[id] == NodeNotRun }
	for range nodes { // as far as failures reach
		for i, n := range nodes {
			if n.Status == NodePending && slices.ContainsFunc(n.Needs, lost) {
				nodes[i].Status, status[n.ID] = NodeNotRun, NodeNotRun
			}
		}
	}
	return nodes
}

func (s *State) node(sc *Scope, g GraphNode) Node {
	n := Node{GraphNode: g, Status: NodePending}
	for try := 1; ; try++ {
		name := sc.NodeScope(g.ID, try)
		c := s.Scope(name)
		if c == nil || c.Child == nil {
			return n
		}
		if n.Attempts++; try == 1 {
			n.Started = c.Created
		}
		n.Scope, n.Status, n.Ended, n.Error = name, NodeRunning, c.Turn.Ended, nil
		switch {
		case !c.Ended():
		case c.Turn.Status == Completed:
			n.Status, n.Answer = NodeCompleted, c.Answer()
			return n
		default:
			if n.Error = c.Turn.Error; c.Turn.Since > s.Since(sc) {
				n.Failed++
			}
			n.Status = NodePending // it is tried again
			if n.Failed >= NodeTries || s.stopped() {
				n.Status = NodeFailed
			}
		}
	}
}

// NodeScope names the child that does a node: "node/ID", its further attempts
// "node/ID/try-2", those of a later task in the same session "node/ID/task-2".
func (sc *Scope) NodeScope(id string, try int) string {
	name := sc.ChildScope("node/" + id)
	if n := sc.Concluded("split"); n > 1 {
		name += fmt.Sprintf("/task-%d", n)
	}
	if try > 1 {
		name += fmt.Sprintf("/try-%d", try)
	}
	return name
}

// ChildScope names a child of the scope.
func (sc *Scope) ChildScope(name string) string {
	return strings.TrimPrefix(sc.Name+"/"+name, "/")
}

// Ended reports whether nobody goes on with a child: it has its answer, or has
// none and never will. Whatever ends the session leaves its children as they
// are.
func (sc *Scope) Ended() bool {
	t := sc.Turn
	return t.N > 0 && !t.Open && (t.Status == Completed || t.Status == Failed)
}

// stopped reports whether the session's own turn has ended by itself.
func (s *State) stopped() bool { return s.Main().Ended() }

// Since is the sequence number after which a scope's attempts count against
// their limits: going on with a turn that had stopped by itself counts anew.
func (s *State) Since(sc *Scope) int64 { return max(sc.Turn.Since, s.Main().Turn.Since) }

// Open returns the children of the present work that are to be gone on with, in
// the order in which they began.
func (s *State) Open() []*Scope {
	from := s.Main().Work.From
	return slices.DeleteFunc(s.Children(), func(sc *Scope) bool {
		return sc.Child == nil || sc.Ended() || sc.First < from || s.overtaken(sc)
	})
}

// Live returns the scopes that can still go on: the session's own, then its
// open children.
func (s *State) Live() []*Scope { return append([]*Scope{s.Main()}, s.Open()...) }

// Find returns the scope and the call of that identity among the live ones,
// nil if there is none.
func (s *State) Find(id CallID) (*Scope, *Call) {
	for _, sc := range s.Live() {
		if c := sc.call(id); c != nil {
			return sc, c
		}
	}
	return nil, nil
}
