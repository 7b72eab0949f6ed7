package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// recorded is a run with --record that is in its second model call, after a
// tool.
func recorded(t *testing.T) (dir string, c *exec.Cmd, rest func()) {
	t.Helper()
	dir = scripted(t, "- when: {tool_results: 0}\n  tool_calls: [{name: list_files}]\n"+
		"- {when: {ordinal: 2, attempt: 1}, text: half, delay: 1000s}\n- text: the end")
	if err := os.WriteFile(filepath.Join(dir, "rec.json"), []byte("an older one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ = kagentIn(t, dir, "run", "-s", "s", "--stdin", "none", "--step-timeout", "2000s", "--record", "rec.json", "-m", "script:s.yaml", "go")
	return dir, c, said(t, c, "step 2\n")
}

func recordingIs(t *testing.T, dir string, replies int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "rec.json"))
	var rec struct{ Replies []any }
	if err != nil || json.Unmarshal(b, &rec) != nil || len(rec.Replies) != replies {
		t.Errorf("%v, %d replies, want %d: %.300s", err, len(rec.Replies), replies, b)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*rec.json?*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %q %v", left, err)
	}
}

// A recording is whole or not there: a kill leaves what the file held, and the
// resume records all of the session.
func TestAKillLeavesTheRecordingAsItWas(t *testing.T) {
	dir, c, rest := recorded(t)
	c.Process.Kill()
	rest()
	c.Wait()
	if b, err := os.ReadFile(filepath.Join(dir, "rec.json")); err != nil || string(b) != "an older one\n" {
		t.Errorf("%v %q", err, b)
	}
	resume, out := kagentIn(t, dir, "resume", "-q", "s", "--record", "rec.json")
	if err := resume.Run(); err != nil {
		t.Fatal(err, out)
	}
	recordingIs(t, dir, 2)
}

// A run that was cut records what there was; a replay says where that ends.
func TestAReplayOfACutRecordingSaysWhereItEnds(t *testing.T) {
	dir, c, rest := recorded(t)
	c.Process.Signal(syscall.SIGTERM)
	rest()
	endedBy(t, c, syscall.SIGTERM, &bytes.Buffer{})
	recordingIs(t, dir, 1)
	replay, out := kagentIn(t, dir, "run", "-q", "--stdin", "none", "-m", "script:rec.json", "go")
	replay.Run()
	if code := replay.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(out.String(), `scope "", ordinal 2`) ||
		!strings.Contains(out.String(), "the script ends before it: the last reply for this scope is for ordinal 1") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// Where there is no room for the recording the older one stays, the exit code
// says so, and the session loses nothing.
func TestAFullDiskLeavesTheRecordingAsItWas(t *testing.T) {
	dir := scripted(t, "- when: {tool_results: 0}\n  text: '"+strings.Repeat("x", 200_000)+"'\n  tool_calls: [{name: list_files}]\n- text: the end")
	kept := filepath.Join(dir, "rec.json")
	run, out := kagentIn(t, dir, "run", "-q", "-s", "s", "--stdin", "none", "-m", "script:s.yaml", "go")
	if err := run.Run(); err != nil {
		t.Fatal(err, out)
	}
	if err := os.WriteFile(kept, []byte("an older one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	full, out := commandIn(t, dir, "sh", "-c", `ulimit -f 200; exec kagent resume -q s --record rec.json`)
	full.Run()
	if code := full.ProcessState.ExitCode(); code != exitStorage || !strings.Contains(out.String(), "the recording could not be written to rec.json: file too large; the session has it") {
		t.Errorf("exit %d: %.500s", code, out)
	}
	if b, err := os.ReadFile(kept); err != nil || string(b) != "an older one\n" {
		t.Errorf("%v %.100q", err, b)
	}
	again, out := kagentIn(t, dir, "resume", "-q", "s", "--record", "rec.json")
	if err := again.Run(); err != nil {
		t.Error(err, out)
	}
	recordingIs(t, dir, 2)
}
