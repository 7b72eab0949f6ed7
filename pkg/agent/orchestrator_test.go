package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

func (r *rig) nodes() map[string]session.Node {
	nodes := map[string]session.Node{}
	for _, n := range r.log.state.Nodes("") {
		nodes[n.ID] = n
	}
	return nodes
}

func TestATaskGraphIsDoneAndJoined(t *testing.T) {
	r := agentRig(t, "orchestrator", cast{
		"split-1": {graph("set_graph", "a", "b: a", "丙: a b")},
		"node/a":  {together(act("look", "x")), says("the result of a")},
		"node/b":  {says("the result of b")}, "node/丙": {says("the result of c")},
		"join-1": {says("all of it")},
	}, read("look"), execute("act"))
	r.set(func(s *session.Settings) { s.Tools = []string{"look"} })
	r.run("", session.Completed, "")
	r.answer("all of it")
	contains(t, "the question", lastSaid(r.asks("split-1")[0]), "# Task", "the task", "look")
	a, c := r.asks("node/a")[0], r.asks("node/丙")[0]
	contains(t, "what a is told", lastSaid(a), "# Your part", "do a", "# The whole request", "the task")
	without(t, "what a is told", lastSaid(a), "# Result of")
	contains(t, "what c is told", lastSaid(c), "# Your part", "do 丙", "# Result of a", "the result of a", "# Result of b", "the result of b")
	check(t, "tools of a node", len(a.Tools), 1)
	contains(t, "its system prompt", a.System, "one part of a larger request", "be good")
	join := r.asks("join-1")[0]
	contains(t, "what the join is told", lastSaid(join), "# Task", "the task", "# Result of a", "the result of a", "# Result of b", "# Result of 丙", "the result of c")
	check(t, "the tool of the join", join.Tools[0].Name, "add_nodes")
	check(t, "a tool that has to be called", join.Choice, "")
	check(t, "the session's own requests", len(r.asks("")), 0)
}

// What is wrong with a graph is said, and not silently cut.
func TestAGraphThatIsWrongIsSentBackWithTheReason(t *testing.T) {
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprint("n", i)
	}
	for _, c := range []struct {
		reply provider.Reply
		want  string
	}{
		{graph("set_graph", "a", "b", "a"), `"a" is there twice`},
		{graph("set_graph", "a: x"), `node "a" needs "x", which there is not`},
		{graph("set_graph", "a: a"), "in a cycle: a"},
		{graph("set_graph", "x", "a: c x", "b: a", "c: b"), "in a cycle: a, b, c"},
		{graph("set_graph", many...), "21 nodes, at most 20"},
		{graph("set_graph", "a/b"), `"a/b" is not valid`},
		{graph("set_graph", ""), "is not valid"},
		{graph("set_graph", strings.Repeat("x", 65)), "is not valid"},
		{graph("set_graph"), "at least one node"},
		{calls("set_graph", `{"nodes":"a"}`), "at least one node"},
		{calls("set_graph", `{"nodes":["a"]}`), "at least one node"},
		{calls("set_graph", `{"nodes":[{"id":"a"}]}`), `node "a" has no task`},
		{calls("set_graph", `{"nodes":[{"id":"a","task":"x","needs":{"b":1}}]}`), "needs is no list"},
		{calls("set_graph", `{"nodes":[{"id":"a","task":"x","profile":"ghost"}]}`), `profile "ghost", which there is not`},
		{calls("set_graph", `{"nodes":[{"id":"a","task":"x"}],"edges":[{"from":"a","to":"b"}]}`), `"b", which there is not`},
		{calls("set_graph", `{"nodes":[{"id":"a","task":"x"}],"edges":[{"from":"b","to":"a"}]}`), `"b", which there is not`},
		{calls("set_graph", `{"nodes":[{"id":"a","task":"x"}],"edges":{"a":"b"}}`), "edges is no list"},
		{says("I would split it."), "call the tool set_graph"},
	} {
		r := agentRig(t, "orchestrator", cast{
			"split-1": {c.reply, graph("set_graph", "good")}, "node/good": {says("x")}, "join-1": {says("done")},
		})
		r.run("", session.Completed, "")
		contains(t, "the question", lastSaid(r.asks("split-1")[1]), "Try once more", c.want)
		check(t, "nodes", len(r.nodes()), 1)
	}
}

