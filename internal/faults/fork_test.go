//go:build faults

package faults

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// forkSweeps disturb a fork at each of its calls.
func forkSweeps() []sweep {
	return []sweep{
		{
			name: "a fork is killed", tool: "killpoints", setup: "forkable.sh", run: "fork.sh", recover: "forkagain.sh", check: "forked",
			args: []string{"--actions", deaths}, short: []string{"--every", "3"},
		},
		{
			name: "a fork is killed, without recovery", tool: "killpoints", setup: "forkable.sh", run: "fork.sh", check: "forked",
			args: []string{"--actions", deaths}, short: []string{"--every", "5"},
		},
		{
			name: "power cut after a fork", tool: "powerloss", setup: "forkable.sh", run: "fork.sh", check: "forked",
		},
		{
			name: "a call of a fork fails", tool: "errsweep", setup: "forkable.sh", run: "fork.sh", check: "forked",
			args: []string{"--errors", diskErrors}, short: []string{"--every", "5"},
		},
		{
			name: "a fork without links", tool: "errsweep", setup: "forkable.sh", run: "fork.sh", check: "forked",
			args: []string{"--errors", "EXDEV,EXDEV+,EPERM,EMLINK", "--kinds", "link"},
		},
	}
}

const builds = "pkg/checkpoint/build.go"

var brokenForks = []broken{
	{
		"fork written in its place",
		[]edit{{builds, "err := j.elsewhere()", "err := error(nil)"}},
		sweep{tool: "killpoints", setup: "forkable.sh", run: "fork.sh", check: "forked", args: []string{"--actions", "killafter,torn:half"}},
		"fork: [0-9]+ events of|show: exit status 5|verify: ", false,
	},
	{
		"fork put into its place before it is synced",
		[]edit{{builds, "append(steps, j.sync)", "steps"}},
		sweep{tool: "powerloss", setup: "forkable.sh", run: "fork.sh", check: "forked"},
		"fork: [0-9]+ events of|lost: the fork|show: exit status 5|verify: ", false,
	},
}

// checkFork is the program that the lab starts after it disturbed a fork: it is
// there, whole, or not at all, and its source is as it was.
func checkFork() int {
	t := &trial{dir: os.Getenv("FL_DIR"), fault: os.Getenv("FL_FAULT"), exit: os.Getenv("FL_EXIT"), recovered: os.Getenv("FL_RECOVERED") == "1"}
	t.disk = readDiskError(t.fault)
	t.sourceUntouched()
	said, _ := os.ReadFile(os.Getenv("FL_STDOUT"))
	promised := t.recovered || bytes.Contains(said, []byte("f1\n")) || t.exit == "0"
	_, err := t.kagent("show", "f1")
	var exit *exec.ExitError
	switch {
	case err == nil:
		t.wholeFork()
	case !errors.As(err, &exit) || exit.ExitCode() != 3:
		t.fail("show: %v", err)
	case promised:
		t.fail("lost: the fork was reported, and is not there")
	}
	if t.exit != "0" && t.disk.errno != "" && t.exit != "9" {
		t.fail("fork: exit %s after a disk error: %s", t.exit, t.stderr())
	}
	return t.verdict()
}

func (t *trial) kagent(args ...string) (string, error) {
	out, err := exec.Command(os.Getenv("FAULTS_KAGENT"), args...).Output()
	return string(out), err
}

// sourceUntouched compares it with what its setup noted.
func (t *trial) sourceUntouched() {
	want, err := os.ReadFile(filepath.Join(t.dir, "before"))
	if err != nil || len(want) == 0 {
		t.fail("setup: %v", err)
	}
	c := exec.Command("sh", "-c", "find s1 s1.json -type f ! -name lock -exec sha256sum {} + | sort")
	c.Dir = t.path()
	if got, err := c.Output(); err != nil || !bytes.Equal(got, want) {
		t.fail("source: it was changed (%v): %s", err, got)
	}
}

// wholeFork: the past of the source, event by event, and sound.
func (t *trial) wholeFork() {
	t.privateModes("f1")
	if out, err := t.kagent("verify", "f1"); err != nil {
		t.fail("verify: %v: %s", err, out)
	}
	was, werr := t.kagent("show", "s1", "--events")
	is, err := t.kagent("show", "f1", "--events")
	if err := errors.Join(werr, err); err != nil {
		t.fail("show: %v", err)
		return
	}
	old, forked := strings.SplitAfter(was, "\n"), strings.SplitAfter(is, "\n")
	n := len(old) - 1 // behind it stands nothing
	if len(forked) < n+2 || !strings.Contains(is, `"session/forked"`) {
		t.fail("fork: %d events of %d, and where it comes from", len(forked)-1, n)
		return
	}
	for i := 1; i < n; i++ { // the first one names the session
		if old[i] != forked[i] {
			t.fail("fork: event %d differs: %s", i+1, forked[i])
		}
	}
}
