package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

func said(text string) session.Data {
	return &session.UserMessage{Source: session.FromUser, Text: text}
}

// F013: bytes of a failed append never stay in the log.
func TestFailedAppendIsCutBack(t *testing.T) {
	for _, c := range []struct {
		name string
		half bool
		err  error
	}{{"nothing written", false, syscall.EIO}, {"half written", true, syscall.ENOSPC}} {
		t.Run(c.name, func(t *testing.T) {
			s, fsys := newTestStore(t.TempDir())
			j := create(t, s, "s")
			defer j.Close()
			log, seq, entries := slurp(t, j.paths.log), j.State().Seq, len(j.State().Main().Entries)
			fsys.failOn("write events.jsonl", 1, c.err)
			fsys.half = c.half
			err := j.Append("", said("lost"), said("lost too"))
			if e := wantError[*StorageError](t, err); !errors.Is(e, c.err) || !strings.Contains(e.Error(), "events.jsonl") {
				t.Errorf("error %v", e)
			}
			if !bytes.Equal(slurp(t, j.paths.log), log) {
				t.Error("bytes of the failed append stay in the log")
			}
			if j.State().Seq != seq || len(j.State().Main().Entries) != entries {
				t.Error("the state has what the log has not")
			}
			fsys.heal()
			check(t, j.Append("", said("kept")))
			check(t, j.Commit())
			v, err := s.Read("s", nil)
			check(t, err)
			if e := v.State.Main().Entries; e[len(e)-1].User.Text != "kept" || v.Torn != 0 || len(e) != entries+1 {
				t.Errorf("the log reads back as %d entries, torn %d", len(e), v.Torn)
			}
		})
	}
}

func TestEventThatCannotBeEncodedChangesNothing(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	log, seq := slurp(t, j.paths.log), j.State().Seq
	bad := &session.AssistantMessage{Parts: []message.Part{{Type: message.TypeText, Opaque: json.RawMessage(`{`)}}}
	wantError[*StorageError](t, j.Append("", said("fine"), bad))
	if !bytes.Equal(slurp(t, j.paths.log), log) || j.State().Seq != seq {
		t.Error("something was appended")
	}
	check(t, j.Append("", said("fine")))
}

