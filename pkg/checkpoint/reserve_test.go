package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"kagent/pkg/session"
)

// granting is a seam whose file system grants every reservation.
type granting struct{ *seam }

func (g granting) Open(name string, flag int, perm os.FileMode) (File, error) {
	f, err := g.seam.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return grantingFile{f, g.seam, name}, nil
}

type grantingFile struct {
	File
	s    *seam
	name string
}

func (f grantingFile) Reserve(off, n int64) error { return f.s.call("reserve", f.name) }

// reserving is a session on such a file system.
func reserving(t *testing.T) (*Store, *seam, *Journal) {
	s, fsys := newTestStore(t.TempDir())
	s.fs = granting{fsys}
	j := create(t, s, "s")
	fsys.reset()
	return s, fsys, j
}

func TestReservedRoomIsUsedAndWhatIsLeftGivenBack(t *testing.T) {
	_, fsys, j := reserving(t)
	ask(t, j, "I look.", 1)
	check(t, j.Reserve(10_000))
	check(t, j.Reserve(5_000)) // is there
	begin(t, j)
	check(t, j.Reserve(5_000))
	if n := fsys.count("reserve events.jsonl"); n != 1 {
		t.Errorf("asked %d times", n)
	}
	settle(t, j, strings.Repeat("x", 9_000))
	check(t, j.Reserve(5_000))
	if n := fsys.count("reserve events.jsonl"); n != 2 {
		t.Errorf("asked %d times", n)
	}
	if n := fsys.count("truncate"); n != 0 {
		t.Errorf("cut %d times before the end", n)
	}
	log := slurp(t, j.paths.log)
	check(t, j.Close())
	if n := fsys.count("truncate events.jsonl"); n != 1 {
		t.Errorf("cut %d times at the end", n)
	}
	if !bytes.Equal(slurp(t, j.paths.log), log) {
		t.Error("the log changed")
	}
}

func TestAReservationCostsNoSync(t *testing.T) {
	_, fsys, j := reserving(t)
	for range 3 {
		fsys.reset()
		ask(t, j, "I look.", 2)
		check(t, j.Reserve(132<<10))
		begin(t, j)
		settle(t, j, "ok")
		if n := fsys.count("sync "); n > 3 {
			t.Errorf("%d syncs", n)
		}
	}
	fsys.reset()
	check(t, j.Close())
	if n := fsys.count("sync"); n != 0 {
		t.Errorf("%d syncs at the end", n)
	}
}

// A full disk shows before the effect. What was granted is given back: how the
// run ended must be said.
func TestADiskThatRefusesRoomIsSaidInTime(t *testing.T) {
	for _, errno := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		_, fsys, j := reserving(t)
		ask(t, j, "I look.", 1)
		fsys.failOn("reserve", 1, errno)
		if e := wantError[*StorageError](t, j.Reserve(10_000)); !errors.Is(e, errno) {
			t.Errorf("error %v", e)
		}
		if fsys.count("truncate events.jsonl") != 1 {
			t.Error("a part of the room may still be held")
		}
		check(t, j.Append("", &session.TurnEnd{Turn: 1, Status: session.Interrupted, Reason: session.ReasonStorage}))
		check(t, j.Commit())
		check(t, j.Reserve(10_000)) // with space again
		check(t, j.Close())
	}
}

func TestAFileSystemThatReservesNothingIsNoError(t *testing.T) {
	for _, err := range []error{syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EINVAL, syscall.EPERM, errors.ErrUnsupported} {
		_, fsys, j := reserving(t)
		fsys.failOn("reserve", 1, err)
		check(t, j.Reserve(10_000))
		toolStep(t, j, "on", "ok", 1)
		check(t, j.Close())
		if n := fsys.count("truncate events.jsonl"); n != 0 {
			t.Errorf("%v: cut %d times", err, n)
		}
	}
}

// An owner that lost its session must not cut the log that another writes.
func TestALostLogIsNotCutAtTheEnd(t *testing.T) {
	_, _, j := reserving(t)
	check(t, j.Reserve(10_000))
	f, err := os.OpenFile(j.paths.log, os.O_APPEND|os.O_WRONLY, 0)
	check(t, err)
	_, err = f.WriteString("a line of another process\n")
	check(t, err)
	check(t, f.Close())
	check(t, j.Close())
	if !bytes.HasSuffix(slurp(t, j.paths.log), []byte("a line of another process\n")) {
		t.Error("the line of another process is gone")
	}
}

