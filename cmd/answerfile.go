package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// --answer-file and --record: files that hold what they held or what is new, at
// no time less.

// checkFiles refuses paths that nothing could be written to, before anything is
// paid for.
func (d *displayFlags) checkFiles() error {
	if err := checkFile("answer-file", d.answerFile); err != nil {
		return err
	}
	return checkFile("record", d.record)
}

func checkFile(flag, path string) error {
	if path == "" {
		return nil
	}
	return checkTarget("--"+flag, path)
}

// checkTarget refuses a path that can't be replaced by a file.
func checkTarget(what, path string) error {
	if err := checkName(what, path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return usageErrorf("name a file", "%s %s is a directory", what, path)
	case err == nil && !info.Mode().IsRegular():
		err = unix.Access(path, unix.W_OK)
	case err == nil || errors.Is(err, fs.ErrNotExist):
		err = unix.Access(filepath.Dir(target(path)), unix.W_OK)
	}
	if err != nil {
		return usageErrorf("name a file in a directory that can be written to", "%s %s: %v", what, path, cause(err))
	}
	return nil
}

// target follows a link, so that not the link is replaced but what it names.
func target(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// replaceFile puts a text into the file, durably and in one step. What holds it
// already is left alone; what is no regular file is written to, and a named pipe
// is waited for until the context ends.
func replaceFile(ctx context.Context, path string, text []byte, mode fs.FileMode) error {
	path = target(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode()&fs.ModeNamedPipe != 0:
		return writePipe(ctx, path, text)
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, text, 0)
	case err == nil:
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
			return nil
		}
	}
	temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	err = writeDurably(temp, text, info, mode)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil // it can be written to and not read: the name is the system's to keep
	}
	defer dir.Close()
	return dir.Sync()
}

// writeDurably makes a file, for those who may use the one that it replaces.
func writeDurably(path string, text []byte, old fs.FileInfo, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
