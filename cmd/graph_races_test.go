package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kagent/pkg/session"
)

// Of five that go on with a killed orchestrator at once, one does the work and
// the others are told that it is in use: no reply is paid for twice, and no
// command runs twice.
func TestFiveResumersOfOneGraph(t *testing.T) {
	dir := scripted(t, `- {when: {scope: split-1}, tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: a}, {id: b, task: b}, {id: c, task: c, needs: [a, b]}]}}]}
- {when: {scope: 'node/*', ordinal: 1}, delay: 20ms, tool_calls: [{name: shell, arguments: {command: "echo $KAGENT_IDEMPOTENCY_KEY >> effects"}}]}
- {when: {scope: 'node/*'}, delay: 20ms, text: part}
- {when: {scope: join-1}, delay: 20ms, text: the end}`)
	c, _ := kagentIn(t, dir, "run", "-s", "s", "-a", "orchestrator", "--allow", "execute", "--stdin", "none", "-m", "script:s.yaml", "go")
	rest := said(t, c, "node/a: step 1\n")
	c.Process.Kill()
	rest()
	c.Wait()
	var wg sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for range 5 {
		c, out := kagentIn(t, dir, "resume", "-q", "s")
		wg.Go(func() {
			c.Run()
			mu.Lock()
			defer mu.Unlock()
			codes[c.ProcessState.ExitCode()]++
			if code := c.ProcessState.ExitCode(); code != exitOK && code != exitLocked {
				t.Errorf("exit %d: %s", code, out)
			}
		})
	}
	wg.Wait()
	if codes[exitOK] == 0 { // a command of the killed one was still running
		resumeEnds(t, dir, "the end")
	}
	replies := map[string]int{}
	log, err := os.ReadFile(filepath.Join(dir, ".kagent-sessions", "s", "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		var e session.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Data.(*session.AssistantMessage); ok {
			replies[e.Scope]++
		}
	}
	for scope, want := range map[string]int{"split-1": 1, "node/a": 2, "node/b": 2, "node/c": 2, "join-1": 1} {
		if replies[scope] != want {
			t.Errorf("%s has %d replies, want %d", scope, replies[scope], want)
		}
	}
	ran, err := os.ReadFile(filepath.Join(dir, "effects"))
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for key := range strings.Lines(string(ran)) {
		if keys[key] {
			t.Errorf("the command of call %s ran twice", key)
		}
		keys[key] = true
	}
}