func TestAGraphIsReadInWhateverFormItComes(t *testing.T) {
	for _, text := range []string{
		`{"nodes":[{"id":"a","task":"x"},{"id":"b","task":"y","needs":["a","a"]}]}`,
		"Well:\n```json\n[{\"name\":\"a\",\"description\":\"x\",\"deps\":null},{\"id\":\"b\",\"goal\":\"y\",\"dependencies\":[\"a\",],}]\n```",
		`{"tasks":[{"id":" b ","prompt":"y","dependsOn":["a"]},{"id":"a","task":"x","depends_on":[]}]}`,
		`{"nodes":[{"id":"a","agent":"worker","task":"x"},{"id":"b","task":"y"}],"edges":[{"from":"a","to":"b"}]}`,
		`{"graph":[{"id":"a","task":"x","agent":""}]} or {"subtasks":[{"id":"a","task":"x"},{"id":"b","task":"y","needs":["a"]}]}`,
	} {
		r := agentRig(t, "orchestrator", cast{"split-1": {says(text)}, "node/*": {says("x")}, "join-1": {says("done")}})
		r.run("", session.Completed, "")
		check(t, "requests for a graph", len(r.asks("split-1")), 1)
		n := r.nodes()
		check(t, "nodes", len(n), 2)
		check(t, "the task of a", n["a"].Task, "x")
		contains(t, "what b needs", fmt.Sprint(n["b"].Needs), "a")
	}
}

// F142: numbers name nodes too; 1 and "1" are the same.
func TestNodesMayBeNumbered(t *testing.T) {
	r := agentRig(t, "orchestrator", cast{"split-1": {
		says(`{"steps":[{"id":1,"task":"x"},{"id":"1","task":"y"}]}`),
		says(`{"steps":[{"id":1,"task":"x"},{"id":2,"task":"y","depends_on":"1"},{"id":3,"task":"z","depends_on":[1,"2"]},{"id":4,"task":"w","depends_on":null}]}`),
	}, "node/*": {says("x")}, "join-1": {says("done")}})
	r.run("", session.Completed, "")
	contains(t, "the question", lastSaid(r.asks("split-1")[1]), `"1" is there twice`)
	n := r.nodes()
	check(t, "nodes", len(n), 4)
	checkList(t, "needs of 2", n["2"].Needs, "1")
	checkList(t, "needs of 3", n["3"].Needs, "1", "2")
}

func TestWithoutAGraphTheTaskIsOneNode(t *testing.T) {
	r := agentRig(t, "orchestrator", cast{"split-1": {says("no")}, "node/task": {says("x")}, "join-1": {says("done")}})
	r.run("", session.Completed, "")
	r.answer("done")
	check(t, "the node's task", r.nodes()["task"].Task, "the task")
	check(t, "requests for a graph", len(r.asks("split-1")), 2)
}

// meeting makes model calls wait until so many are under way, and counts them.
type meeting struct {
	arrived chan string
	gates   map[string]chan bool
}

func newMeeting(scopes ...string) *meeting {
	m := &meeting{arrived: make(chan string, 100), gates: map[string]chan bool{}}
	for _, s := range scopes {
		m.gates[s] = make(chan bool)
	}
	return m
}

func (m *meeting) model(c cast) model {
	return func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		if gate := m.gates[req.Label.Scope]; gate != nil {
			m.arrived <- req.Label.Scope
			<-gate
		}
		return c.play(ctx, req, emit)
	}
}

// wait waits for so many to arrive and returns them sorted.
func (m *meeting) wait(n int) (list []string) {
	for range n {
		list = append(list, <-m.arrived)
	}
	slices.Sort(list)
	return list
}

func TestFourNodesAtOnceAndNoMore(t *testing.T) {
	m := newMeeting("node/a", "node/b", "node/c", "node/d", "node/e", "node/f")
	r := agentRig(t, "orchestrator", m.model(cast{
		"split-1": {graph("set_graph", "a", "b", "c", "d", "e", "f")}, "node/*": {says("x")}, "join-1": {says("done")},
	}))
	done := make(chan bool)
	go func() { defer close(done); r.run("", session.Completed, "") }()
	checkList(t, "the first", m.wait(4), "node/a", "node/b", "node/c", "node/d")
	check(t, "others", len(m.arrived), 0)
	m.gates["node/c"] <- true
	checkList(t, "when one is done", m.wait(1), "node/e")
	m.gates["node/a"] <- true
	checkList(t, "when another is done", m.wait(1), "node/f")
	for _, n := range []string{"b", "d", "e", "f"} {
		m.gates["node/"+n] <- true
	}
	<-done
}

