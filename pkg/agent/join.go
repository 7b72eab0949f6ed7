package agent

import (
	"encoding/json"
	"errors"
	"fmt"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

const addNodesTool = "add_nodes"

// join has a child make one answer of what the nodes have brought. It may find
// gaps instead, as long as there are rounds left.
func join(s *session.State, sc *session.Scope, nodes []session.Node) Action {
	if !anyDone(nodes) {
		return judged(nodes, finish(session.Completed, ""))
	}
	task := results(s, sc, nodes)
	name := question(s, sc, "join", task)
	child := s.Scope(name)
	if child == nil || !child.Ended() {
		begin := session.ChildCreated{System: prompt("join"), Tools: []string{}, Asked: task.mark()}
		c := Child{Scope: name, Begin: begin, Strategy: joining(sc.Name), told: task, parts: parts(nodes)}
		if more := mayAdd(s, sc).tool; more.Name != "" {
			c.offers = []message.ToolSpec{more}
		}
		return Spawn{[]Child{c}}
	}
	if child.Turn.Status != session.Completed {
		return joinFailed(nodes, child)
	}
	if added, ok := gaps(s, sc, child); ok {
		round := sc.Work.Graph.Round + 1
		all := append(append([]session.GraphNode{}, sc.Work.Graph.Nodes...), inRound(added, round)...)
		return Record{[]session.Data{&session.GraphSet{Round: round, Nodes: all, From: name}}}
	}
	return Record{[]session.Data{&session.AnswerAdopted{From: name}}}
}

func anyDone(nodes []session.Node) bool {
	for _, n := range nodes {
		if n.Status == session.NodeCompleted {
			return true
		}
	}
	return false
}

// joinFailed ends the work as incomplete: what an error says is no answer.
func joinFailed(nodes []session.Node, child *session.Scope) Action {
	why := "the results could not be joined"
	if child.Turn.Error != nil {
		why += ": " + child.Turn.Error.Message
	}
	if f := judged(nodes, finish(session.Completed, "")); f.Status != session.Completed {
		why += "; " + f.End.Error.Message
	}
	return because(session.Failed, session.ReasonIncomplete, why)
}

// results is what the join is told: the request, and what became of each node.
func results(s *session.State, sc *session.Scope, nodes []session.Node) *brief {
	b := briefing(sc)
	if len(s.Settings.OutputSchema) > 0 {
		b.lead("Form of the answer", promptWith("shape", string(s.Settings.OutputSchema)))
	}
	for _, n := range nodes {
		switch {
		case n.Status == session.NodeCompleted:
			b.section("Result of "+n.ID, n.Answer)
		case n.Error != nil:
			b.section(n.ID+" failed", shorten(flat(n.Task), 200)+"\n\n"+shorten(n.Error.Message, 2<<10))
		default:
			b.section(n.ID+" was not run", shorten(flat(n.Task), 200)+"\n\nSomething that it needs has failed.")
		}
	}
	return b
}

// parts lists who was to do what, for the system prompt. It is no part of what
// the join is asked: some models take a task that they read there for theirs.
func parts(nodes []session.Node) (lines []string) {
	for _, n := range nodes {
		lines = append(lines, fmt.Sprintf("- %s: %s", n.ID, shorten(flat(n.Task), 200)))
	}
	return lines
}

// joining answers as React does, or calls for more nodes.
func joining(parent string) Strategy {
	return func(s *session.State, scope string) Action {
		sc, up := s.Scope(scope), s.Scope(parent)
		more := mayAdd(s, up)
		if len(sc.Pending()) > 0 && !filtered(sc.LastReply()) {
			_, err := more.understand(sc.LastReply())
			switch {
			case err == nil:
				return finish(session.Completed, "")
			case sc.Turn.Steps > session.NodeTries:
				return because(session.Failed, session.ReasonIncomplete, err.Error())
			}
			return again(sc, promptWith("again", err.Error()))
		}
		a := React(s, scope)
		if call, ok := a.(CallModel); ok && more.tool.Name != "" {
			call.Tools = []message.ToolSpec{more.tool}
			return call
		}
		return a
	}
}

// mayAdd is the decision to add nodes; it has no tool when none may be added.
func mayAdd(s *session.State, sc *session.Scope) decision[[]session.GraphNode] {
	d := splitting(s, sc.Work.Graph.Nodes)
	d.tool.Name, d.tool.Description = addNodesTool, "Add nodes for what is missing, instead of answering. They may need the ones that there are."
	d.words = nil // they are the answer, whatever they hold
	if sc.Work.Graph.Round >= maxRounds || len(sc.Work.Graph.Nodes) >= maxNodes {
		d.tool = message.ToolSpec{}
		d.parse = func(json.RawMessage) ([]session.GraphNode, error) {
			return nil, errors.New("there are no tools any more: answer with what there is")
		}
	}
	return d
}

// gaps are the nodes that a join wants added.
func gaps(s *session.State, sc *session.Scope, child *session.Scope) ([]session.GraphNode, bool) {
	r := child.LastReply()
	if r == nil || len(r.Calls) == 0 {
		return nil, false
	}
	added, err := mayAdd(s, sc).understand(r)
	return added, err == nil
}
