package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// summarising is a session with one turn, and a `kagent compact` of it that
// waits for the model.
func summarising(t *testing.T) (dir string, c *exec.Cmd, said *bytes.Buffer) {
	t.Helper()
	dir = t.TempDir()
	script := "replies:\n  - {when: {scope: summarise-1, attempt: 1}, text: half a summary, pieces: 2, piece_delay: 1000s}\n" +
		"  - {when: {scope: 'summarise-*'}, text: in short}\n  - text: 'answer to {{last_user}}, at length'\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	said = &bytes.Buffer{}
	kagent(t, dir, 0, "run", "-q", "-s", "s", "--idle-timeout", "2000s", "--step-timeout", "2000s", "--model", "script:s.yaml", "first")
	c, _ = kagentIn(t, dir, "compact", "s")
	c.Stderr = nil
	pipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for b := make([]byte, 1); !strings.Contains(said.String(), "summarise-1: step 1\n"); {
		if _, err := pipe.Read(b); err != nil {
			t.Fatal(err, said.String())
		}
		said.Write(b)
	}
	t.Cleanup(func() { c.Process.Kill() })
	return dir, c, said
}

// kagent runs the command to its end and returns what it printed.
func kagent(t *testing.T, dir string, code int, args ...string) string {
	t.Helper()
	c, out := kagentIn(t, dir, args...)
	c.Stderr = nil
	c.Run()
	if got := c.ProcessState.ExitCode(); got != code {
		t.Fatalf("kagent %v exited with %d, want %d", args, got, code)
	}
	return out.String()
}

// F136: a summary that is interrupted, or killed, leaves the session as it was.
func TestAnInterruptedSummaryChangesNothing(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		dir, c, said := summarising(t)
		kagent(t, dir, exitLocked, "compact", "s")
		c.Process.Signal(sig)
		c.Wait()
		if got := c.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != sig {
			t.Errorf("%v: ended by %v: %s", sig, got, said)
		}
		messages := kagent(t, dir, 0, "show", "s", "--messages")
		if !strings.Contains(messages, `"first"`) || !strings.Contains(messages, "at length") || strings.Contains(messages, "[Summary") {
			t.Errorf("%v: %s", sig, messages)
		}
		if list := kagent(t, dir, 0, "list"); !strings.Contains(list, "completed  ") {
			t.Errorf("%v: %s", sig, list)
		}
		if again := kagent(t, dir, 0, "resume", "s"); again != "answer to first, at length\n" {
			t.Errorf("%v: its answer is %q", sig, again)
		}
		if next := kagent(t, dir, 0, "resume", "-q", "s", "second"); next != "answer to second, at length\n" {
			t.Errorf("%v: the next answer is %q", sig, next)
		}
		kagent(t, dir, 0, "compact", "s")
		if messages := kagent(t, dir, 0, "show", "s", "--messages"); !strings.Contains(messages, "in short") {
			t.Errorf("%v: after another: %s", sig, messages)
		}
		kagent(t, dir, 0, "verify")
	}
}
