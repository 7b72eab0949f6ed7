//go:build faults

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// What keeps house: lists, verifies, removes and repairs.

// readErrors are those that a call of a reader can meet.
const readErrors = "EIO,EIO+,EMFILE,EMFILE+,EINTR"

func houseSweeps() []sweep {
	read := []string{"--errors", readErrors, "--kinds", "open,read,close"}
	return []sweep{
		{name: "a call of a list fails", tool: "errsweep", setup: "finished.sh", run: "list.sh", check: "listed", args: read},
		{
			name: "a call of a verify fails", tool: "errsweep", setup: "finished.sh", run: "verify.sh", check: "verified",
			args: read, short: []string{"--every", "3"},
		},
		{
			name: "a call of a removal fails", tool: "errsweep", setup: "finished.sh", run: "remove.sh", recover: "removeagain.sh", check: "removed",
			args: []string{"--errors", diskErrors + ",EIO,EIO+", "--kinds", allCalls}, short: []string{"--every", "7"},
		},
		{
			name: "a removal is killed", tool: "killpoints", setup: "finished.sh", run: "remove.sh", recover: "removeagain.sh", check: "removed",
			args: []string{"--actions", deaths}, short: []string{"--every", "5"},
		},
		{
			name: "a call of a repair fails", tool: "errsweep", setup: "damaged.sh", run: "repair.sh", recover: "repairagain.sh", check: "repaired",
			args: []string{"--errors", diskErrors + ",EIO,EIO+", "--kinds", allCalls}, short: []string{"--every", "11"},
		},
		{
			name: "a repair is killed", tool: "killpoints", setup: "damaged.sh", run: "repair.sh", recover: "repairagain.sh", check: "repaired",
			args: []string{"--actions", deaths}, short: []string{"--every", "5"},
		},
	}
}

var brokenHouse = []broken{
	{
		"a removal that was cut is not ended by the next one",
		[]edit{{"cmd/rm.go", "if errors.As(err, &missing) && !o.dryRun {", "if errors.As(err, &missing) && id != \"\" {"}},
		sweep{
			tool: "killpoints", setup: "finished.sh", run: "remove.sh", recover: "removeagain.sh", check: "removed",
			args: []string{"--actions", "killafter"},
		},
		"rm: left behind", false,
	},
	{
		"what can't be read is left out of a list",
		[]edit{{"pkg/checkpoint/summary.go", "sum = Summary{SessionID: id, Status: Damaged, Error: err.Error()}", "continue"}},
		sweep{tool: "errsweep", setup: "finished.sh", run: "list.sh", check: "listed", args: []string{"--errors", "EIO+", "--kinds", "open,read"}},
		"list: [01] sessions", false,
	},
	{
		"a disk that can't be read is taken for damage",
		[]edit{{
			"pkg/checkpoint/verify.go",
			"if !errors.As(err, &d) {\n\t\treturn storage(\"read \"+v.paths.log, err)",
			"if !errors.As(err, &d) {\n\t\tv.report.add(KindLog, v.paths.log, 0, \"%v\", err)\n\t\treturn nil",
		}},
		sweep{tool: "errsweep", setup: "finished.sh", run: "verify.sh", check: "verified", args: []string{"--errors", "EIO", "--kinds", "open,read"}},
		"is said to be bad", false,
	},
	{
		"a repair written in its place",
		[]edit{{builds, "err := j.elsewhere()", "err := error(nil)"}},
		sweep{tool: "killpoints", setup: "damaged.sh", run: "repair.sh", check: "repaired", args: []string{"--actions", "killafter,torn:half"}},
		"repair: ", false,
	},
}

// checkHouse is what the lab starts after it disturbed one of them.
func checkHouse(what string) int {
	t := &trial{dir: os.Getenv("FL_DIR"), fault: os.Getenv("FL_FAULT"), exit: os.Getenv("FL_EXIT"), recovered: os.Getenv("FL_RECOVERED") == "1"}
	t.disk = readDiskError(t.fault)
	said, _ := os.ReadFile(os.Getenv("FL_STDOUT"))
	switch what {
	case "listed":
		t.listedAll(said)
	case "verified":
		t.verifiedAll(said)
	case "removed":
		t.removedOrWhole(said)
	case "repaired":
		t.repairedOrNot(said)
	}
	return t.verdict()
}

