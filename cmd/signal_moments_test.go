package cmd

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// busy is something that a run is in the middle of once it has said text.
type busy struct {
	name, text string
	args       []string
	script     string
}

func moments() []busy {
	long := strings.Repeat("word ", 600)
	return []busy{
		{"a model call", "step 1\n", nil, "- {when: {attempt: 1}, text: half, delay: 1000s}\n- text: the end"},
		{"the sleep before a retry", "again in 16m", []string{"--retry-max-wait", "2000s"}, "- when: {attempt: 1}\n  error: {kind: overloaded, retry_after: 1000s}\n- text: the end"},
		{"the wait for a limit", "waiting until", []string{"--wait-limit", "2000h"}, "- when: {attempt: 1}\n  error: {kind: rate_limit, retry_after: 1000h}\n- text: the end"},
		{
			"a summary", "summarise-1: step 1\n",
			[]string{"--context-chars", "8000", "--tools", "list_files"},
			"- {when: {scope: summarise-1, attempt: 1}, text: half, delay: 1000s}\n- {when: {scope: 'summarise-*'}, text: short}\n" +
				"- when: {ordinal: {max: 3}}\n  text: '" + long + "'\n  tool_calls: [{name: list_files}]\n- text: the end",
		},
		{
			"children", "node/a: step 1\n",
			[]string{"-a", "orchestrator"},
			"- when: {scope: split-1}\n  tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: a}, {id: b, task: b}]}}]\n" +
				"- {when: {scope: node/a, attempt: 1}, text: half, delay: 1000s}\n- {when: {scope: 'node/*'}, text: part}\n- text: the end",
		},
		{
			"a plan", "plan-1: step 1\n",
			[]string{"-a", "plan-solve"},
			"- {when: {scope: plan-1, attempt: 1}, text: half, delay: 1000s}\n- {when: {scope: plan-1}, tool_calls: [{name: set_plan, arguments: {steps: [one]}}]}\n" +
				"- {when: {ordinal: 1}, tool_calls: [{name: mark_step, arguments: {step: 1}}]}\n- text: the end",
		},
	}
}

func scripted(t *testing.T, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte("replies:\n"+script+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (m busy) begin(t *testing.T, before ...string) (dir string, c *exec.Cmd, rest func() string) {
	t.Helper()
	dir = scripted(t, m.script)
	line := append(before, "kagent", "run", "-s", "s", "--stdin", "none", "--step-timeout", "2000s", "--idle-timeout", "2000s", "-m", "script:s.yaml", "go")
	c, _ = commandIn(t, dir, line[0], append(line[1:], m.args...)...)
	var out bytes.Buffer
	c.Stdout = &out
	said := said(t, c, m.text)
	return dir, c, func() string {
		said()
		c.Wait() // then out is whole
		return out.String()
	}
}

// F117: whatever a run is in the middle of, a signal finds it saved, and is what
// it ends by; a resume does the rest.
func TestASignalAtEveryMoment(t *testing.T) {
	childrenHearHangups()
	for _, m := range moments() {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
			t.Run(m.name+", "+sig.String(), func(t *testing.T) {
				dir, c, rest := m.begin(t)
				c.Process.Signal(sig)
				printed := rest()
				endedBy(t, c, sig, bytes.NewBufferString(printed))
				if printed != "" {
					t.Errorf("an answer was printed: %q", printed)
				}
				stands(t, dir, `"status":"interrupted","reason":"signal"`)
				resumeEnds(t, dir, "the end")
			})
		}
	}
}

// Wherever in its work a signal finds a run, also while it writes: the answer
// was given, or it is for the resume to give, and nothing is damaged.
func TestASignalAtAnyInstant(t *testing.T) {
	dir := scripted(t, "- when: {ordinal: {max: 6}}\n  tool_calls: [{name: list_files}]\n- text: the end")
	for i, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGTERM, syscall.SIGINT, syscall.SIGTERM, syscall.SIGINT} {
		id := string(rune('a' + i))
		c, _ := kagentIn(t, dir, "run", "-s", id, "--stdin", "none", "-m", "script:s.yaml", "go")
		var out bytes.Buffer
		c.Stdout = &out
		rest := said(t, c, "session "+id)
		time.Sleep(time.Duration(rand.IntN(12_000)) * time.Microsecond)
		c.Process.Signal(sig)
		rest()
		c.Wait()
		ws := c.ProcessState.Sys().(syscall.WaitStatus)
		switch ended := ws.Signaled() && ws.Signal() == sig; {
		case ws.Exited() && ws.ExitStatus() == exitOK && out.String() == "the end\n": // it came too late
		case ended && (out.Len() == 0 || out.String() == "the end\n"):
		default:
			t.Errorf("%s: %v, printed %q", id, c.ProcessState, &out)
		}
		resume, said := kagentIn(t, dir, "resume", "-q", id)
		if err := resume.Run(); err != nil || !strings.Contains(said.String(), "the end\n") {
			t.Errorf("resume: %v %s", err, said)
		}
	}
	if verify, out := kagentIn(t, dir, "verify"); verify.Run() != nil {
		t.Errorf("verify: %s", out)
	}
}