func TestWriteThatCannotBeCutBackKillsTheJournal(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "s")
	log := slurp(t, j.paths.log)
	fsys.fail = func(call string) error {
		if call == "write events.jsonl" || call == "truncate events.jsonl" {
			return syscall.EIO
		}
		return nil
	}
	fsys.half = true
	first := j.Append("", said("half of this stays"))
	wantError[*StorageError](t, first)
	fsys.heal()
	fsys.reset()
	for name, err := range map[string]error{"append": j.Append("", said("x")), "sync": j.Sync(), "commit": j.Commit()} {
		if err != first {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := fsys.count("write") + fsys.count("sync") + fsys.count("rename"); n != 0 {
		t.Errorf("a dead journal did %d calls: %v", n, fsys.trace)
	}
	check(t, j.Close())
	j, rec := reopen(t, s, "s")
	defer j.Close()
	if rec.Torn == nil || rec.Torn.Offset != int64(len(log)) {
		t.Errorf("torn %+v, want at %d", rec.Torn, len(log))
	}
}

// The kernel may have dropped the pages: a second sync would prove nothing.
func TestFailedSyncIsFinal(t *testing.T) {
	for _, via := range []string{"sync", "commit"} {
		s, fsys := newTestStore(t.TempDir())
		var reported []session.Type
		s.report = func(e session.Event) { reported = append(reported, e.Type) }
		j := create(t, s, "s")
		check(t, j.Append("", said("x")))
		checkpoint, before := slurp(t, j.paths.checkpoint), len(reported)
		fsys.failOn("sync events.jsonl", 1, syscall.EIO)
		fsys.reset()
		first := j.Sync
		if via == "commit" {
			first = j.Commit
		}
		err := first()
		wantError[*StorageError](t, err)
		fsys.heal()
		for name, again := range map[string]error{"sync": j.Sync(), "commit": j.Commit(), "append": j.Append("", said("y"))} {
			if again != err {
				t.Errorf("%s after the failed %s: %v", name, via, again)
			}
		}
		if n := fsys.count("sync events.jsonl"); n != 1 {
			t.Errorf("synced %d times", n)
		}
		if len(reported) != before || !bytes.Equal(slurp(t, j.paths.checkpoint), checkpoint) {
			t.Error("what is not durable was shown")
		}
		check(t, j.Close())
	}
}

func TestSyncIsDoneOnlyWhereSomethingIsNew(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	fsys.reset()
	check(t, j.Sync())
	check(t, j.Commit())
	if n := fsys.count("sync events.jsonl"); n != 0 {
		t.Errorf("synced %d times without new events", n)
	}
}

// An owner that was stopped for long may have lost its files; it writes into
// nobody else's.
func TestFenceStopsAnOwnerThatLostItsFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, p paths)
	}{
		{"log replaced", func(t *testing.T, p paths) {
			write(t, p.log+".new", slurp(t, p.log))
			check(t, os.Rename(p.log+".new", p.log))
		}},
		{"log deleted", func(t *testing.T, p paths) { check(t, os.Remove(p.log)) }},
		{"log grown", func(t *testing.T, p paths) {
			write(t, p.log, append(slurp(t, p.log), "{\"foreign\":1}\n"...))
		}},
		{"log shrunk", func(t *testing.T, p paths) { check(t, os.Truncate(p.log, 10)) }},
		{"lock deleted", func(t *testing.T, p paths) { check(t, os.Remove(p.lock)) }},
		{"lock replaced", func(t *testing.T, p paths) {
			check(t, os.Remove(p.lock))
			write(t, p.lock, nil)
		}},
		{"directory renamed", func(t *testing.T, p paths) { check(t, os.Rename(p.dir, p.dir+"-old")) }},
		{"directory replaced", func(t *testing.T, p paths) {
			check(t, os.Rename(p.dir, p.dir+"-old"))
			check(t, os.Mkdir(p.dir, dirMode))
			write(t, p.log, slurp(t, filepath.Join(p.dir+"-old", "events.jsonl")))
			write(t, p.lock, nil)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := newTestStore(dir)
			j := create(t, s, "s")
			defer j.Close()
			check(t, j.Append("", said("durable, not committed")))
			c.harm(t, j.paths)
			before := snapshot(t, dir)
			if err := j.Commit(); !errors.Is(err, errFenced) {
				t.Errorf("commit: %v", err)
			}
			err := j.Append("", said("x"))
			if e := wantError[*StorageError](t, err); !errors.Is(e, errFenced) {
				t.Errorf("append: %v", e)
			}
			if snapshot(t, dir) != before {
				t.Error("it wrote all the same")
			}
		})
	}
}

// Promise 2, F006, F013: the checkpoint is whole at every instant.
func TestFailedCommitLeavesTheOldCheckpoint(t *testing.T) {
	for _, at := range []string{"open checkpoint.tmp", "write checkpoint.tmp", "sync checkpoint.tmp", "rename s.json", "remove checkpoint.tmp"} {
		t.Run(at, func(t *testing.T) {
			s, fsys := newTestStore(t.TempDir())
			j := create(t, s, "s")
			defer j.Close()
			old := slurp(t, j.paths.checkpoint)
			check(t, j.Append("", said("x")))
			fsys.half = true
			fsys.failOn(at, 1, syscall.ENOSPC)
			e := wantError[*StorageError](t, j.Commit())
			if !errors.Is(e, syscall.ENOSPC) || !strings.Contains(e.Error(), j.paths.checkpoint) {
				t.Errorf("error %v", e)
			}
			if !bytes.Equal(slurp(t, j.paths.checkpoint), old) {
				t.Error("the checkpoint changed")
			}
			if _, err := os.Lstat(j.paths.temp); err == nil {
				t.Error("the temp file stays")
			}
			fsys.heal()
			check(t, j.Append("", said("y")))
			check(t, j.Commit())
			h, err := readWhole(OS{}, j.paths.checkpoint)
			check(t, err)
			if h.Log.Seq != j.State().Seq || h.Log.Offset != int64(len(slurp(t, j.paths.log))) {
				t.Errorf("the next checkpoint shows %+v", h.Log)
			}
		})
	}
}

