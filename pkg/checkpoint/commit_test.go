package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"kagent/pkg/session"
)

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
	j.report = func(e session.Event) {
		h, err := readWhole(OS{}, j.paths.checkpoint)
		shown = err == nil && h.Log.Seq >= e.Seq
		got = append(got, e.Type)
	}
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
