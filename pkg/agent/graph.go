package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// splitting is the decision on nodes, beside those that there are. What is
// wrong with them is said to the model, not silently cut.
func splitting(s *session.State, there []session.GraphNode) decision[[]session.GraphNode] {
	return decision[[]session.GraphNode]{
		kind:  "split",
		words: anywhere,
		tool:  spec("set_graph", "Set the task graph.", `{"type":"object","properties":{"nodes":{"type":"array","minItems":1,"maxItems":20,"items":{"type":"object","properties":{"id":{"type":"string","description":"a short name: letters, digits, - and _"},"task":{"type":"string","description":"all that whoever does it has to know"},"needs":{"type":"array","items":{"type":"string"},"description":"ids of nodes whose results it needs"},"profile":{"type":"string"}},"required":["id","task"],"additionalProperties":false}}},"required":["nodes"],"additionalProperties":false}`),
		parse: func(raw json.RawMessage) ([]session.GraphNode, error) {
			nodes, err := nodesOf(raw, s.Settings.Profile)
			if err != nil {
				return nil, err
			}
			return nodes, checkGraph(s, there, nodes)
		},
	}
}

func nodesOf(raw json.RawMessage, profile func(name string) *session.Profile) ([]session.GraphNode, error) {
	list, edges := raw, json.RawMessage(nil)
	if r := recordOf(raw); r != nil {
		list, edges = r.field("nodes", "tasks", "steps", "graph", "subtasks"), r.field("edges")
	}
	var items []record
	if json.Unmarshal(list, &items) != nil || len(items) == 0 {
		return nil, errors.New(`want {"nodes": [{"id": "…", "task": "…", "needs": ["…"]}]} with at least one node`)
	}
	if len(items) > maxNodes { // before anything is looked up among them
		return nil, tooMany(len(items))
	}
	var nodes []session.GraphNode
	for _, item := range items {
		n := session.GraphNode{ID: item.name("id", "name"), Task: message.Clean(item.text("task", "description", "prompt", "goal")), Needs: []string{}}
		n.Profile = message.Clean(item.text("profile"))
		if other := item.text("agent", "subAgent"); n.Profile == "" && profile(other) != nil {
			n.Profile = other // where there is none of that name, it was just a word
		}
		if needs := item.field("needs", "dependsOn", "depends_on", "dependencies", "deps"); needs != nil {
			ids, ok := idsOf(needs)
			if !ok {
				return nil, fmt.Errorf("node %q: needs is no list of ids", n.ID)
			}
			n.Needs = append(n.Needs, ids...)
		}
		nodes = append(nodes, n)
	}
	if err := addEdges(nodes, edges); err != nil {
		return nil, err
	}
	for i := range nodes { // a need that is named twice is one
		nodes[i].Needs = distinct(nodes[i].Needs)
	}
	return nodes, nil
}

// idsOf reads a list of ids, or a single one; numbers count as their digits.
func idsOf(raw json.RawMessage) (ids []string, ok bool) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		items = []json.RawMessage{raw}
	}
	for _, item := range items {
		id := record{"": item}.name("")
		if id == "" {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}

func tooMany(nodes int) error {
	return fmt.Errorf("there would be %d nodes, at most %d are allowed", nodes, maxNodes)
}

// distinct returns texts in their order, each once.
func distinct(texts []string) []string {
	had := map[string]bool{}
	return slices.DeleteFunc(texts, func(text string) bool {
		again := had[text]
		had[text] = true
		return again
	})
}

// addEdges takes in what nodes need where it is said beside them.
func addEdges(nodes []session.GraphNode, raw json.RawMessage) error {
	var edges []struct{ From, To string }
	if raw != nil && json.Unmarshal(raw, &edges) != nil {
		return errors.New(`edges is no list of {"from": "…", "to": "…"}: rather say needs with each node`)
	}
	for _, e := range edges {
		i := slices.IndexFunc(nodes, func(n session.GraphNode) bool { return n.ID == e.To })
		if i < 0 {
			return fmt.Errorf("an edge leads to the node %q, which there is not", e.To)
		}
		nodes[i].Needs = append(nodes[i].Needs, e.From)
	}
	return nil
}

// checkGraph says what is wrong with nodes that are to be added to others.
func checkGraph(s *session.State, there, nodes []session.GraphNode) error {
	if n := len(there) + len(nodes); n > maxNodes {
		return tooMany(n)
	}
	known := map[string]bool{}
	for _, n := range there {
		known[n.ID] = true
	}
	for _, n := range nodes {
		switch {
		case !session.LegalNodeID(n.ID):
			return fmt.Errorf("the id %q is not valid: want 1 to 64 letters, digits, - and _", n.ID)
		case known[n.ID]:
			return fmt.Errorf("the id %q is there twice", n.ID)
		case n.Task == "":
			return fmt.Errorf("node %q has no task", n.ID)
		case n.Profile != "" && s.Settings.Profile(n.Profile) == nil:
			return fmt.Errorf("node %q names the profile %q, which there is not", n.ID, n.Profile)
		}
		known[n.ID] = true
	}
	for _, n := range nodes {
		for _, need := range n.Needs {
			if !known[need] {
				return fmt.Errorf("node %q needs %q, which there is not", n.ID, need)
			}
		}
	}
	return checkCycles(there, nodes)
}

// checkCycles takes nodes away that need nothing more, as long as there are any.
func checkCycles(there, nodes []session.GraphNode) error {
	done := map[string]bool{}
	for _, n := range there {
		done[n.ID] = true
	}
	left := slices.Clone(nodes)
	for {
		n := len(left)
		left = slices.DeleteFunc(left, func(n session.GraphNode) bool {
			free := !slices.ContainsFunc(n.Needs, func(id string) bool { return !done[id] })
			done[n.ID] = done[n.ID] || free
			return free
		})
		switch {
		case len(left) == 0:
			return nil
		case len(left) == n:
			var ids []string
			for _, n := range left {
				ids = append(ids, n.ID)
			}
			return fmt.Errorf("these nodes need each other in a cycle: %s", strings.Join(ids, ", "))
		}
	}
}
