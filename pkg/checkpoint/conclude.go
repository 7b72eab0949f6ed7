package checkpoint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kagent/pkg/session"
)

// What an agent of a foreign file had concluded, as the events that the agents
// here would have written.

// node is a node of a task graph in a foreign file.
type node struct {
	ID       string
	was      string // its id in the file
	task     string
	needs    []string
	profile  string
	round    int
	done     bool
	begun    bool // it may have been, if it is not done
	output   string
	from, to time.Time
	talk     *child // of an attempt that has not ended
}

// maxParts bounds what is taken for a plan or a graph.
const maxParts = 500

func (a *author) plan(steps []string, done []int, replans int) {
	if len(steps) == 0 || len(steps) > maxParts {
		return
	}
	isDone := map[int]bool{}
	for _, i := range done {
		isDone[i] = true
	}
	d := &session.PlanSet{Steps: []string{}, Done: []int{}, Replans: replans}
	for i, step := range steps {
		d.Steps = append(d.Steps, a.clean(step))
		if isDone[i] {
			d.Done = append(d.Done, i)
		}
	}
	a.say("", d)
}

func (a *author) route(complexity, reason string) {
	d := &session.RouteSet{Complexity: strings.ToLower(strings.TrimSpace(complexity)), Reason: a.clean(reason)}
	if d.Complexity != session.Simple {
		d.Complexity = session.Complex
	}
	a.say("", d)
}

// mayHaveBegun is said with the task of a node that a dead program may have
// begun.
const mayHaveBegun = "\n\n[This part may have been begun before, by a program that was stopped. Check what is there before you repeat anything that has an effect.]"

// graph writes a task graph and what its nodes have brought. It counts as the
// first one that was asked for: the nodes of another task have other names.
func (a *author) graph(nodes []node, round int) {
	if len(nodes) == 0 {
		return
	}
	done := map[string]bool{}
	for _, n := range nodes {
		done[n.ID] = n.done
	}
	d := &session.GraphSet{Round: round, From: "split-1"}
	for _, n := range nodes {
		g := session.GraphNode{ID: n.ID, Task: a.clean(n.task), Needs: append([]string{}, n.needs...), Profile: n.profile, Round: max(n.round, 1)}
		ready := !slices.ContainsFunc(n.needs, func(id string) bool { return !done[id] })
		if n.begun && !n.done && ready {
			g.Task += mayHaveBegun
		}
		d.Nodes = append(d.Nodes, g)
	}
	a.say("", d)
	for _, n := range nodes {
		scope := a.scope("").NodeScope(n.ID, 1)
		switch {
		case n.done:
			a.node(scope, n.task, n.output, n.from, n.to)
		case n.talk != nil:
			a.child(scope, n.talk)
		}
	}
}

// usable makes a graph one that can be gone on with: ids that can name a child,
// each once, and needs that there are. A graph that needs itself in a circle is
// none; the task is split anew.
func usable(nodes []node) []node {
	if len(nodes) > maxParts {
		return nil
	}
	names := map[string]string{}
	var out []node
	for _, n := range nodes {
		if _, twice := names[n.ID]; twice {
			continue
		}
		name := n.ID
		for i := 1; !session.LegalNodeID(name) || inUse(names, name); i++ {
			name = cut(session.NodeIDOf(n.ID), 50)
			name = strings.TrimLeft(fmt.Sprintf("%s-%d", name, i), "-")
		}
		names[n.ID] = name
		out = append(out, n)
	}
	for i := range out {
		n := &out[i]
		n.was, n.ID = n.ID, names[n.ID]
		var needs []string
		for _, id := range n.needs {
			if name, ok := names[id]; ok && !slices.Contains(needs, name) {
				needs = append(needs, name)
			}
		}
		n.needs = needs
		if strings.TrimSpace(n.task) == "" {
			n.task = n.ID
		}
	}
	if circular(out) {
		return nil
	}
	return out
}

func inUse(names map[string]string, name string) bool {
	for _, other := range names {
		if other == name {
			return true
		}
	}
	return false
}

// circular reports whether some nodes can never begin.
func circular(nodes []node) bool {
	met := map[string]bool{}
	for left := len(nodes); left > 0; {
		before := left
		for _, n := range nodes {
			if !met[n.ID] && !slices.ContainsFunc(n.needs, func(id string) bool { return !met[id] }) {
				met[n.ID] = true
				left--
			}
		}
		if left == before {
			return true
		}
	}
	return false
}
