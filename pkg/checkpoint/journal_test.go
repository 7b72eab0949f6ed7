package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
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
			v, err := s.Read("s")
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
	v, err := s.Read("s")
	check(t, err)
	if !reflect.DeepEqual(v.State, j.State()) {
		t.Errorf("a reader folds  %+v\nthe journal has %+v", v.State, j.State())
	}
	check(t, j.Close())
}
