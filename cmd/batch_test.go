package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// interrupted makes n sessions that were cut by the network, each with a thing
// to do once.
func interrupted(t *testing.T, n int) (dir string, ids []string) {
	t.Helper()
	dir = t.TempDir()
	script := "replies:\n  - when: {tool_results: 0, attempt: 1}\n    error: {kind: network, message: gone}\n" +
		"  - when: {tool_results: 0}\n    tool_calls: [{name: shell, arguments: {command: 'echo {{last_user}} >> once'}}]\n  - text: done\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id := fmt.Sprintf("s%02d", i)
		c, out := kagentIn(t, dir, "run", "-q", "-s", id, "--retries", "0", "--allow", "execute", "-m", "script:s.yaml", id)
		c.Run()
		if code := c.ProcessState.ExitCode(); code != exitInterrupted {
			t.Fatalf("exit %d\n%s", code, out)
		}
		ids = append(ids, id)
	}
	return dir, ids
}

// Two at once share the work: each session is resumed by one of them.
func TestTwoResumersShareTheWork(t *testing.T) {
	dir, ids := interrupted(t, 8)
	outs, codes := starters(t, 2, dir, "resume", "-q", "--interrupted", "--jobs", "2")
	var lines []string
	for i, code := range codes {
		if code != exitOK {
			t.Errorf("resumer %d: exit %d", i, code)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(outs[i].String()), "\n")...)
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	slices.Sort(lines)
	if want := strings.Join(ids, " completed\n") + " completed"; strings.Join(lines, "\n") != want {
		t.Errorf("results %q", lines)
	}
	b, err := os.ReadFile(filepath.Join(dir, "once"))
	if err != nil || len(strings.Fields(string(b))) != len(ids) {
		t.Errorf("done: %q, %v", b, err)
	}
}

// A crashed session is taken over; its call in doubt is told of.
func TestResumeInterruptedTakesOverACrash(t *testing.T) {
	dir, c, _ := toolRun(t, `echo > begun; exec sleep 1000`)
	running, out := kagentIn(t, dir, "resume", "-q", "--interrupted")
	if err := running.Run(); err != nil || out.Len() > 0 {
		t.Errorf("a session in use is left alone: %v\n%s", err, out)
	}
	c.Process.Kill()
	c.Wait()
	resumed, out := kagentIn(t, dir, "resume", "-q", "--interrupted")
	if err := resumed.Run(); err != nil || !strings.Contains(out.String(), "s completed\n") {
		t.Errorf("%v\n%s", err, out)
	}
	resumeEnds(t, dir, "end: The outcome of this call is unknown")
}

// A session that another process dealt with in between is left to it.
func TestResumerPassesOverWhatChangedSinceItLooked(t *testing.T) {
	dir, _ := interrupted(t, 1)
	a := &app{dir: filepath.Join(dir, ".kagent-sessions"), stderr: os.Stderr, format: "text", out: newOutput(os.Stdout), signals: &signals{ctx: t.Context()}}
	b := &batch{batchFlags: batchFlags{interrupted: true, status: "interrupted", jobs: 1}, app: a, store: a.store(), opts: &resumeOptions{}, given: func(string) bool { return false }}
	list, err := b.store.List()
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	other, out := kagentIn(t, dir, "resume", "-q", "--retries", "1", "s00")
	if err := other.Run(); err != nil {
		t.Fatal(err, out)
	}
	before, err := os.ReadFile(filepath.Join(a.dir, "s00", "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	b.one(list[0])
	if after, err := os.ReadFile(filepath.Join(a.dir, "s00", "events.jsonl")); err != nil || string(after) != string(before) || len(b.codes) > 0 {
		t.Errorf("it was touched: %v, codes %v", err, b.codes)
	}
}
