//go:build faults

package faults

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// edit replaces a text that stands exactly once in a file.
type edit struct{ file, from, to string }

// broken is the program with one rule broken on purpose.
type broken struct {
	name  string
	edits []edit
	sweep sweep  // the tool meant for the rule
	why   string // what it must say, a regular expression
	slow  bool   // not in the short profile
}

// The sweeps that find broken programs. They end at the first failures.
var (
	killed       = sweep{tool: "killpoints", run: "run.sh", args: []string{"--actions", "killafter"}}
	killResumed  = sweep{tool: "killpoints", run: "run.sh", recover: "recover.sh", args: []string{"--actions", "killafter"}}
	tornWrites   = sweep{tool: "killpoints", run: "run.sh", args: []string{"--actions", "torn:half"}}
	tornResumed  = sweep{tool: "killpoints", run: "run.sh", recover: "recover.sh", args: []string{"--actions", "torn:half"}}
	powerCut     = sweep{tool: "powerloss", run: "run.sh"}
	powerResumed = sweep{tool: "powerloss", run: "run.sh", recover: "recover.sh", brief: true}
	killThenCut  = sweep{tool: "powerloss", run: "recover.sh", args: []string{"--after-kill", "5", "--max-states", "100000"}}
	raced        = sweep{
		tool: "race", setup: "paused.sh", run: "resume.sh", recover: "recover.sh",
		args: []string{"--procs", "2", "--rounds", "30", "--loser-exits", "4", "--pause"},
	}
)

const (
	journal = "pkg/checkpoint/journal.go"
	disk    = "pkg/checkpoint/fs.go"
	locks   = "pkg/checkpoint/lock_linux.go"
	opening = "pkg/checkpoint/open.go"
	asides  = "pkg/checkpoint/aside.go"
	scans   = "pkg/checkpoint/scan.go"
	calls   = "pkg/agent/calls.go"
	doubt   = "pkg/agent/doubt.go"
)

var noLock = edit{
	locks,
	"err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lk)\n",
	"err := error(nil)\n_ = lk\n",
}

var brokenPrograms = []broken{
	{
		"no sync of the log",
		[]edit{{journal, "if err := j.log.Sync(); err != nil {", "if err := error(nil); err != nil {"}},
		powerCut, "^check: .*lost: event", false,
	},
	{
		"no sync of directories",
		[]edit{{disk, "return d.Sync()", "return nil"}},
		powerCut, "^check: .*lost: event", false,
	},
	{
		"effect before intent",
		[]edit{
			{
				calls, "if err := r.append(begun...); err != nil {",
				"for _, p := range batch {\nif p.result == nil {\np.brought = r.runOne(ctx, p)\n}\n}\n" +
					"if err := r.append(begun...); err != nil {",
			},
			{calls, "began := r.now()\n", "if p.brought != nil {\nreturn p.brought\n}\nbegan := r.now()\n"},
		},
		killed, "happened without an intent", false,
	},
	{
		"intent not durable before the effect",
		[]edit{{calls, "if err := r.Journal.Sync(); err != nil {", "if err := error(nil); err != nil {"}},
		powerCut, "happened without an intent", false,
	},
	{
		"checkpoint written in place",
		[]edit{
			{
				disk, "f, err := fsys.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)",
				"f, err := fsys.Open(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)",
			},
			{disk, "err = fsys.Rename(temp, name)", "err = nil"},
		},
		tornWrites, "checkpoint: not whole", false,
	},
	{
		"checkpoint renamed before its data are synced",
		[]edit{{disk, "err = f.Sync()", "err = nil"}},
		powerCut, "checkpoint: not whole", false,
	},
	{
		"no lock",
		[]edit{noLock},
		raced, "unexpected exit status|happened 2 times", false,
	},
	{
		"no lock and no fence",
		[]edit{noLock, {
			journal,
			"if err != nil || !os.SameFile(mine, there) || f.size >= 0 && there.Size() != f.size {",
			"if false && (err != nil || !os.SameFile(mine, there) || f.size >= 0 && there.Size() != f.size) {",
		}},
		raced, "happened 2 times|changed: event|lost: event|no good line|is damaged", false,
	},
	{
		"calls in doubt run again blindly",
		[]edit{{doubt, "if t != nil && t.Traits().Repeatable() {", "if t != nil {"}},
		killResumed, "run again blindly|happened 2 times", false,
	},
	{
		"reported before it is durable",
		[]edit{{journal, "j.pending = append(j.pending, e)", "j.report(e)"}},
		powerCut, "^check: .*lost: event", false,
	},
	{
		"torn end not cut off",
		[]edit{{asides, "if err := j.log.Truncate(sc.end); err != nil {", "if err := error(nil); err != nil {"}},
		tornResumed, "^recover: exit|no good line", false,
	},
	{
		"any hole in the log taken for damage",
		[]edit{{scans, "if rec.dur > s.seq {", "if rec.dur > 0 {"}},
		powerResumed, "^recover: exit 5", false,
	},
	{
		"opening trusts names that are not durable",
		[]edit{{opening, "for _, dir := range []string{j.paths.dir, s.dir} {", "for _, dir := range []string{} {"}},
		killThenCut, "lost: event|changed: event", true,
	},
}

// TestBrokenProgramsAreCaught proves the proof: each rule, broken on purpose,
// is noticed by the tool meant for it and for the right reason.
func TestBrokenProgramsAreCaught(t *testing.T) {
	l := newLab(t)
	for _, b := range allBroken() {
		t.Run(b.name, func(t *testing.T) {
			overlay := l.overlay(t, b.edits)
			if b.slow && l.short {
				t.Skip("not in the short profile")
			}
			binary := l.build(t, overlay)
			r := l.sweep(t, binary, b.sweep, "--max-failures", "20")
			t.Logf("%s: %s", b.sweep.tool, r.figures())
			if len(r.Failures) == 0 {
				t.Fatalf("%s does not notice it: %v\n%s", b.sweep.tool, r.err, r.output)
			}
			why := regexp.MustCompile(b.why)
			for _, f := range r.Failures {
				if why.MatchString(f.Reason) {
					t.Logf("caught: %s: %s", f.Fault, f.Reason)
					return
				}
			}
			t.Errorf("%s fails, but not with %q:\n%s", b.sweep.tool, b.why, r.output)
		})
	}
}

// TestRulesAreBrokenWhereTheyAre needs no lab: each mutation fits the code as it is.
func TestRulesAreBrokenWhereTheyAre(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{root: root}
	for _, b := range allBroken() {
		t.Run(b.name, func(t *testing.T) { l.overlay(t, b.edits) })
	}
}

func allBroken() []broken {
	return slices.Concat(brokenPrograms, brokenAgents, brokenSummaries, brokenOnDisk, brokenForks, brokenImports, brokenHouse)
}

// overlay writes the changed files and the list that `go build -overlay` reads.
func (l *lab) overlay(t *testing.T, edits []edit) string {
	t.Helper()
	dir := t.TempDir()
	changed := map[string]string{}
	for _, e := range edits {
		name := filepath.Join(l.root, filepath.FromSlash(e.file))
		text, ok := changed[name]
		if !ok {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		if n := strings.Count(text, e.from); n != 1 {
			t.Fatalf("the mutation no longer applies: in %s this stands %d times, want once:\n%s", e.file, n, e.from)
		}
		changed[name] = strings.Replace(text, e.from, e.to, 1)
	}
	list := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range changed {
		copied := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list.Replace[name] = copied
	}
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}
