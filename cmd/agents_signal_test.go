package cmd

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// threeAtWork are nodes of a task graph: a is in a tool that tells what the
// checkpoint said when it was ended, b in a model call, and c in another one
// after a tool.
const threeAtWork = `
replies:
  - when: {scope: split-1}
    tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: a}, {id: b, task: b}, {id: c, task: c}, {id: d, task: d, needs: [a, b, c]}]}}]
  - when: {scope: node/a, ordinal: 1}
    tool_calls: [{name: shell, arguments: {command: "trap 'cp .kagent-sessions/s.json seen; exit' TERM; echo a >>effects; echo > begun; while :; do read x < begun; done"}}]
  - {when: {scope: node/b, attempt: 1}, text: half, delay: 1000s}
  - when: {scope: node/c, ordinal: 1}
    tool_calls: [{name: shell, arguments: {command: "echo c >>effects"}}]
  - {when: {scope: node/c, ordinal: 2, attempt: 1}, text: half, delay: 1000s}
  - {when: {scope: "node/*"}, text: "brought: {{tool_result}}"}
  - {when: {scope: join-1}, text: "all of it"}
`

// lines reads until all of these were seen.
func linesUntil(t *testing.T, in *bufio.Scanner, want ...string) {
	t.Helper()
	for left := len(want); left > 0; {
		if !in.Scan() {
			t.Fatalf("the program ended before it said %q", want)
		}
		for i, w := range want {
			if w != "" && strings.HasPrefix(in.Text(), w) {
				want[i] = ""
				left--
			}
		}
	}
}

// A signal in the middle of children's model calls and tools: saved first, then
// the tools are ended and the signal is raised. What children had finished is
// there, and a resume does the rest.
func TestSignalInTheMiddleOfChildren(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(threeAtWork), 0o600); err != nil {
				t.Fatal(err)
			}
			fifo := filepath.Join(dir, "begun")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			c, _ := kagentIn(t, dir, "run", "-s", "s", "-a", "orchestrator", "--allow", "execute", "--step-timeout", "2000s", "--model", "script:s.yaml", "--stdin", "none", "go")
			c.Stderr = nil
			pipe, err := c.StderrPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Process.Kill(); c.Wait() })
			said := bufio.NewScanner(pipe)
			linesUntil(t, said, "node/b: step 1", "node/c: step 2")
			if _, err := os.ReadFile(fifo); err != nil { // a's tool is at work
				t.Fatal(err)
			}
			c.Process.Signal(sig)
			linesUntil(t, said, "resume with: kagent resume s")
			var rest bytes.Buffer
			endedBy(t, c, sig, &rest)
			seen, err := os.ReadFile(filepath.Join(dir, "seen"))
			if err != nil || !bytes.Contains(seen, []byte(`"status":"interrupted","reason":"signal"`)) || !bytes.Contains(seen, []byte(`"scope":"node/b"`)) {
				t.Errorf("the tool was ended before the session was saved: %v %.300s", err, seen)
			}
			resumeEnds(t, dir, "all of it")
			effects, _ := os.ReadFile(filepath.Join(dir, "effects"))
			if n := strings.Count(string(effects), "\n"); n != 2 {
				t.Errorf("%d effects, want 2: %s", n, effects)
			}
			show, err := exec.Command("kagent", "show", "s", "--dir", filepath.Join(dir, ".kagent-sessions"), "-o", "json").Output()
			if err != nil || !bytes.Contains(show, []byte("brought: The outcome of this call is unknown")) || !bytes.Contains(show, []byte(`brought: [no output]`)) {
				t.Errorf("the nodes brought other things: %v\n%s", err, show)
			}
			if out, err := exec.Command("kagent", "verify", "s", "--dir", filepath.Join(dir, ".kagent-sessions")).CombinedOutput(); err != nil {
				t.Errorf("verify: %v\n%s", err, out)
			}
		})
	}
}