// told: what could not be done is said, with the error and a file of the sessions.
func (t *trial) told() bool {
	said := t.stderr()
	return strings.Contains(said, saying[t.disk.errno]) && strings.Contains(said, ".kagent-sessions")
}

// ended: other exit codes than 0 have a reason that the user is told.
func (t *trial) ended(what string, codes ...string) {
	switch {
	case t.exit == "0" || t.disk.errno == "":
	case t.exit == "2" && filepath.Base(t.disk.path) == ".kagent.yaml":
	case !slices.Contains(codes, t.exit) || !t.told():
		t.fail("%s: exit %s after a disk error: %s", what, t.exit, t.stderr())
	}
}

// listedAll: a session that can't be read is listed with the reason, and hides
// no other.
func (t *trial) listedAll(said []byte) {
	t.ended("list", "9")
	if t.exit != "0" {
		return
	}
	var list []struct{ SessionID, Status, Error string }
	if err := json.Unmarshal(said, &list); err != nil || len(list) != 2 {
		t.fail("list: %d sessions (%v): %s", len(list), err, said)
	}
	for _, s := range list {
		if s.Status != "completed" && !(s.Status == "damaged" && strings.Contains(s.Error, saying[t.disk.errno])) {
			t.fail("list: %+v", s)
		}
	}
}

// verifiedAll: an error of the disk is none of the session's.
func (t *trial) verifiedAll(said []byte) {
	t.ended("verify", "9")
	var reports []struct {
		SessionID string
		OK        bool
	}
	if err := json.Unmarshal(said, &reports); err != nil && t.exit == "0" {
		t.fail("verify: %v: %s", err, said)
	}
	for _, r := range reports {
		if !r.OK {
			t.fail("verify: %s is said to be bad: %s", r.SessionID, said)
		}
	}
	if t.exit == "0" && len(reports) != 2 {
		t.fail("verify: %d sessions: %s", len(reports), said)
	}
}

// removedOrWhole: a removal is done, or it is not; the other session is there.
func (t *trial) removedOrWhole(said []byte) {
	t.ended("rm", "9")
	good, gerr := os.ReadFile(filepath.Join(t.dir, "good.json"))
	shown, err := t.kagent("show", "s1", "-o", "json")
	var exit *exec.ExitError
	switch {
	case gerr != nil:
		t.fail("setup: %v", gerr)
	case err == nil && t.exit != "0" && !t.recovered:
		if shown != string(good) {
			t.fail("rm: what was not removed is not what it was: %s", last([]byte(shown), 300))
		}
	case !errors.As(err, &exit) || exit.ExitCode() != 3:
		t.fail("rm: it is still there (%v), exit %s", err, t.exit)
	}
	if t.exit == "0" && bytes.TrimSpace(said) != nil && !strings.Contains(string(said), `[{"sessionId":"s1","removed":true}]`) {
		t.fail("rm: said %q", said)
	}
	if out, err := t.kagent("verify", "other"); err != nil {
		t.fail("rm: the other session: %v: %s", err, out)
	}
	if left, _ := filepath.Glob(t.path("*s1*")); t.recovered && len(left) > 0 {
		t.fail("rm: left behind: %v", left)
	}
}

// repairedOrNot: the new session is whole or not there, the old one as it was.
func (t *trial) repairedOrNot(said []byte) {
	t.ended("repair", "9")
	t.sourceUntouched()
	_, err := t.kagent("show", "f1")
	var exit *exec.ExitError
	switch {
	case err == nil:
		t.privateModes("f1")
		if out, err := t.kagent("verify", "f1"); err != nil {
			t.fail("repair: verify: %v: %s", err, out)
		}
		if events, err := t.kagent("show", "f1", "--events"); err != nil || !strings.Contains(events, `"session/repaired"`) {
			t.fail("repair: it does not say what was lost (%v)", err)
		}
	case !errors.As(err, &exit) || exit.ExitCode() != 3:
		t.fail("repair: show: %v", err)
	case t.recovered || bytes.Contains(said, []byte("f1\n")) || t.exit == "0":
		t.fail("lost: the repaired session was reported, and is not there")
	}
}
