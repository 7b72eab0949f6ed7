//go:build faults

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	sessionID = "s1"
	answer    = "Done: the notes are read, the report is written, 6 calls were made."
)

// scene is what a session of one of the agents comes to: its replies, children
// included.
type scene struct {
	answer  string
	replies int
}

func scenes() map[string]scene {
	return map[string]scene{
		"":             {answer, 4},
		"brief":        {"Done: in one step.", 2},
		"plan-solve":   {"Done: another plan led to it.", 7},
		"orchestrator": {"Done: all nodes are joined.", 7},
		"spoken":       {"Done: all is summed up.", 4},
		"summed":       {"Done: all is summed up.", 4}, // and that of the summary
	}
}

// trial is what a fault left: the directory, and what the outside world saw.
type trial struct {
	scene
	dir       string
	recovered bool // a recovery has run since the fault
	raced     bool // several processes were started, none was killed
	fault     string
	disk      diskError
	exit      string

	reported []event        // events that -o jsonl said are durable
	effects  map[string]int // how often "effect N" happened
	results  []result       // the last line of each output

	log      []event
	tail     []byte // bytes after the last good line
	problems []string
}

// result is the last line of -o jsonl.
type result struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	Answer string `json:"answer"`
}

// checkpointFile is what the check reads of <id>.json.
type checkpointFile struct {
	Schema    string
	SessionID string
	Status    string
	Answer    *string
	Log       struct {
		Seq    int64
		Offset int64
		CRC    string
	}
	Messages []struct{ Role, Content string }
}

// check is the program that the lab starts in the trial directory after each
// fault. It returns the exit code: 0 when all promises were kept.
func check() int {
	t := &trial{
		scene: scenes()[os.Getenv("FAULTS_AGENT")],
		dir:   os.Getenv("FL_DIR"), fault: os.Getenv("FL_FAULT"), exit: os.Getenv("FL_EXIT"),
		recovered: os.Getenv("FL_RECOVERED") == "1", raced: os.Getenv("FL_EXITS") != "", effects: map[string]int{},
	}
	t.disk = readDiskError(t.fault)
	t.readOutputs()
	t.readLog()
	t.promisesKept()
	t.answeredLast()
	if !t.recovered && !forPeople() { // after a recovery verify is a reader of the same (sound)
		t.readersAgree()
	}
	t.checkpointWhole()
	t.callsInOrder()
	t.effectsAllowed()
	t.fileAsSaid()
	t.artifactsKept()
	t.summedOnce()
	t.storageTold()
	t.sound()
	if t.recovered {
		t.finished()
	}
	t.clean()
	return t.verdict()
}

// verdict prints what was found and returns the exit code.
func (t *trial) verdict() int {
	for _, p := range t.problems {
		fmt.Fprintln(os.Stderr, p)
	}
	return min(len(t.problems), 1)
}

func (t *trial) fail(format string, args ...any) {
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

func (t *trial) path(name ...string) string {
	return filepath.Join(append([]string{t.dir, ".kagent-sessions"}, name...)...)
}

// readOutputs reads what all processes of the trial printed. A last line that
// a kill cut off counts as not said.
func (t *trial) readOutputs() {
	names := append(filepath.SplitList(os.Getenv("FL_OUTS")), filepath.Join(filepath.Dir(os.Getenv("FL_DIR")), "setup.out"), filepath.Join(t.dir, "setup.txt"))
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // not every trial has each of them
		}
		var last result
		for line := range strings.Lines(string(b)) {
			if !strings.HasSuffix(line, "\n") {
				continue
			}
			if n, ok := strings.CutPrefix(line, "effect "); ok {
				t.effects[strings.TrimSpace(n)]++
				continue
			}
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.fail("stdout: a line is no JSON: %q", line)
				continue
			}
			if e.Seq > 0 {
				t.reported = append(t.reported, e)
				continue
			}
			_ = json.Unmarshal([]byte(line), &last)
		}
		t.results = append(t.results, last)
	}
}

func (t *trial) readLog() {
	b, err := os.ReadFile(t.path(sessionID, "events.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.fail("log: %v", err)
	}
	t.log, t.tail = goodLines(b)
	if (t.recovered || t.raced) && len(t.tail) > 0 {
		t.fail("log: %d bytes after event %d are no good line", len(t.tail), len(t.log))
	}
}

// promisesKept: what was reported as durable is in the log, as it was said.
func (t *trial) promisesKept() {
	for _, e := range t.reported {
		switch {
		case e.Seq > int64(len(t.log)):
			t.fail("lost: event %d (%s) was reported, the log ends at %d", e.Seq, e.Type, len(t.log))
			return
		case !e.same(t.log[e.Seq-1]):
			t.fail("changed: event %d (%s) was reported, the log has another one (%s)", e.Seq, e.Type, t.log[e.Seq-1].Type)
			return
		}
	}
}

// readersAgree: `show --events` finds what is there, and no more.
func (t *trial) readersAgree() {
	cmd := exec.Command(os.Getenv("FAULTS_KAGENT"), "show", sessionID, "--events")
	out, err := cmd.Output()
	want := 0
	if len(t.log) == 0 {
		want = 3
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		out = append(out, exit.Stderr...)
	} else if err != nil {
		t.fail("show: %v", err)
	}
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.fail("show: exit %d, want %d: %s", code, want, last(out, 200))
		return
	}
	if n := bytes.Count(out, []byte("\n")); want == 0 && n != len(t.log) {
		t.fail("show: %d events, the log has %d", n, len(t.log))
	}
}

