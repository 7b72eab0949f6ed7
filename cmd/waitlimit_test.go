package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// waiting is a run that waits for a rate limit; rest reads what else it says.
func waiting(t *testing.T) (dir string, c *exec.Cmd, rest func()) {
	t.Helper()
	dir = t.TempDir()
	script := "replies:\n  - when: {attempt: 1}\n    error: {kind: rate_limit, message: slow down, retry_after: 1000h}\n  - text: done\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ = kagentIn(t, dir, "run", "-q", "-s", "s", "--wait-limit", "2000h", "-m", "script:s.yaml", "hi")
	return dir, c, said(t, c, "waiting until")
}

func stands(t *testing.T, dir, want string) {
	t.Helper()
	list, out := kagentIn(t, dir, "list", "-o", "json")
	if err := list.Run(); err != nil || !strings.Contains(out.String(), want) {
		t.Errorf("%v, no %s in %s", err, want, out)
	}
}

// While a limit is waited for the session is saved: a kill loses nothing, and a
// resumer leaves it alone until the limit has ended.
func TestWhileALimitIsWaitedForTheSessionIsSaved(t *testing.T) {
	dir, c, _ := waiting(t)
	stands(t, dir, `"status":"interrupted","reason":"rate_limit"`)
	c.Process.Kill()
	c.Wait()
	stands(t, dir, `"status":"interrupted","reason":"rate_limit"`)
	all, out := kagentIn(t, dir, "resume", "-q", "--interrupted")
	if err := all.Run(); err != nil || out.Len() > 0 {
		t.Errorf("%v %s", err, out)
	}
	resumeEnds(t, dir, "done")
}

// A wait can be cut by a signal and by cancel.
func TestAWaitForALimitIsCut(t *testing.T) {
	dir, c, rest := waiting(t)
	c.Process.Signal(syscall.SIGTERM)
	rest()
	c.Wait()
	if ws := c.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGTERM {
		t.Errorf("%v", c.ProcessState)
	}
	stands(t, dir, `"status":"interrupted","reason":"signal"`)
	resumeEnds(t, dir, "done")

	dir, c, rest = waiting(t)
	cancel, out := kagentIn(t, dir, "cancel", "s")
	if err := cancel.Run(); err != nil {
		t.Errorf("%v %s", err, out)
	}
	rest()
	if c.Wait(); c.ProcessState.ExitCode() != exitSigint {
		t.Errorf("%v", c.ProcessState)
	}
	stands(t, dir, `"status":"cancelled","reason":""`)
	resumeEnds(t, dir, "done")
}
