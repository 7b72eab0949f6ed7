package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run is stopped in the middle of a tool; it is saved as cancelled, and its
// tool is gone when cancel returns.
func TestCancelStopsARunInTheMiddleOfATool(t *testing.T) {
	dir, c, out := toolRun(t, `echo $$ > pid; echo > begun; exec sleep 1000`)
	cancel, said := kagentIn(t, dir, "cancel", "s")
	if err := cancel.Run(); err != nil || !strings.Contains(said.String(), "session s is cancelled") {
		t.Errorf("%v\n%s", err, said)
	}
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitSigint || !strings.Contains(out.String(), "kagent: cancelled") {
		t.Errorf("exit %d\n%s", code, out)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
		t.Error("the tool still runs")
	}
	list, out := kagentIn(t, dir, "list", "--status", "cancelled", "-q")
	if err := list.Run(); err != nil || out.String() != "s\n" {
		t.Errorf("%v %s", err, out)
	}
	resumeEnds(t, dir, "end: The outcome of this call is unknown")
}

func TestCancelStopsARunInTheMiddleOfAModelCall(t *testing.T) {
	dir := t.TempDir()
	script := "replies:\n  - {when: {attempt: 1}, text: 'half an answer', delay: 1000s}\n  - text: whole\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := kagentIn(t, dir, "run", "-s", "s", "--step-timeout", "2000s", "--model", "script:s.yaml", "go")
	rest := said(t, c, "step 1\n")
	cancel, out := kagentIn(t, dir, "cancel", "s")
	if err := cancel.Run(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	rest()
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitSigint {
		t.Errorf("exit %d", code)
	}
	resumeEnds(t, dir, "whole")
}

// Of what is sent while a run works, each is heard once.
func TestARunHearsWhatIsSentToIt(t *testing.T) {
	dir := t.TempDir()
	script := "replies:\n  - when: {tool_results: 0}\n    tool_calls: [{name: shell, arguments: {command: 'echo > begun; read x < begun'}}]\n" +
		"  - text: \"answer to {{last_user}}\"\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo(t, filepath.Join(dir, "begun"))
	c, out := kagentIn(t, dir, "run", "-s", "s", "--allow", "execute", "--model", "script:s.yaml", "go")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	if _, err := os.ReadFile(filepath.Join(dir, "begun")); err != nil {
		t.Fatal(err)
	}
	send, sent := kagentIn(t, dir, "send", "s", "mind the gap 🚇")
	if err := send.Run(); err != nil || !strings.Contains(sent.String(), "before the next step") {
		t.Errorf("%v\n%s", err, sent)
	}
	if err := os.WriteFile(filepath.Join(dir, "begun"), []byte("\n"), 0o600); err != nil { // the tool ends
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil || !strings.Contains(out.String(), "answer to mind the gap 🚇\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".kagent-sessions", "s", "inbox")); err != nil || len(left) > 0 {
		t.Errorf("left in the inbox: %v %v", left, err)
	}
}

// Whoever lists sees who works on what, and how long ago it said something.
func TestListShowsWhoIsAlive(t *testing.T) {
	dir, c, _ := toolRun(t, `echo > begun; exec sleep 1000`)
	list, out := kagentIn(t, dir, "list")
	if err := list.Run(); err != nil || !strings.Contains(out.String(), fmt.Sprintf("active  %d@", c.Process.Pid)) {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".kagent-sessions", "s", "status.json"))
	if err != nil || !strings.Contains(string(text), `"status":"active"`) || !strings.Contains(string(text), fmt.Sprintf(`"pid":%d,`, c.Process.Pid)) {
		t.Errorf("%v %s", err, text)
	}
}