var peoplesFile = regexp.MustCompile(`(torn|zeros) .*/s1/(lock|status\.tmp)'`)

// forPeople: half of the states of a power cut differ only in bytes of files that
// nothing is read from. In the short profile no reader is started for them: it
// has seen the same log in others.
func forPeople() bool {
	return os.Getenv("FAULTS_PROFILE") == "short" && peoplesFile.MatchString(os.Getenv("FL_FAULT"))
}

// checkpointWhole: <id>.json is whole and true at every instant.
func (t *trial) checkpointWhole() {
	b, err := os.ReadFile(t.path(sessionID + ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		if t.recovered {
			t.fail("checkpoint: missing")
		}
		return
	}
	var c checkpointFile
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil {
		t.fail("checkpoint: not whole: %v in %d bytes", err, len(b))
		return
	}
	if c.Schema != "kagent/checkpoint/v1" || c.SessionID != sessionID {
		t.fail("checkpoint: schema %q, session %q", c.Schema, c.SessionID)
	}
	seq := c.Log.Seq
	if seq < 1 || seq > int64(len(t.log)) {
		t.fail("checkpoint: it has seen event %d, the log ends at %d", seq, len(t.log))
		return
	}
	if e := t.log[seq-1]; c.Log.CRC != e.crc || c.Log.Offset != e.end {
		t.fail("checkpoint: it names another event %d than the log has", seq)
	}
	if !t.recovered {
		return
	}
	n := len(c.Messages)
	switch {
	case seq != int64(len(t.log)):
		t.fail("checkpoint: it shows event %d, the log ends at %d", seq, len(t.log))
	case c.Status != "completed" || c.Answer == nil || *c.Answer != t.answer:
		t.fail("checkpoint: status %s, answer %v", c.Status, c.Answer)
	case n == 0 || c.Messages[n-1].Content != t.answer:
		t.fail("checkpoint: its last message is not the answer")
	}
}

// answeredLast: an answer is given only when the end of its turn is durable.
func (t *trial) answeredLast() {
	for _, r := range t.results {
		if r.Status == "completed" && !slices.ContainsFunc(t.log, completed) {
			t.fail("lost: the answer was given, the log has no end of its turn")
			return
		}
	}
}

func completed(e event) bool {
	return e.Type == "turn/end" && e.Scope == "" && e.data().Status == "completed"
}

// finished: the session is completed, and nothing was asked for or run again.
func (t *trial) finished() {
	n, ends := 0, 0
	for _, e := range t.log {
		switch {
		case e.Type == "assistant/message":
			n++
		case completed(e):
			ends++
		}
	}
	if want := t.replies + t.summariesDue(); n != want {
		t.fail("log: %d replies, want %d", n, want)
	}
	if ends != 1 {
		t.fail("log: %d completed turns, want 1", ends)
	}
	outs := filepath.SplitList(os.Getenv("FL_OUTS"))
	if b, err := os.ReadFile(outs[len(outs)-1]); err != nil || !bytes.Contains(b, []byte(t.answer)) {
		t.fail("stdout: the recovery did not print the answer: %v", err)
	}
}

// clean: nothing is there that these faults give no reason for.
func (t *trial) clean() {
	if _, err := os.Lstat(t.path(sessionID, "checkpoint.damaged")); err == nil {
		t.fail("checkpoint: not whole, a recovery has set it aside")
	}
	signalled := strings.HasPrefix(t.fault, "sig:")
	for _, e := range t.log {
		if (t.raced || signalled) && e.Type == "log/repaired" {
			t.fail("log: it was repaired, but nobody was killed")
		}
		if d := e.data(); (t.raced || signalled) && e.Type == "turn/end" && d.Reason == "crash" {
			t.fail("log: a turn ended as a crash, but nobody was killed")
		}
	}
	if t.exit == "0" && !t.raced && t.results[0].Status != "completed" {
		t.fail("run: exit 0 with the result %+v", t.results[0])
	}
	if !t.recovered {
		return
	}
	entries, _ := os.ReadDir(t.path())
	want := map[string]bool{".gitignore": true, sessionID: true, sessionID + ".json": true}
	for _, e := range entries {
		delete(want, e.Name())
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		t.fail("sessions: %s is missing", name)
	}
}

func last(b []byte, n int) []byte {
	b = bytes.TrimSpace(b)
	return b[max(0, len(b)-n):]
}