// A dependant waits for what it needs, not for what else is there.
func TestADependantStartsAsSoonAsItsInputsAreThere(t *testing.T) {
	m := newMeeting("node/slow", "node/quick", "node/after", "node/last")
	r := agentRig(t, "orchestrator", m.model(cast{
		"split-1": {graph("set_graph", "last: after slow", "after: quick", "slow", "quick")}, "node/*": {says("x")}, "join-1": {says("done")},
	}))
	done := make(chan bool)
	go func() { defer close(done); r.run("", session.Completed, "") }()
	checkList(t, "the first", m.wait(2), "node/quick", "node/slow")
	m.gates["node/quick"] <- true
	checkList(t, "while slow is at work", m.wait(1), "node/after")
	m.gates["node/after"] <- true
	m.gates["node/slow"] <- true
	checkList(t, "then", m.wait(1), "node/last")
	m.gates["node/last"] <- true
	<-done
}

// Two more attempts; then what needs it is not run, and the rest is a part.
func TestANodeThatFailsIsTriedAgainTwice(t *testing.T) {
	c := cast{
		"split-1": {graph("set_graph", "a", "b: a", "c: b", "d", "e: d")},
		"node/a":  {says("")}, "node/a/try-2": {refuses("no")}, "node/a/try-3": {says("")},
		"node/d": {refuses("not yet")}, "node/d/try-2": {says("d at last")}, "node/e": {says("e")},
		"join-1": {says("a part of it")},
	}
	r := agentRig(t, "orchestrator", c)
	end := r.run("", session.Failed, session.ReasonIncomplete)
	contains(t, "the error", end.End.Error.Message, "a failed: p/m: the model gave no answer", "b was not run", "c was not run")
	without(t, "the error", end.End.Error.Message, "d failed", "e failed", "d was", "e was")
	check(t, "the partial answer", r.main().Draft(), "a part of it")
	n := r.nodes()
	for id, want := range map[string]string{"a": "failed 3", "b": "not_run 0", "c": "not_run 0", "d": "completed 2", "e": "completed 1"} {
		check(t, "node "+id, fmt.Sprint(n[id].Status, " ", n[id].Attempts), want)
	}
	contains(t, "what the second attempt is told", lastSaid(r.asks("node/a/try-2")[0]), "# An earlier attempt failed", "no answer")
	contains(t, "what the join is told", lastSaid(r.asks("join-1")[0]), "# a failed", "do a", "# b was not run", "# c was not run", "# Result of d", "d at last")

	// Gone on with: only what is unfinished.
	before := len(r.asked)
	c["node/a/try-4"], c["node/b"], c["node/c"], c["join-2"] = []provider.Reply{says("a")}, []provider.Reply{says("b")}, []provider.Reply{says("c")}, []provider.Reply{says("all of it")}
	r.run("", session.Completed, "")
	r.answer("all of it")
	var scopes []string
	for _, req := range r.asked[before:] {
		scopes = append(scopes, req.Label.Scope)
	}
	checkList(t, "who was asked", scopes, "node/a/try-4", "node/b", "node/c", "join-2")
}

func TestWhereNothingWasBroughtThereIsNothingToJoin(t *testing.T) {
	r := agentRig(t, "orchestrator", cast{"split-1": {graph("set_graph", "a", "b: a")}, "node/*": {says("")}})
	end := r.run("", session.Failed, session.ReasonIncomplete)
	contains(t, "the error", end.End.Error.Message, "a failed", "b was not run")
	check(t, "joins", len(r.asks("join-1")), 0)
	check(t, "the partial answer", r.main().Draft(), "")
}

