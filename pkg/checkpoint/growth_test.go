package checkpoint

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// grown makes a session whose log has at least n bytes and whose turn is open.
func grown(t tb, s *Store, id string, n int64) *Journal {
	t.Helper()
	j := create(t, s, id)
	text := strings.Repeat("\tif err != nil {\n\t\treturn err // 读取文件\n\t}\n", 400)
	for j.end < n {
		step, call := j.State().Main().Steps+1, session.CallID{Reply: j.State().Seq + 2}
		parts := []message.Part{message.Text("I look."), message.Call(message.ToolCall{ID: "c", Name: "shell", Arguments: "{}"})}
		check(t, j.Append("", &session.StepStart{Step: step},
			&session.AssistantMessage{Parts: parts, Stop: message.StopCalls, Usage: message.Usage{Total: 100}, Model: "demo"},
			&session.ToolCall{Call: call, Tool: "shell", Attempt: 1, Key: "k"},
			&session.ToolResult{Call: call, Outcome: session.OutcomeOK, Text: text}, &session.StepEnd{Step: step}))
	}
	return j
}

// A list reads the head of each checkpoint and the last line of its log; more of
// that only of a session that died behind it.
func TestAListReadsLittleOfEachSession(t *testing.T) {
	const sessions, most = 100, 8 << 10
	s, fsys := newTestStore(t.TempDir())
	for i := range sessions {
		j := grown(t, s, fmt.Sprint("s", i), int64(1+i*3000))
		check(t, j.Commit())
		check(t, j.Close())
	}
	owned := grown(t, s, "owned", 0)
	check(t, owned.Commit())
	check(t, owned.Append("", said("not in its checkpoint yet")))
	fsys.reset()
	list, err := s.List()
	check(t, err)
	check(t, owned.Close())
	if len(list) != sessions+1 || list[0].SessionID != "owned" {
		t.Fatalf("%d sessions, the first is %s", len(list), list[0].SessionID)
	}
	for name, n := range fsys.read {
		if name == "events.jsonl" && n > sessions*tailSize || name != "events.jsonl" && n > headSize {
			t.Errorf("%d bytes were read of %s", n, name)
		}
	}
	if n := fsys.read["s99.json"]; n != headSize || headSize+tailSize != most || len(slurp(t, s.Path("s99"))) < 10*most {
		t.Errorf("%d bytes of a large checkpoint were read", n)
	}
	fsys.reset()
	if sum, ok := s.Glance("s1"); !ok || sum.Status != session.Interrupted || fsys.read["s1.json"] > headSize || fsys.read["events.jsonl"] > tailSize {
		t.Errorf("a glance: %v, %+v, %v", ok, sum, fsys.read)
	}
	if sum, ok := s.Glance("owned"); ok {
		t.Errorf("a glance at a session that died behind its checkpoint: %+v", sum)
	}
}

// What is shown of a log is not held: neither its events nor, where the log
// must be folded for it, how the session stands.
func TestALargeLogIsShownInLittleMemory(t *testing.T) {
	const size, most = 12 << 20, 1 << 20
	s, fsys := newTestStore(t.TempDir())
	check(t, grown(t, s, "s", size).Close())
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for name, read := range map[string]func() error{
		"events":  func() error { return s.Events(t.Context(), "s", false, func(session.Event) {}) },
		"summary": func() error { _, err := s.Summary("s"); return err },
	} {
		before, held, reads := heap(), int64(0), 0
		fsys.fail = func(call string) error {
			if call == "read events.jsonl" {
				if reads++; reads%40 == 0 {
					held = max(held, heap()-before)
				}
			}
			return nil
		}
		check(t, read())
		fsys.heal()
		fsys.reset()
		if reads < 100 || held > most {
			t.Errorf("%s: %d bytes are held after %d reads", name, held, reads)
		}
	}
	v, err := s.Read("s")
	check(t, err)
	sum, err := s.Summary("s")
	check(t, err)
	if sum.Status != session.Interrupted || sum.Iterations != v.State.Iterations || sum.ToolCalls != v.State.ToolCalls || sum.SizeBytes < size {
		t.Errorf("summary %+v", sum)
	}
}

// An open compares the checkpoint with what its owner must have written; what
// that encoded is not encoded again.
func TestAResumeReadsLogAndCheckpointOnce(t *testing.T) {
	for _, behind := range []bool{false, true} {
		s, fsys := newTestStore(t.TempDir())
		j := grown(t, s, "s", 1<<20)
		check(t, j.Commit())
		if behind {
			toolStep(t, j, "I look.", "a", 2)
			check(t, j.Append("", said("and then?")))
		}
		check(t, j.Close())
		log, saved := int64(len(slurp(t, j.paths.log))), int64(len(slurp(t, s.Path("s"))))
		fsys.reset()
		j, rec := reopen(t, s, "s")
		if n, m := fsys.read["events.jsonl"], fsys.read["s.json"]; n > log || m > saved+headSize || len(rec.Warnings) > 0 {
			t.Errorf("%d of %d bytes of the log were read, %d of %d of the checkpoint, warnings %q", n, log, m, saved, rec.Warnings)
		}
		check(t, j.Commit())
		v, err := s.Read("s")
		check(t, err)
		var im image
		if !im.shows(OS{}, s.Path("s"), v.State, v.at) {
			t.Error("the new checkpoint is not that of the log")
		}
		check(t, j.Close())
	}
}

// A checkpoint that differs in one byte from what its owner wrote is taken for
// sound where it may be another version's, and never for more than it is.
func TestAChangedCheckpointIsNotTakenForTheOwners(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	good := slurp(t, s.Path("s"))
	v, err := s.Read("s")
	check(t, err)
	shows := func() bool {
		var im image
		return im.shows(OS{}, s.Path("s"), v.State, v.at)
	}
	if !shows() {
		t.Fatal("the owner's own is not known")
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 4
		if write(t, s.Path("s"), bad); shows() {
			t.Fatalf("byte %d: %s", i, bad)
		}
	}
	for _, bad := range [][]byte{good[:len(good)-1], append(slices.Clone(good), ' '), nil} {
		if write(t, s.Path("s"), bad); shows() {
			t.Errorf("%d of %d bytes", len(bad), len(good))
		}
	}
	if check(t, os.Remove(s.Path("s"))); shows() {
		t.Error("none")
	}
}
