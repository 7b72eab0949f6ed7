package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// seam is the real file system, counted and breakable. Calls are known by
// their kind and the base name of the file: "sync events.jsonl".
type seam struct {
	OS
	mu      sync.Mutex
	trace   []string
	read    map[string]int64 // bytes asked from a file and got
	written map[string]int64

	fail    func(call string) error // asked before each call
	half    bool                    // a write that fails has written half
	volatil bool                    // syncs are counted and not done
}

func newSeam() *seam { return &seam{read: map[string]int64{}, written: map[string]int64{}} }

func (s *seam) call(kind, path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := kind + " " + filepath.Base(path)
	s.trace = append(s.trace, call)
	if s.fail == nil {
		return nil
	}
	if err := s.fail(call); err != nil {
		return &fs.PathError{Op: kind, Path: path, Err: err}
	}
	return nil
}

// failOn breaks the nth call (from 1) that begins with prefix, and no other.
func (s *seam) failOn(prefix string, nth int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := 0
	s.fail = func(call string) error {
		if strings.HasPrefix(call, prefix) {
			if seen++; seen == nth {
				return err
			}
		}
		return nil
	}
}

var errKilled = errors.New("killed here")

// killAt lets n calls pass and none after them: as far as a disk can tell, the
// process was killed there.
func (s *seam) killAt(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = func(string) error {
		if n--; n < 0 {
			return errKilled
		}
		return nil
	}
}

func (s *seam) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.half = nil, false
}

func (s *seam) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trace, s.read, s.written = nil, map[string]int64{}, map[string]int64{}
}

// count returns how many calls began with prefix.
func (s *seam) count(prefix string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.trace {
		if strings.HasPrefix(c, prefix) {
			n++
		}
	}
	return n
}

func (s *seam) Open(name string, flag int, perm fs.FileMode) (File, error) {
	if err := s.call("open", name); err != nil {
		return nil, err
	}
	f, err := s.OS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &seamFile{f, s, name}, nil
}

func (s *seam) Mkdir(name string, perm fs.FileMode) error {
	if err := s.call("mkdir", name); err != nil {
		return err
	}
	return s.OS.Mkdir(name, perm)
}

func (s *seam) Lstat(name string) (fs.FileInfo, error) {
	if err := s.call("lstat", name); err != nil {
		return nil, err
	}
	return s.OS.Lstat(name)
}

func (s *seam) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := s.call("readdir", name); err != nil {
		return nil, err
	}
	return s.OS.ReadDir(name)
}

func (s *seam) Rename(from, to string) error {
	if err := s.call("rename", to); err != nil {
		return err
	}
	return s.OS.Rename(from, to)
}

func (s *seam) Link(from, to string) error {
	if err := s.call("link", to); err != nil {
		return err
	}
	return s.OS.Link(from, to)
}

func (s *seam) Remove(name string) error {
	if err := s.call("remove", name); err != nil {
		return err
	}
	return s.OS.Remove(name)
}

func (s *seam) RemoveAll(name string) error {
	if err := s.call("removeall", name); err != nil {
		return err
	}
	return s.OS.RemoveAll(name)
}

func (s *seam) SyncDir(name string) error {
	if err := s.call("syncdir", name); err != nil || s.volatil {
		return err
	}
	return s.OS.SyncDir(name)
}

type seamFile struct {
	File
	s    *seam
	name string
}

func (f *seamFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.s.call("read", f.name); err != nil {
		return 0, err
	}
	n, err := f.File.ReadAt(b, off)
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.s.read[filepath.Base(f.name)] += int64(n)
	return n, err
}

func (f *seamFile) WriteAt(b []byte, off int64) (int, error) {
	err := f.s.call("write", f.name)
	if err != nil && f.s.half {
		b = b[:len(b)/2]
	} else if err != nil {
		return 0, err
	}
	n, werr := f.File.WriteAt(b, off)
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.s.written[filepath.Base(f.name)] += int64(n)
	return n, errors.Join(err, werr)
}

func (f *seamFile) Stat() (fs.FileInfo, error) {
	if err := f.s.call("stat", f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *seamFile) Chmod(mode fs.FileMode) error {
	if err := f.s.call("chmod", f.name); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f *seamFile) Sync() error {
	if err := f.s.call("sync", f.name); err != nil || f.s.volatil {
		return err
	}
	return f.File.Sync()
}

func (f *seamFile) Truncate(size int64) error {
	if err := f.s.call("truncate", f.name); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *seamFile) Reserve(off, n int64) error {
	if err := f.s.call("reserve", f.name); err != nil {
		return err
	}
	return f.File.Reserve(off, n)
}

// The real file system never blocks on what is no file and follows no link.
func TestOpenRefusesAllButRegularFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	check(t, os.WriteFile(at("target"), []byte("x"), fileMode))
	check(t, os.Mkdir(at("dir"), dirMode))
	check(t, os.Symlink("target", at("link")))
	check(t, os.Symlink("nowhere", at("dangling")))
	check(t, syscall.Mkfifo(at("fifo"), 0o600))
	for _, name := range []string{"dir", "link", "dangling", "fifo"} {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE} {
			if f, err := (OS{}).Open(at(name), flag, fileMode); err == nil {
				f.Close()
				t.Errorf("%s was opened with %#x", name, flag)
			}
		}
	}
	if b := slurp(t, at("target")); string(b) != "x" {
		t.Errorf("target holds %q", b)
	}
	if _, err := os.Lstat(at("nowhere")); err == nil {
		t.Error("the target of a dangling link was made")
	}
}

func TestReplaceIsWholeOrNotAtAll(t *testing.T) {
	for _, at := range []string{"open", "write", "sync", "rename"} {
		dir := t.TempDir()
		name, temp := filepath.Join(dir, "f"), filepath.Join(dir, "f.tmp")
		check(t, os.WriteFile(name, []byte("old"), fileMode))
		check(t, os.WriteFile(temp, []byte("left by a kill"), fileMode))
		s := newSeam()
		s.half = true
		s.failOn(at, 1, syscall.ENOSPC)
		if err := replace(s, temp, name, []byte("new")); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s fails: error %v", at, err)
		}
		if b := slurp(t, name); string(b) != "old" {
			t.Errorf("%s fails: file holds %q", at, b)
		}
		if _, err := os.Lstat(temp); err == nil {
			t.Errorf("%s fails: temp file left", at)
		}
		s.heal()
		check(t, replace(s, temp, name, []byte("new")))
		if b := slurp(t, name); string(b) != "new" {
			t.Errorf("file holds %q", b)
		}
	}
}

// F156: a link planted in the place of the file or of the temp file is replaced,
// never written through.
func TestReplaceWritesThroughNoLink(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	name, temp := filepath.Join(dir, "f"), filepath.Join(dir, "f.tmp")
	check(t, os.WriteFile(victim, []byte("precious"), fileMode))
	check(t, os.Symlink(victim, name))
	check(t, os.Symlink(victim, temp))
	check(t, replace(OS{}, temp, name, []byte("new")))
	if b := slurp(t, victim); string(b) != "precious" {
		t.Errorf("victim holds %q", b)
	}
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link was not replaced: %v %v", info.Mode(), err)
	}
}
