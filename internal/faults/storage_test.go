//go:build faults

package faults

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// storageTold: a run that a disk stopped ends with 9 and says in one line what
// could not be done, with which file, and why. It may end with 0 where it could
// do without the call that failed.
func (t *trial) storageTold() {
	if t.disk.errno == "" {
		return
	}
	if t.disk.unsupported() && t.exit != "0" {
		t.fail("run: exit %s where there is no %s: %s", t.exit, t.disk.kind, t.stderr())
	}
	switch t.exit {
	case "0":
		t.survived()
	case "9":
		t.toldOnce()
	case "2": // a configuration file that can't be read: nothing was started
		if filepath.Base(t.disk.path) != ".kagent.yaml" || len(t.log) > 0 && !t.recovered || !strings.Contains(t.stderr(), saying[t.disk.errno]) {
			t.fail("run: exit 2 after a disk error: %s", t.stderr())
		}
	default:
		t.fail("run: exit %s after a disk error: %s", t.exit, t.stderr())
	}
	t.cutBack()
	t.noEffectUntold()
}

// survived: an error that stays can't be. A sync that failed can't be made good,
// but for that of a file which is then made anew, or done without. The checkpoint
// is made anew, and renamed again, when there was no room for it; an artifact is
// done without.
func (t *trial) survived() {
	d := t.disk
	if (d.of("s1/status.tmp") || d.of("s1/status.json")) && t.openings() == 1+t.paused() {
		return // it is written last, promises nothing, and left nothing to recover
	}
	// What is only given back at the end may fail.
	if d.stays && d.kind != "" && d.kind != "trunc" && d.kind != "close" && !d.unsupported() {
		t.fail("run: exit 0 although the error stayed")
	}
	if !d.sync() {
		return
	}
	full := d.errno == "ENOSPC" || d.errno == "EDQUOT"
	switch {
	case d.of("s1/events.jsonl"), d.of("") && !full, d.of("s1/checkpoint.tmp") && !full, d.of("s1") && !t.someNotKept():
		t.fail("run: exit 0 after a failed sync of %s", d.path)
	}
}

// openings counts the processes that wrote to the log.
func (t *trial) openings() int {
	n := 0
	for _, e := range t.log {
		if e.Type == "session/opened" {
			n++
		}
	}
	return n
}

// paused counts the processes before the one that met the disk error.
func (t *trial) paused() int {
	n := 0
	for _, r := range t.results {
		if r.Status == "paused" {
			n++
		}
	}
	return n
}

func (t *trial) someNotKept() bool {
	return slices.ContainsFunc(t.log, func(e event) bool { return strings.Contains(e.data().Text, "the whole output was not kept") })
}

func (t *trial) stderr() string {
	b, _ := os.ReadFile(os.Getenv("FL_STDERR"))
	var lines []string
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "flt: ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func (t *trial) toldOnce() {
	if t.disk.limited {
		return
	}
	var errors []string
	announced, resumable := false, false
	for line := range strings.Lines(t.stderr()) {
		if strings.HasPrefix(line, "kagent: ") {
			errors = append(errors, line)
		}
		announced = announced || line == "session s1\n"
		resumable = resumable || line == "resume with: kagent resume s1\n"
	}
	if len(errors) != 1 {
		t.fail("stderr: %d lines tell of the error, want 1: %s", len(errors), t.stderr())
		return
	}
	for _, want := range []string{saying[t.disk.errno], ".kagent-sessions"} {
		if !strings.Contains(errors[0], want) {
			t.fail("stderr: no %q in %q", want, errors[0])
		}
	}
	if announced != resumable {
		t.fail("stderr: the session is announced: %v, there is a line to resume it: %v", announced, resumable)
	}
	if r := t.results[0]; r.Status != "interrupted" || r.Reason != "storage" {
		t.fail("stdout: the result is %+v", r)
	}
}

// cutBack: what a failed write left is cut off, and after a failed sync of the
// log nothing more is written to it.
func (t *trial) cutBack() {
	if _, err := os.Lstat(filepath.Join(t.dir, "torn")); err == nil {
		return // torn.sh was there before
	}
	if len(t.tail) > 0 {
		t.fail("log: %d bytes of a failed write stand behind event %d", len(t.tail), len(t.log))
	}
	for _, e := range t.log {
		d := e.data()
		if e.Type == "log/repaired" {
			t.fail("log: a failed write was left for the next opening to cut back")
		}
		if t.disk.sync() && t.disk.of("s1/events.jsonl") && e.Type == "turn/end" && d.Reason == "storage" {
			t.fail("log: it was written after its sync had failed")
		}
	}
}

// noEffectUntold: what happened is recorded, or the user is told. On a disk
// that is full room was reserved, so that it is recorded.
func (t *trial) noEffectUntold() {
	for _, c := range t.calls(func(string, ...any) {}) {
		m := effectOf.FindStringSubmatch(c.arguments)
		if m == nil || t.effects[m[1]] == 0 {
			continue
		}
		if len(c.results) > 0 {
			if t.disk.full && strings.Contains(c.results[0].Text, "the disk had no room") {
				t.fail("effect %s happened, and there was no room for its result", m[1])
			}
			continue
		}
		switch {
		case t.disk.full:
			t.fail("effect %s happened, and there was no room for its result", m[1])
		case t.exit == "9" && !t.disk.limited && !strings.Contains(t.stderr(), "not recorded: call "+c.id+" "):
			t.fail("effect %s happened, its result is lost and not told: %s", m[1], t.stderr())
		}
	}
}

// artifactsKept: what the log names is there, as it was named.
func (t *trial) artifactsKept() {
	for _, c := range t.calls(func(string, ...any) {}) {
		for _, r := range c.results {
			if r.Artifact == nil {
				continue
			}
			b, err := os.ReadFile(t.path(sessionID, "artifacts", r.Artifact.Ref))
			sum := sha256.Sum256(b)
			if err != nil || int64(len(b)) != r.Artifact.Bytes || hex.EncodeToString(sum[:]) != r.Artifact.Ref {
				t.fail("lost: the artifact of call %s: %v, %d bytes of %d", c.id, err, len(b), r.Artifact.Bytes)
			}
		}
	}
}

// sound: `kagent verify` finds nothing wrong with a session that has an owner
// no more.
func (t *trial) sound() {
	if len(t.log) == 0 || t.disk.errno == "" && !t.recovered {
		return
	}
	t.privateModes(sessionID)
	out, err := exec.Command(os.Getenv("FAULTS_KAGENT"), "verify", sessionID).CombinedOutput()
	if err != nil {
		t.fail("verify: %v: %s", err, last(bytes.TrimSpace(out), 300))
	}
}

// privateModes gives the files of a session their modes again: the lab's power
// cuts know none.
func (t *trial) privateModes(id string) {
	if !strings.Contains(t.fault, "after call ") {
		return
	}
	for _, dir := range []string{".", id, filepath.Join(id, "artifacts")} {
		_ = os.Chmod(t.path(dir), 0o700)
		entries, _ := os.ReadDir(t.path(dir))
		for _, e := range entries {
			if e.Type().IsRegular() {
				_ = os.Chmod(t.path(dir, e.Name()), 0o600)
			}
		}
	}
}
