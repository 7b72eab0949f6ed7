package cmd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kagent/pkg/session"
)

func nodesOf(statuses ...session.NodeStatus) []session.Node {
	var nodes []session.Node
	for i, s := range statuses {
		n := session.Node{GraphNode: session.GraphNode{ID: fmt.Sprintf("n%d", i+1), Task: "do 事 " + fmt.Sprint(i+1)}, Status: s}
		if s != session.NodePending {
			n.Scope = "node/" + n.ID
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func TestATerminalShowsTheNodesAsATree(t *testing.T) {
	began := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	nodes := nodesOf(session.NodeCompleted, session.NodeRunning, session.NodeFailed, session.NodePending)
	nodes[1].ID, nodes[1].Scope = "n2", "node/n2/try-2"
	nodes[2].Error = &session.Failure{Message: "no\x1b[31m such\nfile"}
	nodes[3].Needs = []string{"n1", "n2"}
	d := doing{Agent: "orchestrator", Began: began, Nodes: nodes, Works: []work{
		{Scope: "", What: theModel, Since: began},
		{Scope: "node/n2/try-2", What: "shell", Since: began.Add(-time.Minute)},
	}}
	want := `
├─ ✓ n1: do 事 1
├─ ▸ n2: do 事 2 · shell 1m2s
├─ ✗ n3: do 事 3: no�[31m such file
└─ · n4: do 事 4, after n1, n2
orchestrator · step 0 · nodes 1/4 · model · 0 tokens · 2s`
	got := d.live(began.Add(2*time.Second), 24)
	if text := "\n" + strings.Join(got, "\n"); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	for rows, lines := range map[int]int{24: 5, 6: 5, 5: 4, 4: 3, 3: 1, 1: 1} {
		if got := d.live(began, rows); len(got) != lines || len(got) > rows {
			t.Errorf("of %d rows %d are taken, want %d: %q", rows, len(got), lines, got)
		}
	}
	d.Nodes = nil
	if got := d.live(began, 24); len(got) != 1 || !strings.Contains(got[0], "node/n2/try-2: shell") {
		t.Errorf("without nodes: %q", got)
	}
}

// Where not all find room, what is under way does.
func TestTheForemostNodesAreShown(t *testing.T) {
	var statuses []session.NodeStatus
	for range 15 {
		statuses = append(statuses, session.NodeCompleted)
	}
	statuses = append(statuses, session.NodePending, session.NodeRunning, session.NodeFailed)
	d := doing{Nodes: nodesOf(statuses...)}
	got := strings.Join(d.tree(time.Time{}, 5), "\n")
	if want := "├─ ✓ n1: do 事 1\n├─ · n16: do 事 16\n├─ ▸ n17: do 事 17\n├─ ✗ n18: do 事 18: no reason is known\n└─ … and 14 more"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The whole program on a pseudo-terminal, and elsewhere.
func TestOnlyATerminalShowsTheTree(t *testing.T) {
	need(t, "script")
	d := newDesk(t)
	d.set("TERM", "xterm")
	const run = "kagent run -a orchestrator --stdin none --model demo 'look around'"
	out, _ := d.must(`script -qec "` + run + `" /dev/null </dev/null`)
	if !strings.Contains(out, "└─ ") || !strings.Contains(out, "nodes 1/") || !strings.Contains(out, above) {
		t.Errorf("on a terminal: %q", out)
	}
	if end := out[strings.LastIndex(out, erase)+len(erase):]; strings.Contains(end, "─") || !strings.Contains(end, "demo") {
		t.Errorf("what stays at the end: %q", end)
	}
	if _, said := d.must(run); strings.Contains(said, "─") || strings.Contains(said, "\x1b") {
		t.Errorf("elsewhere: %q", said)
	}
}
