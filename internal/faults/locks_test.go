//go:build faults

package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The lab does not see the call that locks a file, so this one is replaced: a
// file system without locks is refused before anything is written or run.
func TestWithoutLocksNothingIsStarted(t *testing.T) {
	l := newLab(t)
	good := l.build(t, "")
	without := l.build(t, l.overlay(t, []edit{{locks, noLock.from, "err := error(unix.ENOLCK)\n_ = lk\n"}}))
	home, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("the notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(binary, script string) (code int, out, said string) {
		cmd := exec.Command("sh", filepath.Join(l.data, script))
		cmd.Dir, cmd.Env = dir, l.environ(home, binary)
		stdout, err := os.OpenFile(filepath.Join(home, "stdout"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer stdout.Close()
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = stdout, &stderr
		_ = cmd.Run()
		b, err := os.ReadFile(stdout.Name())
		if err != nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(b), stderr.String()
	}
	refused := func(script string) {
		t.Helper()
		code, out, said := start(without, script)
		if code != 9 || strings.Contains(out, "effect") || strings.Count(said, "kagent: ") != 1 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", script, code, out, said)
		}
		for _, want := range []string{"no locks available", ".kagent-sessions/s1/lock", "--dir"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in %q", script, want, said)
			}
		}
	}
	refused("run.sh")
	if log, err := os.ReadFile(filepath.Join(dir, ".kagent-sessions", "s1", "events.jsonl")); err == nil && len(log) > 0 {
		t.Errorf("the log was begun: %q", log)
	}
	if code, _, said := start(good, "paused.sh"); code != 0 {
		t.Fatalf("with locks: exit %d, %s", code, said)
	}
	refused("resume.sh")
	if code, _, said := start(without, "show.sh"); code != 0 {
		t.Errorf("show: exit %d, %s", code, said)
	}
	if code, out, said := start(good, "resume.sh"); code != 0 || !strings.Contains(out, answer) {
		t.Errorf("with locks again: exit %d, %s", code, said)
	}
}