// As pid 1, where signals have no default, the exit code tells of it.
func TestASignalAsPidOne(t *testing.T) {
	own := []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if err := exec.Command(own[0], append(own[1:], "true")...).Run(); err != nil {
		t.Skipf("no process can be pid 1 here: unshare: %v", err)
	}
	for _, m := range moments()[:2] {
		t.Run(m.name, func(t *testing.T) {
			dir, c, rest := m.begin(t, own...)
			child, err := exec.Command("pgrep", "-P", strconv.Itoa(c.Process.Pid)).Output()
			if err != nil {
				t.Fatal(err)
			}
			kill, out := commandIn(t, dir, "kill", "-TERM", strings.TrimSpace(string(child)))
			if err := kill.Run(); err != nil {
				t.Fatal(err, out)
			}
			rest()
			if code := c.ProcessState.ExitCode(); code != signalBase+int(syscall.SIGTERM) {
				t.Errorf("exit %d", code)
			}
			stands(t, dir, `"status":"interrupted","reason":"signal"`)
			resumeEnds(t, dir, "the end")
		})
	}
}

// Under nohup a hangup is nothing; other signals are what they are.
func TestUnderNohupAHangupIsNothing(t *testing.T) {
	dir, c, rest := moments()[0].begin(t, "nohup")
	c.Process.Signal(syscall.SIGHUP)
	c.Process.Signal(syscall.SIGTERM)
	rest()
	endedBy(t, c, syscall.SIGTERM, &bytes.Buffer{})
	stands(t, dir, `"status":"interrupted","reason":"signal"`)
	resumeEnds(t, dir, "the end")
}

// timeout ends a run by a signal, here the one that it was sent itself, so that
// no clock decides.
func TestTheEndByTimeoutIsSaved(t *testing.T) {
	dir, c, rest := moments()[0].begin(t, "timeout", "--preserve-status", "1000")
	c.Process.Signal(syscall.SIGTERM)
	rest()
	if code := c.ProcessState.ExitCode(); code != signalBase+int(syscall.SIGTERM) && c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("%v", c.ProcessState)
	}
	stands(t, dir, `"status":"interrupted","reason":"signal"`)
	resumeEnds(t, dir, "the end")
}

// In a session of its own, without a terminal, a signal is heard as elsewhere.
func TestASignalWithoutATerminal(t *testing.T) {
	dir, c, rest := moments()[0].begin(t, "setsid", "--wait")
	pid, err := exec.Command("pgrep", "-P", strconv.Itoa(c.Process.Pid)).Output()
	target := strings.TrimSpace(string(pid))
	if err != nil { // setsid forks only where it leads a group
		target = strconv.Itoa(c.Process.Pid)
	}
	kill, out := commandIn(t, dir, "kill", "-INT", target)
	if err := kill.Run(); err != nil {
		t.Fatal(err, out)
	}
	rest()
	stands(t, dir, `"status":"interrupted","reason":"signal"`)
	resumeEnds(t, dir, "the end")
}
