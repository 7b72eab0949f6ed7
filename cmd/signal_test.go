package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// kagentIn starts the program in dir; the test binary is the program, see
// TestMain.
func kagentIn(t *testing.T, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	return commandIn(t, dir, "kagent", args...)
}

// commandIn starts any program there.
func commandIn(t *testing.T, dir, name string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, args...)
	c.Dir = dir
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	return c, &out
}

// toolRun is a session in the middle of a shell call: the call has said so
// through a FIFO and then waits for its end.
func toolRun(t *testing.T, command string, flags ...string) (dir string, c *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	dir = t.TempDir()
	script := "replies:\n" +
		"  - when: {tool_results: 0}\n    tool_calls: [{name: shell, arguments: {command: " + quoteYAML(command) + "}}]\n" +
		"  - text: \"end: {{tool_result}}\"\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	begun := filepath.Join(dir, "begun")
	fifo(t, begun)
	c, out = kagentIn(t, dir, append([]string{"run", "-s", "s", "--allow", "execute", "--model", "script:s.yaml", "go"}, flags...)...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	if _, err := os.ReadFile(begun); err != nil { // returns when the tool has written
		t.Fatal(err)
	}
	return dir, c, out
}

func fifo(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func quoteYAML(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func endedBy(t *testing.T, c *exec.Cmd, want syscall.Signal, out *bytes.Buffer) {
	t.Helper()
	c.Wait()
	if ws := c.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != want {
		t.Errorf("ended with %v, want the signal %v\n%s", c.ProcessState, want, out)
	}
}

func resumeEnds(t *testing.T, dir, want string) {
	t.Helper()
	c, out := kagentIn(t, dir, "resume", "s")
	if err := c.Run(); err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("resume: %v, want %q in\n%s", err, want, out)
	}
}

// F117, F122: saved first, then the tools are ended, then the signal is raised.
func TestSignalDuringToolSavesEndsToolAndIsRaisedAgain(t *testing.T) {
	childrenHearHangups()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			// The tool tells in a file what the session's checkpoint said when it
			// was ended.
			dir, c, out := toolRun(t, `trap 'cp .kagent-sessions/s.json seen; exit' TERM; echo > begun; while :; do read x < begun; done`)
			c.Process.Signal(sig)
			endedBy(t, c, sig, out)
			seen, err := os.ReadFile(filepath.Join(dir, "seen"))
			if err != nil || !bytes.Contains(seen, []byte(`"status":"interrupted","reason":"signal"`)) {
				t.Errorf("the tool was ended before the session was saved: %v %.200s", err, seen)
			}
			if !strings.Contains(out.String(), "resume with: kagent resume s") {
				t.Errorf("no resume line in\n%s", out)
			}
			resumeEnds(t, dir, "end: The outcome of this call is unknown")
		})
	}
}

// F116, F117: no child is left, however stubborn; the second signal ends at once.
func TestSecondSignalKillsStubbornTool(t *testing.T) {
	dir, c, out := toolRun(t, `trap 'echo > begun' TERM; echo $$ > pid; echo > begun; while :; do sleep 1; done`)
	c.Process.Signal(syscall.SIGTERM)
	if _, err := os.ReadFile(filepath.Join(dir, "begun")); err != nil { // it has seen and refused the first
		t.Fatal(err)
	}
	c.Process.Signal(syscall.SIGTERM)
	endedBy(t, c, syscall.SIGTERM, out)
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("kill", "-0", strings.TrimSpace(string(pid))).Run(); err == nil {
		t.Error("the tool is still running")
	}
	resumeEnds(t, dir, "end: ")
}

// A tool has as long to end as --grace says.
func TestAToolHasTheGraceThatWasGiven(t *testing.T) {
	for grace, cleaned := range map[string]bool{"50ms": false, "1m": true} {
		dir, c, out := toolRun(t, `trap 'sleep 1; echo > cleaned; exit' TERM; echo > begun; while :; do read x < begun; done`, "--grace", grace)
		c.Process.Signal(syscall.SIGTERM)
		endedBy(t, c, syscall.SIGTERM, out)
		if _, err := os.Stat(filepath.Join(dir, "cleaned")); cleaned != (err == nil) {
			t.Errorf("--grace %s: %v", grace, err)
		}
	}
	none, out := kagentIn(t, t.TempDir(), "run", "--grace", "0s", "-m", "demo", "hi")
	if none.Run(); none.ProcessState.ExitCode() != exitUsage || !strings.Contains(out.String(), "--grace 0s is not positive") {
		t.Errorf("%v %s", none.ProcessState, out)
	}
}

