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

// starters starts the same line n times at once and waits for all.
func starters(t *testing.T, n int, dir string, args ...string) (outs []*bytes.Buffer, codes []int) {
	t.Helper()
	var all []*exec.Cmd
	for range n {
		c, _ := kagentIn(t, dir, args...)
		out := &bytes.Buffer{}
		c.Stdout = out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all, outs = append(all, c), append(outs, out)
	}
	for _, c := range all {
		c.Wait()
		codes = append(codes, c.ProcessState.ExitCode())
	}
	return outs, codes
}

func onceDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := "replies:\n  - when: {tool_results: 0}\n    tool_calls: [{name: shell, arguments: {command: 'echo done >> once'}}]\n  - text: all done\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func doneOnce(t *testing.T, dir string) {
	t.Helper()
	if b, err := os.ReadFile(filepath.Join(dir, "once")); err != nil || string(b) != "done\n" {
		t.Errorf("done %d times, want once (%v)", strings.Count(string(b), "done"), err)
	}
}

// Of twenty starters of one key each gets the answer, and the thing is done
// once.
func TestManyStartersDoOneThingOnce(t *testing.T) {
	dir := onceDir(t)
	outs, codes := starters(t, 20, dir, "run", "-q", "-s", "key", "--if-exists", "resume", "--if-locked", "wait",
		"--allow", "execute", "-m", "script:s.yaml", "do it")
	for i, code := range codes {
		if code != exitOK || outs[i].String() != "all done\n" {
			t.Errorf("starter %d: exit %d, %q", i, code, outs[i])
		}
	}
	doneOnce(t, dir)
}

// A cron line that overlaps with itself finds nothing to do, and says nothing.
func TestStartersThatSkipSayNothing(t *testing.T) {
	dir := onceDir(t)
	outs, codes := starters(t, 8, dir, "run", "-q", "-s", "key", "--if-exists", "skip", "--if-locked", "skip",
		"--allow", "execute", "-m", "script:s.yaml", "do it")
	answers := 0
	for i, code := range codes {
		if code != exitOK {
			t.Errorf("starter %d: exit %d", i, code)
		}
		if answer := outs[i].String(); answer == "all done\n" {
			answers++
		} else if answer != "" {
			t.Errorf("starter %d said %q", i, answer)
		}
	}
	if answers != 1 {
		t.Errorf("%d answers, want 1", answers)
	}
	doneOnce(t, dir)
}

func TestStartersOfNewGetSessionsOfTheirOwn(t *testing.T) {
	dir := onceDir(t)
	_, codes := starters(t, 8, dir, "run", "-q", "-s", "key", "--if-exists", "new", "--tools", "none", "-m", "demo", "hi")
	for i, code := range codes {
		if code != exitOK {
			t.Errorf("starter %d: exit %d", i, code)
		}
	}
	list, out := kagentIn(t, dir, "list", "-q")
	if err := list.Run(); err != nil || len(strings.Fields(out.String())) != 8 {
		t.Errorf("%v, sessions %v", err, strings.Fields(out.String()))
	}
}

// A session in use: refused, skipped or waited for, which a signal ends.
func TestIfLockedDecidesOnASessionInUse(t *testing.T) {
	dir, first, _ := toolRun(t, `echo > begun; read x < begun; echo ok`)
	for _, c := range []struct {
		args   []string
		code   int
		silent bool
	}{
		{[]string{"run", "-q", "-s", "s", "--if-exists", "resume", "go"}, exitLocked, false},
		{[]string{"run", "-q", "-s", "s", "--if-exists", "resume", "--if-locked", "skip", "go"}, exitOK, true},
		{[]string{"run", "-q", "-s", "s", "--if-exists", "continue", "--if-locked", "wait=50ms", "go"}, exitLocked, false},
		{[]string{"resume", "-q", "s", "--if-locked", "skip"}, exitOK, true},
		{[]string{"resume", "-q", "s", "--if-locked", "wait=50ms"}, exitLocked, false},
	} {
		second, out := kagentIn(t, dir, c.args...)
		second.Run()
		if code := second.ProcessState.ExitCode(); code != c.code || c.silent != (out.Len() == 0) {
			t.Errorf("%v: exit %d, want %d\n%s", c.args, code, c.code, out)
		}
	}
	skipped, out := kagentIn(t, dir, "resume", "-q", "-o", "json", "s", "--if-locked", "skip")
	if err := skipped.Run(); err != nil {
		t.Error(err)
	}
	fits(t, "result", out.Bytes())

	waiting, out := kagentIn(t, dir, "resume", "s", "--if-locked", "wait")
	pipe := said(t, waiting, "waiting for it")
	waiting.Process.Signal(syscall.SIGTERM)
	pipe()
	endedBy(t, waiting, syscall.SIGTERM, out)

	waiting, out = kagentIn(t, dir, "resume", "s", "--if-locked", "wait")
	pipe = said(t, waiting, "waiting for it")
	if err := os.WriteFile(filepath.Join(dir, "begun"), []byte("\n"), 0o600); err != nil { // lets the tool end
		t.Fatal(err)
	}
	pipe()
	if err := waiting.Wait(); err != nil || !strings.Contains(out.String(), "end: ok") {
		t.Errorf("the one that waited: %v\n%s", err, out)
	}
	first.Wait()
}

// said starts a command and returns when it has said text on stderr; what it
// returns reads the rest.
func said(t *testing.T, c *exec.Cmd, text string) func() {
	t.Helper()
	c.Stderr = nil
	pipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	var seen bytes.Buffer
	for b := make([]byte, 1); !strings.Contains(seen.String(), text); {
		if _, err := pipe.Read(b); err != nil {
			t.Fatal(err, seen.String())
		}
		seen.Write(b)
	}
	return func() { seen.ReadFrom(pipe) }
}

// Of twenty starters of one key that do not wait, those that come in time are
// told who has it, the others get the answer, and the thing is done once.
func TestManyStartersThatDoNotWaitDoOneThingOnce(t *testing.T) {
	dir := onceDir(t)
	outs, codes := starters(t, 20, dir, "run", "-q", "-s", "key", "--if-exists", "resume", "--allow", "execute", "-m", "script:s.yaml", "do it")
	answers := 0
	for i, code := range codes {
		switch {
		case code == exitOK && outs[i].String() == "all done\n":
			answers++
		case code == exitLocked && outs[i].Len() == 0:
		default:
			t.Errorf("starter %d: exit %d, %q", i, code, outs[i])
		}
	}
	if answers == 0 {
		t.Error("nobody got the answer")
	}
	doneOnce(t, dir)
}

// Each of several prompts that continue one session at once is a turn of its own.
func TestPromptsThatContinueASessionAtOnceAreATurnEach(t *testing.T) {
	dir := quickScript(t)
	var all []*exec.Cmd
	for i := range 8 {
		c, _ := kagentIn(t, dir, "run", "-q", "-s", "key", "--if-exists", "continue", "--if-locked", "wait", "-m", "script:s.yaml", strings.Repeat("x", i+1))
		c.Stdout = &bytes.Buffer{}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for i, c := range all {
		if err := c.Wait(); err != nil || c.Stdout.(*bytes.Buffer).String() != "answer to "+strings.Repeat("x", i+1)+"\n" {
			t.Errorf("prompt %d: %v %q", i, err, c.Stdout)
		}
	}
	show, out := kagentIn(t, dir, "show", "key", "--events")
	if err := show.Run(); err != nil || strings.Count(out.String(), `"type":"turn/start"`) != 8 {
		t.Errorf("%d turns (%v)", strings.Count(out.String(), `"type":"turn/start"`), err)
	}
}
