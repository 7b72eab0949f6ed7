package checkpoint

import (
	"os"
	"os/exec"
	"testing"
)

// dead returns the number of a process that has ended.
func dead(t *testing.T) int {
	t.Helper()
	c := exec.Command("true")
	check(t, c.Run())
	return c.Process.Pid
}

func TestADeadHolderIsKnownToBeGone(t *testing.T) {
	pid := dead(t)
	for name, c := range map[string]struct {
		h    Holder
		gone bool
	}{
		"dead":                 {Holder{PID: pid, Host: hostname(), BootID: bootID()}, bootID() != ""},
		"alive":                {Holder{PID: os.Getpid(), Host: hostname(), BootID: bootID()}, false},
		"on another machine":   {Holder{PID: pid, Host: "elsewhere", BootID: bootID()}, false},
		"before the last boot": {Holder{PID: pid, Host: hostname(), BootID: "another"}, false},
		"nobody":               {Holder{}, false},
	} {
		if got := c.h.gone(); got != c.gone {
			t.Errorf("%s: gone is %v", name, got)
		}
	}
}

// A process that was killed while it made a child for a tool leaves its lock
// with that child for an instant: whoever resumes at once waits for it.
func TestOpenWaitsForWhatADeadOwnerLeftBehind(t *testing.T) {
	if bootID() == "" {
		t.Skip("this system does not name its boots")
	}
	dir := t.TempDir()
	s := NewStore(dir, Options{Owner: ThisProcess("test")})
	finished(t, s, "s")
	p := pathsOf(dir, "s")
	held, err := OS{}.Open(p.lock, os.O_RDWR, 0)
	check(t, err)
	check(t, writeHolder(held, Holder{PID: dead(t), Host: hostname(), BootID: bootID()}))
	if ok, err := tryLock(held); err != nil || !ok {
		t.Fatal(ok, err)
	}
	s.fs = releasing{OS{}, func() { held.Close() }, p.lock}
	j, _, err := s.Open("s")
	check(t, err)
	check(t, j.Close())
}

// releasing lets a lock go when somebody reads who has it, which is after it
// was asked for in vain.
type releasing struct {
	OS
	release func()
	lock    string
}

func (r releasing) Open(name string, flag int, perm os.FileMode) (File, error) {
	f, err := r.OS.Open(name, flag, perm)
	if err == nil && name == r.lock {
		f = readHook{f, r.release}
	}
	return f, err
}

type readHook struct {
	File
	read func()
}

func (h readHook) ReadAt(b []byte, off int64) (int, error) {
	h.read()
	return h.File.ReadAt(b, off)
}
