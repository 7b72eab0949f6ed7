package checkpoint

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kagent/pkg/session"
)

// spoil puts something unreadable in the place of a checkpoint. Nothing may
// block on it.
var spoil = map[string]func(t *testing.T, name string){
	"truncated": func(t *testing.T, name string) { check(t, os.Truncate(name, int64(len(slurp(t, name))-40))) },
	"cut in its head": func(t *testing.T, name string) {
		check(t, os.Truncate(name, 100))
	},
	"empty": func(t *testing.T, name string) { check(t, os.Truncate(name, 0)) },
	"NULs in the middle": func(t *testing.T, name string) {
		b := slurp(t, name)
		clear(b[len(b)-100 : len(b)-50])
		write(t, name, b)
	},
	"NULs after it": func(t *testing.T, name string) { write(t, name, append(slurp(t, name), make([]byte, 300)...)) },
	"no JSON":       func(t *testing.T, name string) { write(t, name, []byte("hello")) },
	"an array":      func(t *testing.T, name string) { write(t, name, []byte("[1,2]")) },
	"foreign":       func(t *testing.T, name string) { write(t, name, []byte(`{"schema":"other/v1","metadata":{}}`)) },
	"link": func(t *testing.T, name string) {
		check(t, os.Rename(name, name+".moved"))
		check(t, os.Symlink(name+".moved", name))
	},
	"directory": func(t *testing.T, name string) {
		check(t, os.Remove(name))
		check(t, os.Mkdir(name, dirMode))
	},
	"FIFO": func(t *testing.T, name string) {
		check(t, os.Remove(name))
		check(t, syscall.Mkfifo(name, 0o600))
	},
	"socket": func(t *testing.T, name string) {
		check(t, os.Remove(name))
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name})
		check(t, err)
		t.Cleanup(func() { l.Close() })
	},
}

// F002, F156: the log is the session; a checkpoint that can't be read is kept
// aside, and the user is told.
func TestUnreadableCheckpointIsSetAside(t *testing.T) {
	for name, ruin := range spoil {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir()) // the address of a socket is short
			s, _ := newTestStore(".")
			finished(t, s, "s")
			ruin(t, "s.json")
			was, err := os.Lstat("s.json")
			check(t, err)

			list, err := s.List()
			if err != nil || len(list) != 1 || list[0].SessionID != "s" {
				t.Fatalf("list %+v, %v", list, err)
			}
			v, err := s.Read("s")
			check(t, err)
			if status, _ := v.Status(); status != session.Completed || list[0].Status != status {
				t.Errorf("status %s, in the list %s", status, list[0].Status)
			}
			j, rec := reopen(t, s, "s")
			defer j.Close()
			if len(rec.Warnings) != 1 || !strings.Contains(rec.Warnings[0], "checkpoint.damaged") {
				t.Errorf("warnings %q", rec.Warnings)
			}
			if kept, err := os.Lstat("s/checkpoint.damaged"); err != nil || !os.SameFile(was, kept) {
				t.Errorf("not set aside: %v", err)
			}
			check(t, j.Commit())
			h, err := readWhole(OS{}, "s.json")
			if err != nil || h.Log.Seq != j.State().Seq {
				t.Errorf("the new checkpoint: %+v, %v", h.Log, err)
			}
		})
	}
}

func TestSecondDamagedCheckpointDoesNotReplaceTheFirst(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	p := pathsOf(s.dir, "s")
	for _, text := range []string{"one", "two"} {
		write(t, p.checkpoint, []byte(text))
		j, _ := reopen(t, s, "s")
		check(t, j.Close())
	}
	for name, want := range map[string]string{"checkpoint.damaged": "one", "checkpoint.damaged-1": "two"} {
		if b := slurp(t, filepath.Join(p.dir, name)); string(b) != want {
			t.Errorf("%s holds %q", name, b)
		}
	}
}

// A checkpoint whose end is bad still says what the log must hold; refusing the
// log must not make the promise forgotten.
func TestDamageStaysDamageWithABadCheckpoint(t *testing.T) {
	dir := t.TempDir()
	s, _ := newTestStore(dir)
	finished(t, s, "s")
	p := pathsOf(dir, "s")
	b := slurp(t, p.log)
	check(t, os.Truncate(p.log, int64(bytes.LastIndexByte(b[:len(b)-1], '\n')+1)))
	write(t, p.checkpoint, append(slurp(t, p.checkpoint), 0))
	before := snapshot(t, dir)
	for range 2 {
		_, _, err := s.Open("s")
		wantError[*DamagedError](t, err)
	}
	if snapshot(t, dir) != before {
		t.Error("something was changed")
	}
}