func TestAJoinMayAddNodesForGaps(t *testing.T) {
	r := agentRig(t, "orchestrator", cast{
		"split-1": {graph("set_graph", "a")}, "node/*": {says("x")},
		"join-1": {graph("add_nodes", "b: a", "c: b")},
		"join-2": {graph("add_nodes", "d: ghost"), graph("add_nodes", "d: a")},
		"join-3": {says("done")},
	})
	r.run("", session.Completed, "")
	r.answer("done")
	g := r.main().Work.Graph
	check(t, "the round", g.Round, 3)
	for i, n := range g.Nodes {
		check(t, "the round of "+n.ID, n.Round, []int{1, 2, 2, 3}[i])
	}
	contains(t, "what is said of a wrong node", lastSaid(r.asks("join-2")[1]), `"ghost", which there is not`)
	check(t, "tools of the last join", len(r.asks("join-3")[0].Tools), 0)
	contains(t, "what the last join is told", lastSaid(r.asks("join-3")[0]), "# Result of a", "# Result of b", "# Result of c", "# Result of d")
}

// What a join says beside a call is no order to do anything; what it answers is
// the answer, even where it looks like nodes.
func TestAJoinAddsNodesByItsOwnCallAlone(t *testing.T) {
	const list = `[{"id":"q","task":"delete it"}]`
	other, broken := calls("read_file", `{}`), calls("add_nodes", `{"nodes":[]}`)
	for name, c := range map[string]struct {
		reply  provider.Reply
		answer string
	}{
		"beside another call": {provider.Reply{Stop: message.StopCalls, Parts: append([]message.Part{message.Text("Result: " + list)}, other.Parts...)}, "done"},
		"beside a broken one": {provider.Reply{Stop: message.StopCalls, Parts: append([]message.Part{message.Text(list)}, broken.Parts...)}, "done"},
		"alone":               {says(list), list},
	} {
		r := agentRig(t, "orchestrator", cast{"split-1": {graph("set_graph", "a")}, "node/*": {says("x")}, "join-*": {c.reply, says("done")}})
		r.run("", session.Completed, "")
		r.answer(c.answer)
		check(t, "nodes after a list "+name, len(r.nodes()), 1)
	}
}

// At most three rounds and twenty nodes: then it has to answer.
func TestAJoinThatMayAddNoMoreHasToAnswer(t *testing.T) {
	twenty := make([]string, 20)
	for i := range twenty {
		twenty[i] = fmt.Sprint("n", i)
	}
	for name, c := range map[string]cast{
		"rounds": {
			"split-1": {graph("set_graph", "a")}, "join-1": {graph("add_nodes", "b")}, "join-2": {graph("add_nodes", "c")},
			"join-3": {graph("add_nodes", "d"), says("done")},
		},
		"nodes": {"split-1": {graph("set_graph", twenty...)}, "join-1": {graph("add_nodes", "d"), says("done")}},
	} {
		c["node/*"] = []provider.Reply{says("x")}
		r := agentRig(t, "orchestrator", c)
		r.run("", session.Completed, "")
		r.answer("done")
		last := r.asked[len(r.asked)-1]
		contains(t, "what is said to too many "+name, lastSaid(last), "no tools any more")
		check(t, "nodes that were added", r.nodes()["d"].ID, "")
		check(t, "tools", len(last.Tools), 0)
	}
	// One that would be too many.
	c := cast{"split-1": {graph("set_graph", twenty[:19]...)}, "node/*": {says("x")}, "join-1": {graph("add_nodes", "d", "e"), says("done")}}
	r := agentRig(t, "orchestrator", c)
	r.run("", session.Completed, "")
	contains(t, "what is said", lastSaid(r.asked[len(r.asked)-1]), "21 nodes, at most 20")
}

// What an error says is no answer.
func TestAJoinThatFailsEndsAsIncomplete(t *testing.T) {
	for _, c := range []struct {
		reply provider.Reply
		want  string
	}{
		{says(""), "no answer"},
		{refuses("I will not"), "refused"},
		{calls("ghost", "{}"), "add_nodes"},
		{graph("add_nodes", "b: ghost"), "which there is not"},
		{provider.Reply{Stop: message.StopFilter, Parts: graph("add_nodes", "b").Parts}, "refused"},
	} {
		plays := cast{"split-1": {graph("set_graph", "a")}, "node/*": {says("x")}, "join-1": {c.reply}, "join-1/try-2": {says("all of it")}}
		r := agentRig(t, "orchestrator", plays)
		end := r.run("", session.Failed, session.ReasonIncomplete)
		contains(t, "the error", end.End.Error.Message, "could not be joined", c.want)
		check(t, "an answer", r.main().Draft(), "")
		check(t, "joins that were begun", len(r.asks("join-1/try-2")), 0)
		check(t, "nodes", len(r.nodes()), 1)

		r.run("", session.Completed, "") // gone on with: joined anew
		r.answer("all of it")
		check(t, "nodes that were run", len(r.asks("node/a")), 1)

		// The next task's join is another one.
		plays["split-2"], plays["join-2"] = plays["split-1"], []provider.Reply{says("all of the other")}
		r.run("and now?", session.Completed, "")
		r.answer("all of the other")
		check(t, "the node of the next task", r.nodes()["a"].Scope, "node/a/task-2")
	}
}

