package cmd

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Sixty-four runs at once in one directory get their answers, each in a session
// of its own that is sound.
func TestSixtyFourRunsAtOnce(t *testing.T) {
	const n = 64
	dir := t.TempDir()
	var all []*exec.Cmd
	for i := range n {
		c, _ := kagentIn(t, dir, "run", "-q", "-s", fmt.Sprintf("s%02d", i), "--stdin", "none", "--model", "demo", "what is here?")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill() })
		all = append(all, c)
	}
	var memory int64
	for i, c := range all {
		c.Wait()
		if code := c.ProcessState.ExitCode(); code != exitOK {
			t.Errorf("run %d: exit %d\n%s", i, code, c.Stdout)
		}
		memory += c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	}
	t.Logf("the peaks of the %d processes come to %d MiB", n, memory/1024)

	verify, out := kagentIn(t, dir, "verify")
	if err := verify.Run(); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
	list, out := kagentIn(t, dir, "list", "-o", "json")
	var sessions []struct{ SessionID, Status string }
	if err := list.Run(); err != nil || json.Unmarshal(out.Bytes(), &sessions) != nil || len(sessions) != n {
		t.Errorf("list: %v, %d sessions, want %d\n%s", err, len(sessions), n, out)
	}
	if done := strings.Count(out.String(), `"status":"completed"`); done != n {
		t.Errorf("%d are completed, want %d", done, n)
	}
}
