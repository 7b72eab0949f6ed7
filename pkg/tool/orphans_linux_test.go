package tool

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// daemon leaves its group at once, writes its number to a file and stays.
const daemon = `daemon() { setsid "$@" sh -c 'echo $$ >tmp.$0; mv tmp.$0 $0; exec sleep 600' pid >/dev/null 2>&1 </dev/null & }
	up() { while [ ! -e pid ]; do :; done; echo up; }; `

func adopt(t *testing.T) *Orphans {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	o := AdoptOrphans()
	if o == nil {
		t.Skip("no sub-reapers here")
	}
	t.Cleanup(o.Close)
	return o
}

// pidIn reads a number that a command has left; the process is killed at the end.
func pidIn(t *testing.T, ws *Workspace, name string) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(mustRead(t, filepath.Join(ws.Dir(), name))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestWhatLeavesItsGroupEndsWithItsCall(t *testing.T) {
	o := adopt(t)
	for name, command := range map[string]string{
		"setsid":             daemon + `daemon; up`,
		"twice":              daemon + `(daemon setsid &); up`,
		"without its marker": daemon + `daemon env -i "PATH=$PATH" sh -c 'exec "$@" 3>&- 4>&-' sh; up`,
		"a tree of them":     daemon + `daemon setsid sh -c '"$@" & sleep 600 & wait' sh; up`,
	} {
		ws := workspace(t)
		r := run(t, Shell(ws, ShellOptions{Orphans: o}), obj{"command": command})
		if r.Outcome != OK || r.Text != "up\n[processes that it had left in the background were killed]" {
			t.Errorf("%s: %s %q", name, r.Outcome, r.Text)
		}
		if alive(pidIn(t, ws, "pid")) {
			t.Errorf("%s: it still lives", name)
		}
		if left, err := children(); err != nil || len(left) > 0 {
			t.Errorf("%s: children %v are left (%v)", name, left, err)
		}
	}
}

func TestATimeoutEndsWhatHasLeftTheGroup(t *testing.T) {
	ws := workspace(t)
	sh := Shell(ws, ShellOptions{Orphans: adopt(t), Grace: time.Millisecond})
	wantOutcome(t, run(t, sh, obj{"command": daemon + `daemon; up; sleep 600`, "timeout": 1}), Timeout)
	if alive(pidIn(t, ws, "pid")) {
		t.Error("it outlived the timeout of its call")
	}
}

// It holds the output, so that the grace would not end before it does.
func TestAStopAsksWhatHasLeftTheGroupFirst(t *testing.T) {
	asked := `trap "echo asked; exit" TERM; echo >ready; while :; do sleep 0.01; done`
	o := adopt(t)
	for name, command := range map[string]string{
		"a child of the shell": `setsid sh -c '` + asked + `' & exec sleep 600`,
		"an orphan":            `(setsid sh -c '` + asked + `' &); exec sleep 600`,
	} {
		r := stoppable(t, ShellOptions{Orphans: o, Grace: time.Hour}, command, 600, func(_ *Workspace, cancel context.CancelCauseFunc) { cancel(nil) })
		if r.Outcome != Stopped || strings.Count(r.Text, "asked") != 1 {
			t.Errorf("%s: %s %q", name, r.Outcome, r.Text)
		}
		if left, err := children(); err != nil || len(left) > 0 {
			t.Errorf("%s: children %v are left (%v)", name, left, err)
		}
	}
}

func TestACallLeavesTheOrphansOfOthersAlone(t *testing.T) {
	ws := workspace(t)
	fifo(t, ws, "go")
	sh := Shell(ws, ShellOptions{Orphans: adopt(t)})
	call := func(key, command string) Result {
		return sh.Run(t.Context(), Call{Args: []byte(`{"command":` + quoted(command) + `}`), Key: key})
	}
	first := make(chan Result)
	go func() { first <- call("first", daemon+`daemon; up; cat go`) }()
	// The second call sees the first one's orphan and goes.
	r := call("second", `while [ ! -e pid ]; do :; done; kill -0 $(cat pid) && echo seen`)
	if r.Text != "seen\n" {
		t.Errorf("second: %q", r.Text)
	}
	if pid := pidIn(t, ws, "pid"); !alive(pid) {
		t.Error("the second call has ended what the first one had started")
	}
	if r := call("third", `echo over >go`); r.Outcome != OK {
		t.Errorf("third: %q", r.Text)
	}
	if r := <-first; r.Text != "up\nover\n[processes that it had left in the background were killed]" {
		t.Errorf("first: %q", r.Text)
	}
	if alive(pidIn(t, ws, "pid")) {
		t.Error("it outlived its call")
	}
}

func TestOtherChildrenOfTheProcessAreLeftAlone(t *testing.T) {
	o := adopt(t)
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	run(t, Shell(workspace(t), ShellOptions{Orphans: o}), obj{"command": "setsid sleep 600 & true"})
	if !alive(other.Process.Pid) {
		t.Error("it was killed")
	}
	other.Process.Kill()
	if err := other.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("somebody else has reaped it: %v", err)
	}
}

func TestOrphansThatEndByThemselvesAreReapedDuringTheCall(t *testing.T) {
	ws := workspace(t)
	// The command waits until the orphan's number is free, which only a reaper can bring about.
	r := run(t, Shell(ws, ShellOptions{Orphans: adopt(t)}), obj{"command": `(setsid sh -c 'echo $$ >tmp; mv tmp pid' &)
		while [ ! -e pid ]; do :; done; while kill -0 $(cat pid) 2>/dev/null; do :; done; echo gone`, "timeout": 60})
	if r.Outcome != OK || r.Text != "gone\n" {
		t.Errorf("%s %q", r.Outcome, r.Text)
	}
}

// The kernel's list of children can lack some while others end.
func TestNoChildIsOverlookedWhileOthersEnd(t *testing.T) {
	stays := exec.Command("sleep", "600")
	if err := stays.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stays.Process.Kill(); stays.Wait() })
	over := make(chan struct{})
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for range 60 {
				if err := exec.Command("true").Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { others.Wait(); close(over) }()
	for looks := 1; ; looks++ {
		pids, err := children()
		if err != nil || !slices.Contains(pids, stays.Process.Pid) {
			t.Fatalf("look %d: %v, %v lacks %d", looks, err, pids, stays.Process.Pid)
		}
		select {
		case <-over:
			return
		default:
		}
	}
}