// F117: neither is one that has left its group.
func TestSignalEndsWhatAToolHasDetached(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil || runtime.GOOS != "linux" {
		t.Skip("needs Linux and setsid")
	}
	dir, c, out := toolRun(t, `(setsid sh -c 'echo $$ >pid; echo > begun; exec sleep 1000' >/dev/null 2>&1 &); exec sleep 1000`)
	c.Process.Signal(syscall.SIGTERM)
	endedBy(t, c, syscall.SIGTERM, out)
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("kill", "-9", strings.TrimSpace(string(pid))).Run(); err == nil {
		t.Error("what the tool had detached was still running")
	}
	resumeEnds(t, dir, "end: ")
}

// A kill leaves an active session, which every command shows as a crash.
func TestKillLeavesAResumableSession(t *testing.T) {
	dir, c, _ := toolRun(t, `echo > begun; exec sleep 1000`)
	c.Process.Kill()
	c.Wait()
	list, out := kagentIn(t, dir, "list")
	if err := list.Run(); err != nil || !strings.Contains(out.String(), "interrupted: crash") {
		t.Errorf("list: %v\n%s", err, out)
	}
	resumeEnds(t, dir, "end: The outcome of this call is unknown")
}

// Two resumes at once: one works, the other says who holds the session.
func TestSecondProcessIsRefusedWithTheHolder(t *testing.T) {
	dir, c, _ := toolRun(t, `echo > begun; read x < begun; echo ok`)
	for _, args := range [][]string{{"resume", "s"}, {"rm", "s"}, {"run", "-s", "s", "--model", "demo", "x"}} {
		second, out := kagentIn(t, dir, args...)
		second.Run()
		if code := second.ProcessState.ExitCode(); code != exitLocked || !strings.Contains(out.String(), "in use by process") {
			t.Errorf("%v: exit %d, want %d\n%s", args, code, exitLocked, out)
		}
	}
	c.Process.Kill()
}

// F117 (a): in the middle of a model call.
func TestSignalDuringModelCall(t *testing.T) {
	dir := t.TempDir()
	script := "replies:\n  - {when: {attempt: 1}, text: 'half an answer', delay: 1000s}\n  - text: whole\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := kagentIn(t, dir, "run", "-s", "s", "--step-timeout", "2000s", "--model", "script:s.yaml", "go")
	c.Stderr = nil
	pipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	for b := make([]byte, 1); !strings.Contains(said.String(), "step 1\n"); { // the call has begun
		if _, err := pipe.Read(b); err != nil {
			t.Fatal(err, said.String())
		}
		said.Write(b)
	}
	c.Process.Signal(syscall.SIGTERM)
	said.ReadFrom(pipe)
	endedBy(t, c, syscall.SIGTERM, &said)
	resumeEnds(t, dir, "whole")
}

// Ctrl-\ is a signal like the others: saved first, no stacks.
func TestQuitIsSavedAndShowsNoStacks(t *testing.T) {
	dir, c, out := toolRun(t, `echo > begun; exec sleep 1000`)
	c.Process.Signal(syscall.SIGQUIT)
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != signalBase+int(syscall.SIGQUIT) || strings.Contains(out.String(), "goroutine") {
		t.Errorf("exit %d\n%s", code, out)
	}
	resumeEnds(t, dir, "end: The outcome of this call is unknown")
}

// What whoever started kagent left open is not handed on to tools.
func TestToolsInheritNoDescriptors(t *testing.T) {
	dir := t.TempDir()
	script := "replies:\n  - when: {tool_results: 0}\n    tool_calls: [{name: shell, arguments: {command: 'cat <&9'}}]\n  - text: '{{tool_result}}'\n"
	for name, text := range map[string]string{"s.yaml": script, "secret": "the secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("sh", "-c", "kagent run -q --stdin none --allow execute --model script:s.yaml go 9<secret")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "the secret") {
		t.Errorf("%v %s", err, out)
	}
}