// A result that finds no room, half written, may still be recorded in short.
func TestARefusedLineLeavesRoomForAShorterOne(t *testing.T) {
	s, fsys, j := reserving(t)
	ask(t, j, "I look.", 1)
	check(t, j.Reserve(10_000))
	begin(t, j)
	fsys.half = true
	fsys.failOn("write events.jsonl", 1, syscall.ENOSPC)
	id := j.State().Main().Pending()[0].ID
	wantError[*StorageError](t, j.Append("", &session.ToolResult{Call: id, Text: strings.Repeat("x", 1<<16)}))
	check(t, j.Append("", &session.ToolResult{Call: id, Text: "short"}))
	check(t, j.Commit())
	check(t, j.Close())
	j, rec := reopen(t, s, "s")
	defer j.Close()
	if got := j.State().Main().LastReply().Calls[0].Result.Text; got != "short" || rec.Torn != nil {
		t.Errorf("result %q, torn %+v", got, rec.Torn)
	}
}

// What is reserved for the log must not be what the checkpoint lacks.
func TestACheckpointGetsTheRoomThatTheLogDoesNotNeed(t *testing.T) {
	_, fsys, j := reserving(t)
	defer j.Close()
	check(t, j.Reserve(10_000))
	check(t, j.Append("", said("x")))
	full := true
	fsys.fail = func(call string) error {
		full = full && call != "truncate events.jsonl"
		if full && call == "write checkpoint.tmp" {
			return syscall.ENOSPC
		}
		return nil
	}
	check(t, j.Commit())
	if h, err := readWhole(OS{}, j.paths.checkpoint); err != nil || h.Log.Seq != j.State().Seq {
		t.Errorf("the checkpoint shows %+v, %v", h.Log, err)
	}
}

// A log that could be written and a checkpoint that could not are both said,
// and with space again the session goes on.
func TestACheckpointThatFindsNoRoomIsMadeLater(t *testing.T) {
	s, fsys, j := reserving(t)
	old := slurp(t, j.paths.checkpoint)
	check(t, j.Append("", said("x")))
	fsys.failOn("open checkpoint.tmp", 1, syscall.ENOSPC)
	e := wantError[*StorageError](t, j.Commit())
	want := "the log is stored up to event 5, but not the checkpoint " + j.paths.checkpoint + ": no space left on device"
	if !strings.HasSuffix(e.Error(), want) {
		t.Errorf("error %v, want %s", e, want)
	}
	check(t, j.Close())
	if !bytes.Equal(slurp(t, j.paths.checkpoint), old) {
		t.Error("the checkpoint changed")
	}
	fsys.heal()
	j, _ = reopen(t, s, "s")
	defer j.Close()
	check(t, j.Commit())
	if h, err := readWhole(OS{}, j.paths.checkpoint); err != nil || h.Log.Seq != j.State().Seq {
		t.Errorf("the checkpoint shows %+v, %v", h.Log, err)
	}
}

// One line names the file and the cause, each once.
func TestStorageErrorsAreOneClearLine(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.EROFS, syscall.EDQUOT, syscall.EIO, syscall.ENOSPC} {
		s, fsys := newTestStore(t.TempDir())
		finished(t, s, "s")
		fsys.failOn("open events.jsonl", 1, errno)
		_, _, err := s.Open("s")
		e := wantError[*StorageError](t, err)
		if want := "storage: open " + pathsOf(s.dir, "s").log + ": " + errno.Error(); e.Error() != want || !errors.Is(e, errno) {
			t.Errorf("error %q, want %q", e, want)
		}
		fsys.heal()
		j, _ := reopen(t, s, "s")
		check(t, j.Close())
	}
}

// On the real file system the size stays, blocks come, and go with Close.
func TestRealReservation(t *testing.T) {
	s := NewStore(t.TempDir(), Options{})
	j := create(t, s, "s")
	blocks := func() int64 {
		info, err := os.Stat(j.paths.log)
		check(t, err)
		if info.Size() != j.end {
			t.Errorf("the log has %d bytes, want %d", info.Size(), j.end)
		}
		return info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	before := blocks()
	check(t, j.Reserve(1<<20))
	if j.room == 0 {
		t.Skip("this file system reserves nothing")
	}
	if got := blocks(); got < 1<<20 {
		t.Errorf("%d bytes of blocks", got)
	}
	toolStep(t, j, "I look.", "ok", 1)
	if got := blocks(); got < 1<<20 {
		t.Errorf("%d bytes of blocks after a step", got)
	}
	check(t, j.Close())
	if got := blocks(); got > before+64<<10 {
		t.Errorf("%d bytes of blocks are left, before there were %d", got, before)
	}
}
