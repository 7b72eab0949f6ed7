package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// --answer-file: a file that holds an old answer or a new one, at no time less.

// checkAnswerFile refuses a path that nothing could be written to, before
// anything is paid for.
func checkAnswerFile(path string) error {
	if path == "" {
		return nil
	}
	return checkTarget("--answer-file", path)
}

// checkTarget refuses a path that can't be replaced by a file.
func checkTarget(what, path string) error {
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

// writeAnswer puts an answer into the file, durably and in one step. What holds
// it already is left alone; what is no regular file is written to.
func writeAnswer(path, answer string) error {
	path = target(path)
	text := []byte(ended(answer))
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, text, 0)
	case err == nil:
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
			return nil
		}
	}
	temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	err = writeDurably(temp, text, info)
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
func writeDurably(path string, text []byte, old fs.FileInfo) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
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
