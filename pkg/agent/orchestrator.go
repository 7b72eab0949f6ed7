package agent

import (
	"fmt"
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

const (
	maxNodes    = 20
	maxRounds   = 3 // of adding nodes, the first split included
	maxTogether = 4 // nodes that run at once
)

// Orchestrator splits the task into a graph of nodes. Each is done by a child
// as soon as what it needs is there; then their results are joined, which may
// find gaps and add nodes.
func Orchestrator(s *session.State, scope string) Action {
	sc := s.Scope(scope)
	if sc.Work.Graph == nil {
		return split(s, sc)
	}
	nodes := s.Nodes(scope)
	if ready := ready(s, sc, nodes); len(ready) > 0 {
		return Spawn{ready}
	}
	if r := sc.LastReply(); r == nil || sc.Entries[len(sc.Entries)-1].Seq <= s.Since(sc) {
		return join(s, sc, nodes)
	}
	return judged(nodes, finish(session.Completed, ""))
}

// judged turns an end into an incomplete one where nodes are left over.
func judged(nodes []session.Node, done Finish) Finish {
	var left []string
	for _, n := range nodes {
		if n.Status == session.NodeCompleted {
			continue
		}
		why := n.ID + " was not run"
		if n.Error != nil {
			why = n.ID + " failed: " + n.Error.Message
		}
		left = append(left, why)
	}
	if left == nil {
		return done
	}
	return because(session.Failed, session.ReasonIncomplete, strings.Join(left, "; "))
}

func split(s *session.State, sc *session.Scope) Action {
	b := briefing(sc).
		section("Tools that a node may use", shorten(strings.Join(s.Settings.Tools, ", "), 2<<10)).
		section("Profiles that a node may name", shorten(profiles(s), 8<<10))
	nodes, from, ok, a := splitting(s, nil).ask(s, sc.Name, b)
	if a != nil {
		return a
	}
	if !ok {
		nodes = []session.GraphNode{{ID: "task", Task: sc.Work.Whole(), Needs: []string{}}}
	}
	return Record{[]session.Data{&session.GraphSet{Round: 1, Nodes: inRound(nodes, 1), From: from}}}
}

func inRound(nodes []session.GraphNode, round int) []session.GraphNode {
	for i := range nodes {
		nodes[i].Round = round
	}
	return nodes
}

// ready returns the children that are to run now: those that have begun first.
func ready(s *session.State, sc *session.Scope, nodes []session.Node) []Child {
	status := map[string]session.NodeStatus{}
	for _, n := range nodes {
		status[n.ID] = n.Status
	}
	missing := func(id string) bool { return status[id] != session.NodeCompleted }
	var running, waiting []Child
	for _, n := range nodes {
		switch {
		case n.Status == session.NodeRunning:
			running = append(running, nodeChild(s, sc, nodes, n, n.Attempts))
		case n.Status == session.NodePending && !slices.ContainsFunc(n.Needs, missing):
			waiting = append(waiting, nodeChild(s, sc, nodes, n, n.Attempts+1))
		}
	}
	all := append(running, waiting...)
	return all[:min(len(all), max(maxTogether, len(running)))]
}

// nodeChild is a node's attempt: it is told its part, the whole, and what the
// nodes that it needs have brought.
func nodeChild(s *session.State, sc *session.Scope, nodes []session.Node, n session.Node, try int) Child {
	var b brief
	b.lead("Your part", n.Task).section("The whole request, for context", sc.Work.Whole())
	for _, up := range nodes {
		if slices.Contains(n.Needs, up.ID) {
			b.section("Result of "+up.ID, up.Answer)
		}
	}
	if n.Error != nil {
		b.section("An earlier attempt failed", shorten(n.Error.Message, 2<<10))
	}
	begin := session.ChildCreated{System: promptWith("node", s.Settings.System), Tools: s.Settings.Tools, Profile: n.Profile}
	if p := s.Settings.Profile(n.Profile); p != nil {
		begin.System, begin.Model = promptWith("node", p.System), p.Model
		begin.Tools = narrowed(s.Settings.Tools, p.Tools)
	}
	return Child{Scope: sc.NodeScope(n.ID, try), Begin: begin, Strategy: React, told: &b}
}

// narrowed returns those of the session's tools that a profile names, all where
// it names none: it can't widen what is allowed.
func narrowed(tools, named []string) []string {
	if named == nil {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t string) bool { return !slices.Contains(named, t) })
}

func profiles(s *session.State) string {
	var b strings.Builder
	for _, p := range s.Settings.Profiles {
		fmt.Fprintf(&b, "%s: %s\n", p.Name, flat(p.Description))
	}
	return message.Clean(b.String())
}