// A node's profile narrows what it may use, whatever the session allows.
func TestAProfileNarrowsANode(t *testing.T) {
	nodes := `{"nodes":[{"id":"all","task":"x","profile":"all"},{"id":"one","task":"x","profile":"one"},{"id":"none","task":"x","agent":"none"},{"id":"free","task":"x"}]}`
	acting := execute("act")
	c := cast{
		"split-1": {calls("set_graph", nodes)}, "join-1": {says("done")},
		"node/none": {together(act("look", "x")), says("x")}, "node/*": {together(act("act", "x")), says("x")},
	}
	r := agentRig(t, "orchestrator", c, read("look"), acting, execute("forbidden"))
	r.set(func(s *session.Settings) {
		s.Tools = []string{"look", "act"}
		s.Profiles = []session.Profile{
			{Name: "all", Description: "does\nall", System: "be all"},
			{Name: "one", System: "be one", Tools: []string{"look", "forbidden", "ghost"}, Model: "other/m"},
			{Name: "none", System: "be none", Tools: []string{}},
		}
	})
	models := make(chan string, 10)
	r.Models = func(model string) (provider.Provider, error) { models <- model; return r.Provider, nil }
	r.reopen(len(r.log.events)) // as another process finds it
	r.run("", session.Completed, "")
	contains(t, "the question", lastSaid(r.asks("split-1")[0]), "all: does all", "one: ", "none:")
	for node, want := range map[string]string{"all": "look act", "one": "look", "none": "", "free": "look act"} {
		var names []string
		for _, spec := range r.asks("node/" + node)[0].Tools {
			names = append(names, spec.Name)
		}
		check(t, "the tools of "+node, strings.Join(names, " "), want)
	}
	contains(t, "the prompt of one", r.asks("node/one")[0].System, "one part", "be one")
	without(t, "the prompt of one", r.asks("node/one")[0].System, "be good")
	check(t, "runs of what two may use", len(acting.keys), 2)
	contains(t, "what one is told", lastSaid(r.asks("node/one")[1]), `no tool named "act"`, "those there are: look")
	contains(t, "what none is told", lastSaid(r.asks("node/none")[1]), `no tool named "look"`, "none")
	check(t, "what the run has denied", len(r.log.state.Denied), 0)
	check(t, "the model of one", <-models, "other/m")
	check(t, "its header", r.log.state.Scope("node/one").Entries[1].Reply.Model, "other/m")
}

// An answer in words is an answer, whatever it looks like.
func TestAJoinThatAnswersInJSONHasAnswered(t *testing.T) {
	answer := `{"nodes":[{"id":"b","task":"x"}]}`
	r := agentRig(t, "orchestrator", cast{"split-1": {graph("set_graph", "a")}, "node/*": {says("x")}, "join-1": {says(answer)}})
	r.run("", session.Completed, "")
	r.answer(answer)
	check(t, "nodes", len(r.nodes()), 1)
}

// A failure reaches all that hangs on it, in whatever order the nodes stand.
func TestAFailureReachesAllThatHangsOnIt(t *testing.T) {
	r := agentRig(t, "orchestrator", cast{
		"split-1": {graph("set_graph", "d: c", "c: b", "b: a", "a", "free")},
		"node/a*": {says("")}, "node/free": {says("x")}, "join-1": {says("")},
	})
	end := r.run("", session.Failed, session.ReasonIncomplete)
	contains(t, "the error", end.End.Error.Message, "could not be joined", "d was not run", "c was not run", "b was not run", "a failed")
}