func TestDamageNamesItsPlace(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	p := pathsOf(s.dir, "s")
	b := slurp(t, p.log)
	at := bytes.IndexByte(b, '\n') + 1
	b[at+30] ^= 1
	write(t, p.log, b)
	for what, open := range map[string]func() error{
		"open": func() error { _, _, err := s.Open("s"); return err },
		"read": func() error { _, err := s.Read("s"); return err },
	} {
		e := wantError[*DamagedError](t, open())
		if e.ID != "s" || e.Path != p.log || e.Offset != int64(at) || !strings.Contains(e.Error(), fmt.Sprintf("byte %d", at)) {
			t.Errorf("%s: %v", what, e)
		}
	}
}

func TestCheckpointWithoutItsLogIsDamage(t *testing.T) {
	for name, lose := range map[string]func(p paths) error{
		"directory":        func(p paths) error { return os.RemoveAll(p.dir) },
		"log":              func(p paths) error { return os.Remove(p.log) },
		"log's content":    func(p paths) error { return os.Truncate(p.log, 0) },
		"log's first line": func(p paths) error { return os.Truncate(p.log, 50) },
	} {
		for _, checkpoint := range []string{"good", "bad"} {
			dir := t.TempDir()
			s, _ := newTestStore(dir)
			finished(t, s, "s")
			p := pathsOf(dir, "s")
			if checkpoint == "bad" {
				write(t, p.checkpoint, []byte("{"))
			}
			check(t, lose(p))
			before := snapshot(t, dir)
			_, _, err := s.Open("s")
			wantError[*DamagedError](t, err)
			_, err = s.Read("s")
			wantError[*DamagedError](t, err)
			if list, err := s.List(); err != nil || len(list) != 1 || list[0].Status != Damaged || list[0].Error == "" {
				t.Errorf("%s lost, %s checkpoint: list %+v %v", name, checkpoint, list, err)
			}
			if snapshot(t, dir) != before {
				t.Errorf("%s lost: something was changed", name)
			}
		}
	}
}

// F044: what is not there is not made.
func TestOpenMakesNothing(t *testing.T) {
	dir := t.TempDir()
	s, _ := newTestStore(dir)
	finished(t, s, "nightly-1")
	finished(t, s, "removed")
	check(t, s.Remove("removed", false))
	check(t, os.Mkdir(filepath.Join(dir, "src"), dirMode))
	before := snapshot(t, dir)
	for _, id := range []string{"missing", "removed", "src", "", ".", "..", "../" + filepath.Base(dir), "nightly-1/", "a/b", "-x"} {
		_, _, err := s.Open(id)
		wantError[*NotFoundError](t, err)
		_, err = s.Read(id)
		wantError[*NotFoundError](t, err)
		wantError[*NotFoundError](t, s.Remove(id, true))
	}
	if snapshot(t, dir) != before {
		t.Error("something was made or removed")
	}
	if _, err := os.Lstat(filepath.Join(dir, "no")); err == nil {
		t.Error("directory made")
	}
}

// F156: nothing of a session is reached through a link, and nothing blocks.
func TestForeignFilesInASessionAreRefused(t *testing.T) {
	link := func(t *testing.T, name string) {
		check(t, os.Rename(name, name+".moved"))
		check(t, os.Symlink(name+".moved", name))
	}
	fifo := func(t *testing.T, name string) {
		check(t, os.Rename(name, name+".moved"))
		check(t, syscall.Mkfifo(name, 0o600))
	}
	for name, harm := range map[string]func(t *testing.T, p paths){
		"directory is a link":  func(t *testing.T, p paths) { link(t, p.dir) },
		"directory is a file":  func(t *testing.T, p paths) { check(t, os.Rename(p.dir, p.dir+".x")); write(t, p.dir, nil) },
		"log is a link":        func(t *testing.T, p paths) { link(t, p.log) },
		"log is a FIFO":        func(t *testing.T, p paths) { fifo(t, p.log) },
		"lock is a link":       func(t *testing.T, p paths) { link(t, p.lock) },
		"lock is a FIFO":       func(t *testing.T, p paths) { fifo(t, p.lock) },
		"tools.lock is a link": func(t *testing.T, p paths) { link(t, p.tools) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := newTestStore(dir)
			finished(t, s, "s")
			harm(t, pathsOf(dir, "s"))
			before := snapshot(t, dir)
			_, _, err := s.Open("s")
			wantError[*DamagedError](t, err)
			_, err = s.Create("s", task)
			wantError[*DamagedError](t, err)
			wantError[*DamagedError](t, s.Remove("s", false))
			if _, err := s.List(); err != nil {
				t.Errorf("list: %v", err)
			}
			if snapshot(t, dir) != before {
				t.Error("something was changed")
			}
		})
	}
}
