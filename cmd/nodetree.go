package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kagent/pkg/session"
)

// treeRows is how much of a terminal the nodes may take.
const treeRows = 12

// live is what a person at a terminal of so many rows sees: the nodes of a task
// graph while there are any, and the line below them.
func (d doing) live(now time.Time, rows int) []string {
	tree := d.tree(now, min(treeRows, rows-2))
	if tree == nil {
		return []string{d.line(now)}
	}
	rest := d
	rest.Works = slices.DeleteFunc(slices.Clone(d.Works), func(w work) bool {
		return slices.ContainsFunc(d.Nodes, func(n session.Node) bool { return within(w.Scope, n.Scope) })
	})
	return append(tree, rest.line(now))
}

// within reports whether a scope is a node's, or of a child of it.
func within(scope, node string) bool {
	return node != "" && (scope == node || strings.HasPrefix(scope, node+"/"))
}

// tree shows a node in each of at most so many rows.
func (d doing) tree(now time.Time, rows int) []string {
	if len(d.Nodes) == 0 || rows < 2 {
		return nil
	}
	var lines []string
	nodes := foremost(d.Nodes, rows)
	for _, n := range nodes {
		lines = append(lines, fmt.Sprintf("├─ %s %s: %s%s", nodeMark(n.Status), oneLine(n.ID, 40), oneLine(n.Task, 60), d.ofNode(n, now)))
	}
	if more := len(d.Nodes) - len(nodes); more > 0 {
		lines = append(lines, fmt.Sprintf("├─ … and %d more", more))
	}
	last := len(lines) - 1
	lines[last] = "└" + strings.TrimPrefix(lines[last], "├")
	return lines
}

// ofNode says what a node waits for, or why it has failed.
func (d doing) ofNode(n session.Node, now time.Time) string {
	switch n.Status {
	case session.NodeRunning:
		prefix := n.Scope + ": "
		text := d.working(now, func(w work) bool { return within(w.Scope, n.Scope) })
		if text = strings.ReplaceAll(text, prefix, ""); text != "" {
			return " · " + text
		}
	case session.NodePending:
		if len(n.Needs) > 0 {
			return ", after " + oneLine(strings.Join(n.Needs, ", "), 40)
		}
	case session.NodeFailed:
		return ": " + oneLine(failureText(n.Error), 60)
	}
	return ""
}

func nodeMark(s session.NodeStatus) string {
	switch s {
	case session.NodeCompleted:
		return "✓"
	case session.NodeRunning:
		return "▸"
	case session.NodeFailed:
		return "✗"
	case session.NodeNotRun:
		return "-"
	}
	return "·"
}

// foremost picks the nodes to show where not all find room, in their order: what
// runs and what has failed before what waits, and that before what is done. One
// row is left to say that there are more.
func foremost(nodes []session.Node, rows int) []session.Node {
	if len(nodes) <= rows {
		return nodes
	}
	ranks := []session.NodeStatus{session.NodeRunning, session.NodeFailed, session.NodePending, session.NodeNotRun, session.NodeCompleted}
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return slices.Index(ranks, nodes[a].Status) - slices.Index(ranks, nodes[b].Status)
	})
	order = order[:rows-1]
	slices.Sort(order)
	var picked []session.Node
	for _, i := range order {
		picked = append(picked, nodes[i])
	}
	return picked
}
