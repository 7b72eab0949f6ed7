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

// importSweeps disturb an import: of a file from elsewhere, and of one that
// stands in the place of a session.
func importSweeps() []sweep {
	imports := sweep{setup: "importable.sh", run: "import.sh", recover: "importagain.sh", check: "imported"}
	adopts := sweep{setup: "importable.sh", run: "adopt.sh", recover: "adoptagain.sh", check: "adopted"}
	as := func(s sweep, name, tool string, args []string, every string) sweep {
		s.name, s.tool, s.args = name, tool, args
		if every != "" {
			s.short = []string{"--every", every}
		}
		return s
	}
	kills := []string{"--actions", deaths}
	failing := []string{"--errors", diskErrors + ",EIO,EIO+", "--kinds", allCalls}
	alone := func(s sweep) sweep {
		s.recover = ""
		return s
	}
	return []sweep{
		as(imports, "an import is killed", "killpoints", kills, "5"),
		as(alone(imports), "power cut of an import, without recovery", "powerloss", nil, ""),
		as(imports, "a call of an import fails", "errsweep", failing, "17"),
		as(adopts, "an import in its place is killed", "killpoints", kills, "5"),
		as(alone(adopts), "power cut of an import in its place, without recovery", "powerloss", nil, ""),
		as(adopts, "a call of an import in its place fails", "errsweep", failing, "17"),
	}
}

var brokenImports = []broken{
	{
		"an import written in its place",
		[]edit{{builds, "err := j.elsewhere()", "err := error(nil)"}},
		sweep{tool: "powerloss", setup: "importable.sh", run: "import.sh", check: "imported"},
		"import: [0-9]+ events .* of|does not say once", false,
	},
}

// checkImport is the program that the lab starts after it disturbed an import:
// the session is whole or not there, and nothing of the file is lost.
func checkImport(what string) int {
	t := &trial{dir: os.Getenv("FL_DIR"), fault: os.Getenv("FL_FAULT"), exit: os.Getenv("FL_EXIT"), recovered: os.Getenv("FL_RECOVERED") == "1"}
	t.disk = readDiskError(t.fault)
	t.importEnded()
	old, err := os.ReadFile(filepath.Join(os.Getenv("FAULTS_DATA"), "..", "kagent-ts", "react-interrupted.json"))
	if is, ierr := os.ReadFile(filepath.Join(t.dir, "old.json")); err != nil || ierr != nil || !bytes.Equal(is, old) {
		t.fail("source: it was changed (%v, %v)", err, ierr)
	}
	said, _ := os.ReadFile(os.Getenv("FL_STDOUT"))
	if what == "adopted" {
		t.adoptedOrAsItWas(old, t.recovered || t.exit == "0" || bytes.Contains(said, []byte("s1\n")))
	} else {
		t.importedOrNot(old, t.recovered || t.exit == "0" || bytes.Contains(said, []byte("f1\n")))
	}
	return t.verdict()
}

// importEnded: what can't be done is said in one line, with the file and why.
func (t *trial) importEnded() {
	switch {
	case t.fault == "none" && t.exit != "0":
		t.fail("import: exit %s: %s", t.exit, t.stderr())
	case t.exit == "9" && strings.HasSuffix(t.disk.path, "/old.json"):
		if !strings.Contains(t.stderr(), saying[t.disk.errno]) || !strings.Contains(t.stderr(), "old.json") {
			t.fail("import: %s", t.stderr())
		}
	default:
		t.ended("import", "9")
	}
	if n := strings.Count("\n"+t.stderr(), "\nkagent: "); t.disk.errno != "" && t.exit != "0" && n != 1 {
		t.fail("import: %d lines tell of the error, want 1: %s", n, t.stderr())
	}
}

func (t *trial) importedOrNot(old []byte, promised bool) {
	_, err := t.kagent("show", "f1")
	var exit *exec.ExitError
	switch {
	case err == nil:
		t.wholeImport("f1", old)
	case !errors.As(err, &exit) || exit.ExitCode() != 3:
		t.fail("import: show: %v", err)
	case promised:
		t.fail("lost: the import was reported, and is not there")
	}
}

func (t *trial) adoptedOrAsItWas(old []byte, promised bool) {
	log, _ := os.ReadFile(t.path("s1", "events.jsonl"))
	is, err := os.ReadFile(t.path("s1.json"))
	switch {
	case len(log) > 0:
		t.wholeImport("s1", old)
	case err != nil || !bytes.Equal(is, old):
		t.fail("lost: the file in the place of the session (%v)", err)
	case promised:
		t.fail("lost: the import was reported, and is not there")
	}
}

// wholeImport: sound, with where it comes from, and the file beside it.
func (t *trial) wholeImport(id string, old []byte) {
	t.privateModes(id)
	if kept, err := os.ReadFile(t.path(id, "imported.json")); err != nil || !bytes.Equal(kept, old) {
		t.fail("lost: the file that was imported (%v)", err)
	}
	if out, err := t.kagent("verify", id); err != nil {
		t.fail("import: verify: %v: %s", err, out)
	}
	events, err := t.kagent("show", id, "--events")
	if err != nil || strings.Count(events, `"type":"session/imported"`) != 1 {
		t.fail("import: it does not say once where it comes from (%v)", err)
	}
	for role, kind := range map[string]string{"assistant": "assistant/message", "tool": "tool/result"} {
		want, n := bytes.Count(old, []byte(`"role": "`+role+`"`)), strings.Count(events, `"type":"`+kind+`"`)
		if want == 0 || n < want {
			t.fail("import: %d events %s of %d", n, kind, want)
		}
	}
}
