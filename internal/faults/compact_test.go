//go:build faults

package faults

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const nextAnswer = "Next: nothing."

// checkCompact is the program that the lab starts after it disturbed a
// `kagent compact`: the summary is there, or all is as it was.
func checkCompact() int {
	t := &trial{
		scene: scenes()[os.Getenv("FAULTS_AGENT")],
		dir:   os.Getenv("FL_DIR"), fault: os.Getenv("FL_FAULT"), exit: os.Getenv("FL_EXIT"), recovered: os.Getenv("FL_RECOVERED") == "1",
	}
	if t.recovered {
		t.answer = nextAnswer
	}
	t.disk = readDiskError(t.fault)
	t.readLog()
	t.ended("compact", "9")
	if t.fault == "none" && t.exit != "0" {
		t.fail("compact: exit %s: %s", t.exit, t.stderr())
	}
	t.pastKept()
	t.checkpointWhole()
	t.readersAgree()
	t.callsInOrder()
	t.summedOnce()
	t.summedOrAsItWas()
	t.sound()
	if t.recovered {
		t.wentOn()
	}
	return t.verdict()
}

// pastKept: the log has all that it had.
func (t *trial) pastKept() {
	was, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), "good", ".kagent-sessions", sessionID, "events.jsonl"))
	is, ierr := os.ReadFile(t.path(sessionID, "events.jsonl"))
	if err != nil || ierr != nil || len(was) == 0 || !bytes.HasPrefix(is, was) {
		t.fail("lost: the log of %d bytes had %d others (%v, %v)", len(is), len(was), err, ierr)
	}
}

// summaries are the events that say that a summary took a place.
func (t *trial) summaries() (all []eventData) {
	for _, e := range t.log {
		if e.Type == "context/compacted" {
			all = append(all, e.data())
		}
	}
	return all
}

// summariesDue is how many summaries a finished session has: one where it was
// set up so. A call in doubt has no output, so that there is room without.
func (t *trial) summariesDue() int {
	if os.Getenv("FAULTS_AGENT") != "summed" {
		return 0
	}
	told := func(c *call) bool { return c.results[0].Outcome != "ok" }
	if len(t.summaries()) == 0 && slices.ContainsFunc(t.calls(func(string, ...any) {}), told) {
		return 0
	}
	return 1
}

// summedOnce: a summary takes the place of something once, and is of a reply
// that the log has.
func (t *trial) summedOnce() {
	var places []int64
	for _, s := range t.summaries() {
		if slices.Contains(places, s.Before) {
			t.fail("log: two summaries stand for what is before event %d", s.Before)
		}
		places = append(places, s.Before)
		paid := func(e event) bool { return e.Type == "assistant/message" && e.Scope == s.From }
		if !slices.ContainsFunc(t.log, paid) {
			t.fail("log: there is a summary of %s, and no reply", s.From)
		}
	}
}

// summedOrAsItWas: what the model would be sent begins with the summary, or is
// what it was; the session stands as it did. What was printed is there.
func (t *trial) summedOrAsItWas() {
	was, werr := os.ReadFile(filepath.Join(os.Getenv("HOME"), "messages"))
	is, err := t.kagent("show", sessionID, "--messages")
	said, _ := os.ReadFile(os.Getenv("FL_STDOUT"))
	there := len(t.summaries()) > 0
	switch {
	case werr != nil || err != nil:
		t.fail("show: %v, %v", werr, err)
	case there && !strings.Contains(is, "In short: "):
		t.fail("compact: the summary is recorded and not sent: %s", is)
	case !there && is != string(was):
		t.fail("compact: there is no summary, and the session is not what it was: %s", is)
	case !there && (t.exit == "0" || bytes.Contains(said, []byte(`{"turns":1,`))):
		t.fail("lost: the summary was reported, and is not there")
	}
	out, err := t.kagent("list", "-o", "json")
	var list []struct{ SessionID, Status, Reason string }
	if jerr := json.Unmarshal([]byte(out), &list); err != nil || jerr != nil || len(list) != 2 {
		t.fail("list: %v, %v: %s", err, jerr, out)
	}
	for _, s := range list {
		if s.Status != "completed" || s.Reason != "" {
			t.fail("list: %+v", s)
		}
	}
	for _, e := range t.log {
		if strings.HasPrefix(t.fault, "sig:") && (e.Type == "log/repaired" || e.data().Reason == "crash") {
			t.fail("log: event %d (%s), but nobody was killed", e.Seq, e.Type)
		}
	}
}

// wentOn: the summary was made and paid for once, and the next turn completes.
func (t *trial) wentOn() {
	if n := len(t.summaries()); n != 1 {
		t.fail("log: %d summaries, want 1", n)
	}
	paid, ends := 0, 0
	for _, e := range t.log {
		switch {
		case e.Type == "assistant/message" && strings.HasPrefix(e.Scope, "summarise-"):
			paid++
		case completed(e):
			ends++
		}
	}
	if paid != 1 {
		t.fail("log: %d summaries were paid for, want 1", paid)
	}
	if ends != 2 {
		t.fail("log: %d completed turns, want 2", ends)
	}
	outs := filepath.SplitList(os.Getenv("FL_OUTS"))
	if b, err := os.ReadFile(outs[len(outs)-1]); err != nil || !bytes.Contains(b, []byte(nextAnswer)) {
		t.fail("stdout: the next turn did not print its answer: %v", err)
	}
}
