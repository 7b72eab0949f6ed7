package cmd

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// An export that was killed leaves a file beside the one that it was to make. It
// is locked while somebody writes it, so that the next export of the same file
// knows which are nobody's any more.

const unfinishedMark = ".unfinished-"

// unfinished makes a file for what is to become path, and locks it.
func unfinished(path string) (*os.File, error) {
	for tries := 0; ; tries++ {
		f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+unfinishedMark+"*")
		if err != nil {
			return nil, err
		}
		_ = lockAlone(f) // where there are no locks, no one takes it for a dead one's either
		if keepsName(f, f.Name()) || tries > 2 {
			return f, nil
		}
		f.Close() // it was swept before it had a lock
	}
}

// sweepUnfinished removes what killed exports to path have left. It is in
// nobody's way: a failure is none.
func sweepUnfinished(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+unfinishedMark)
		if !ok || strings.Trim(rest, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		name := filepath.Join(filepath.Dir(path), e.Name())
		f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if lockAlone(f) == nil && keepsName(f, name) {
			os.Remove(name)
		}
		f.Close()
	}
}

func lockAlone(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// keepsName reports whether a file still has its name.
func keepsName(f *os.File, name string) bool {
	mine, err := f.Stat()
	there, lerr := os.Lstat(name)
	return err == nil && lerr == nil && os.SameFile(mine, there)
}