func TestEventsAreReportedWhenTheyAreDurable(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	var got []session.Type
	s.report = func(e session.Event) { got = append(got, e.Type) }
	expect := func(when string, want ...session.Type) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: reported %v, want %v", when, got, want)
		}
		got = nil
	}
	j, err := s.Create("s", task)
	check(t, err)
	defer j.Close()
	expect("created", "session/created", "session/opened")
	ask(t, j, "I look.", 1)
	check(t, j.Append("", &session.AssistantChunk{Text: "I lo"}))
	expect("appended")
	begin(t, j)
	expect("synced", "step/start", "request/header", "assistant/message", "tool/call")
	check(t, j.Append("", &session.ToolResult{Call: session.CallID{Reply: 5}, Outcome: session.OutcomeOK}, &session.StepEnd{Step: 1}))
	fsys.failOn("rename s.json", 1, syscall.EIO)
	if j.Commit() == nil {
		t.Fatal("the rename did not fail")
	}
	expect("checkpoint failed")
	fsys.heal()
	shown := false
	s.report = nil
	j.Report(func(e session.Event) {
		h, err := readWhole(OS{}, j.paths.checkpoint)
		shown = err == nil && h.Log.Seq >= e.Seq
		got = append(got, e.Type)
	})
	check(t, j.Commit())
	expect("committed", "tool/result", "step/end")
	if !shown {
		t.Error("an event was reported before the checkpoint showed it")
	}
	if fsys.count("syncdir") == 0 {
		t.Error("the directory was not synced")
	}
}

// The order of a commit is log, temp file, name, directory.
func TestCommitSyncsInOrder(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	check(t, j.Append("", said("x")))
	fsys.reset()
	check(t, j.Commit())
	var order []string
	for _, c := range fsys.trace {
		if kind, _, _ := strings.Cut(c, " "); strings.Contains("sync write rename syncdir", kind) {
			order = append(order, c)
		}
	}
	want := []string{"sync events.jsonl", "write checkpoint.tmp", "sync checkpoint.tmp", "rename s.json", "syncdir " + filepath.Base(s.dir)}
	if !reflect.DeepEqual(order, want) {
		t.Errorf("order %v\nwant  %v", order, want)
	}
}

// Each line says what was durable when it was written, and who wrote it.
func TestLinesSayWhatWasDurable(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j, err := s.Create("s", task) // 1, 2
	check(t, err)
	check(t, j.Append("", said("3"), said("4")))
	check(t, j.Append("", said("5")))
	check(t, j.Sync())
	check(t, j.Append("", said("6")))
	check(t, j.Append("", said("7")))
	check(t, j.Commit())
	check(t, j.Append("", said("8")))
	check(t, j.Close())
	j, _ = reopen(t, s, "s") // 9: opening synced what it read
	check(t, j.Append("", said("10")))
	check(t, j.Close())
	var durs, epochs []int64
	for line := range bytes.Lines(slurp(t, j.paths.log)) {
		r, err := decodeLine(line)
		check(t, err)
		durs, epochs = append(durs, r.dur), append(epochs, r.Epoch)
	}
	if want := []int64{0, 0, 2, 2, 2, 5, 5, 7, 8, 9}; !reflect.DeepEqual(durs, want) {
		t.Errorf("durable %v, want %v", durs, want)
	}
	if want := []int64{1, 1, 1, 1, 1, 1, 1, 1, 2, 2}; !reflect.DeepEqual(epochs, want) {
		t.Errorf("epochs %v, want %v", epochs, want)
	}
}

func TestStateIsTheFoldOfTheLog(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	toolStep(t, j, "I look.", "a\nb", 3)
	ask(t, j, "读", 2)
	begin(t, j)
	v, err := s.Read("s", nil)
	check(t, err)
	if !reflect.DeepEqual(v.State, j.State()) {
		t.Errorf("a reader folds  %+v\nthe journal has %+v", v.State, j.State())
	}
	check(t, j.Close())
}
