package tool

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// eventually waits for what another process brings about.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: never", what)
		}
	}
}

var inBackground = regexp.MustCompile(`runs in the background, as process (\d+)(?s:.*)output goes to (\S+): read`)

// begun is a background call that did not end at once.
func begun(t *testing.T, sh Tool, args obj) (pid int, log string) {
	t.Helper()
	args["background"] = true
	r := run(t, sh, args)
	m := inBackground.FindStringSubmatch(r.Text)
	if r.Outcome != OK || m == nil {
		t.Fatalf("%s %q", r.Outcome, r.Text)
	}
	fmt.Sscan(m[1], &pid)
	return pid, m[2]
}

func says(t *testing.T, file, want string) func() bool {
	return func() bool {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(b), want)
	}
}

func TestACommandGoesOnInTheBackground(t *testing.T) {
	ws := workspace(t)
	sh := Shell(ws, ShellOptions{Mask: NewMasker([]string{"MY_TOKEN=hunter2-hunter2"})})
	defer sh.(io.Closer).Close()
	pid, log := begun(t, sh, obj{"command": "echo 你好 hunter2-hunter2; until [ -e go ]; do sleep 0.01; done; echo bye; exit 3"})
	eventually(t, "its first words", says(t, log, "你好"))
	r := run(t, sh, obj{"command": "cat " + log}) // another call reads it, and does not end it
	wantText(t, r.Text, "你好 [")
	if strings.Contains(r.Text, "hunter2") {
		t.Errorf("a secret: %q", r.Text)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	put(t, ws, "go", "")
	eventually(t, "its end", says(t, log, "bye\n\n[exit code 3]\n"))
	info, err := os.Stat(log)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestABackgroundCommandThatEndsAtOnceIsToldOf(t *testing.T) {
	sh := Shell(workspace(t), ShellOptions{})
	defer sh.(io.Closer).Close()
	r := run(t, sh, obj{"command": "no-such-command-at-all", "background": true})
	if r.Outcome != Failed || r.ExitCode == nil || *r.ExitCode != 127 {
		t.Errorf("%+v", r)
	}
}

// Nothing outlives the run: not what ignores to be asked, not its files.
func TestWhatRunsInTheBackgroundEndsWithTheRun(t *testing.T) {
	sh := Shell(workspace(t), ShellOptions{Grace: 50 * time.Millisecond})
	var pids []int
	var dir string
	for _, command := range []string{"sleep 600", "trap '' TERM; while :; do sleep 0.01; done", "sleep 600 & wait"} {
		pid, log := begun(t, sh, obj{"command": command})
		pids, dir = append(pids, pid), filepath.Dir(log)
	}
	if err := sh.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("process %d is still there", pid)
		}
		// Their children are reaped by another process, in its own time.
		eventually(t, "an end of its group", func() bool { return syscall.Kill(-pid, 0) != nil })
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its files are still there: %v", err)
	}
	wantText(t, run(t, sh, obj{"command": "sleep 600", "background": true}).Text, "the run has ended")
	if err := sh.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
}

func TestBackgroundCommandsAreBounded(t *testing.T) {
	sh := Shell(workspace(t), ShellOptions{})
	defer sh.(io.Closer).Close()
	var pids []int
	for range maxJobs {
		pid, _ := begun(t, sh, obj{"command": "sleep 600"})
		pids = append(pids, pid)
	}
	wantText(t, run(t, sh, obj{"command": "sleep 600", "background": true}).Text, "8 commands run in the background already")
	if err := syscall.Kill(-pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "room for another", func() bool {
		return run(t, sh, obj{"command": "sleep 600", "background": true}).Outcome == OK
	})
	_, log := begun(t, Shell(workspace(t), ShellOptions{}), obj{"command": "sleep 600", "timeout": 0.5})
	eventually(t, "its timeout", says(t, log, "[ended after its timeout of 500ms]"))
}

// Whoever watches over a command ends it when there is nobody else left to.
func TestTheWatchEndsWhatNobodyElseDoes(t *testing.T) {
	sh := Shell(workspace(t), ShellOptions{}).(*shell)
	pid, log := begun(t, sh, obj{"command": "sleep 600 & sleep 600"})
	watch := exec.Command("/bin/sh", "-c", watchScript, "kagent-watch", fmt.Sprint(pid), filepath.Dir(log)) // its input is at its end
	if out, err := watch.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(log); !os.IsNotExist(err) {
		t.Errorf("its output is still there: %v", err)
	}
	eventually(t, "the end of its group", func() bool { return syscall.Kill(-pid, 0) != nil })
	if err := sh.Close(); err != nil {
		t.Error(err)
	}
}
