//go:build faults

package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// checkDamage is the program that the lab starts after it damaged a file and a
// command met that. Damage is told with the place and what to do; what is no
// damage to what was promised is made good; another session is listed always.
func checkDamage() int {
	t := &trial{
		scene: scenes()[os.Getenv("FAULTS_AGENT")],
		dir:   os.Getenv("FL_DIR"), fault: os.Getenv("FL_FAULT"), exit: os.Getenv("FL_EXIT"), effects: map[string]int{},
	}
	resumed := os.Getenv("FAULTS_CHECK") == "resumed"
	if resumed { // see untouched.sh
		t.dir = filepath.Join(t.dir, "copy")
		if err := os.Chdir(t.dir); err != nil {
			t.fail("%v", err)
		}
		os.Setenv("FL_OUTS", os.Getenv("FL_STDOUT"))
	}
	switch {
	case t.exit == "5":
		t.damageTold()
	case t.exit == "0" && resumed:
		t.recovered = true
		t.readOutputs()
		t.readLog()
		t.keptAndFinished()
	}
	t.othersListed()
	return t.verdict()
}

// keptAndFinished is what holds after a resume, whatever happened before it.
func (t *trial) keptAndFinished() {
	t.promisesKept()
	t.answeredLast()
	t.readersAgree()
	t.checkpointWhole()
	t.callsInOrder()
	t.effectsAllowed()
	t.fileAsSaid()
	t.artifactsKept()
	t.finished()
	if !strings.Contains(t.fault, "replaced by") { // what is set aside may be of any kind
		t.sound()
	}
}

var place = regexp.MustCompile(`byte \d+|not a (regular file|directory)|is missing`)

// damageTold: where it is, and what to do.
func (t *trial) damageTold() {
	said := t.stderr()
	if !place.MatchString(said) || !strings.Contains(said, ".kagent-sessions") || !strings.Contains(said, "kagent repair s1") {
		t.fail("stderr: the damage is told without its place or what to do: %s", said)
	}
}

// othersListed: a damaged session hides no other.
func (t *trial) othersListed() {
	out, err := exec.Command(os.Getenv("FAULTS_KAGENT"), "list", "-q").Output()
	if ids := strings.Fields(string(out)); err != nil || !slices.Contains(ids, "other") {
		t.fail("list: %v, sessions %q", err, ids)
	}
}
