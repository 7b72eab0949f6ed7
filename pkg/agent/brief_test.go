package agent_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// requestSize is a whole request in characters.
func requestSize(req provider.Request) int {
	n := session.View{System: req.System, Messages: req.Messages}.Chars() + utf8.RuneCountInString(req.Note)
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// wordy is a graph of 12 nodes that bring 30,000 characters each, all for one.
func wordy() cast {
	c := cast{"join-1": {says("all of it")}, "node/last": {says("the end")}}
	var nodes, ids []string
	for i := range 11 {
		id := fmt.Sprint("n", i)
		ids, nodes = append(ids, id), append(nodes, id)
		c["node/"+id] = []provider.Reply{says(fmt.Sprintf("begin %s %s end %s", id, strings.Repeat("长 ", 15_000), id))}
	}
	c["split-1"] = []provider.Reply{graph("set_graph", append(nodes, "last: "+strings.Join(ids, " "))...)}
	return c
}

// However much nodes bring and users ask, what dependants and the join are told
// fits, and says what is missing.
func TestWhatNodesAreToldFitsTheBudget(t *testing.T) {
	for name, c := range map[string]struct{ chars, window, most int }{
		"characters": {chars: 9000, most: 9000},
		"a window":   {window: 4000, most: 9600},
		"neither":    {most: 201_500},
	} {
		t.Run(name, func(t *testing.T) {
			r := agentRig(t, "orchestrator", wordy(), read("look"))
			r.set(func(s *session.Settings) { s.ContextChars = c.chars })
			r.Window = func(string) int { return c.window }
			r.run(strings.Repeat("and more ", 40_000)+"at last", session.Completed, "")
			for _, req := range r.asked {
				if n := requestSize(req); n > c.most {
					t.Errorf("%s was asked %d characters, %d are allowed", req.Label.Scope, n, c.most)
				}
			}
			join := lastSaid(r.asks("join-1")[0])
			contains(t, "what the join is told", join, "the task", "characters left out", "at last", "# Result of n0", "characters left out", "# Result of last\n\nthe end")
			if c.chars == 0 {
				contains(t, "what the join is told", join, "begin n0", "of 30016 characters left out …]", "end n0")
			}
			contains(t, "what a node is told", lastSaid(r.asks("node/last")[0]), "# Your part\n\ndo last", "# The whole request", "left out", "at last", "# Result of n10", "left out")
		})
	}
}

// A question that was answered is not asked again because another budget would
// tell more or less of it.
func TestAnotherBudgetAsksNoQuestionAgain(t *testing.T) {
	for _, budgets := range [][2]int{{9000, 0}, {0, 9000}, {9000, 6000}} {
		r := agentRig(t, "orchestrator", wordy(), read("look"))
		r.set(func(s *session.Settings) { s.ContextChars = budgets[0] })
		r.run("", session.Completed, "")
		for n, e := range r.log.events {
			if _, end := e.Data.(*session.TurnEnd); !end || e.Scope != "split-1" && e.Scope != "join-1" {
				continue
			}
			r := &rig{TB: t, Runner: r.Runner, log: r.log}
			r.reopen(n + 1)
			r.set(func(s *session.Settings) { s.ContextChars = budgets[1] })
			state := r.log.state
			for _, kind := range []string{"split", "join"} {
				asked := state.Scope(kind + "-1")
				if asked == nil {
					continue
				}
				if _, err := r.Runner.Run(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				if again := r.log.state.Scope(kind + "-1/try-2"); again != nil {
					t.Errorf("budgets %v: %s was asked again, cut after event %d", budgets, kind, n)
				}
			}
		}
	}
}

// The whole of what is cut can be read where there is read_file, also in a fork
// and after an export.
func TestTheWholeOfACutResultIsKept(t *testing.T) {
	s := newStage(t, play{agent: "orchestrator", set: func(s *session.Settings) { s.ContextChars = 9000 }})
	ws, err := tool.NewWorkspace(t.TempDir(), s.dir)
	if err != nil {
		t.Fatal(err)
	}
	j := s.create("read_file")
	r := agentRig(t, "orchestrator", wordy())
	if r.Tools, err = tool.NewSet(tool.ReadFile(ws, nil)); err != nil {
		t.Fatal(err)
	}
	r.Journal, r.Artifacts = j, store{j.Artifacts()}
	if end, err := r.Run(t.Context(), ""); err != nil || end.Status != session.Completed {
		t.Fatalf("ended %+v, %v", end, err)
	}
	child := j.State().Scope("node/last").Child
	check(t, "artifacts", len(child.Artifacts), 11)
	contains(t, "what it is told", child.Task, "# Result of n0", `read_file with path "artifact:`+child.Artifacts[0].Ref[:16]+`"`)
	f, _, err := j.Artifacts().Open(child.Artifacts[0].Ref[:16])
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the whole", string(b), "begin n0", "end n0")
	if join := j.State().Scope("join-1").Child; len(join.Artifacts) > 0 || strings.Contains(join.Task, "read_file") {
		t.Error("the join is told of a tool that it has not")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := s.store.Verify("s")
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("verified: %+v, %v", report, err)
	}
}
