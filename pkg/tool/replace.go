package tool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// tempName is the name under which a file is prepared. It is the same each
// time, so that a killed write leaves one file and not a heap of them, and
// short, so that every legal name has one.
func tempName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return ".kagent-" + hex.EncodeToString(sum[:8]) + ".tmp"
}

// replaceFile makes name in dir a file with the content that write gives, all
// or nothing, durable when it returns nil. old is the file to be replaced, nil
// for a new one; its mode and, as far as the system lets us, its owner are
// kept. After an error no temporary file of ours is left.
func replaceFile(dir *os.Root, name string, old os.FileInfo, write func(io.Writer) error) error {
	tmp := tempName(name)
	if err := dir.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = fill(f, old, write)
	ours, statErr := f.Stat()
	if err = cmp.Or(err, reason(statErr), reason(f.Close())); err == nil {
		err = publish(dir, ours, tmp, name)
	}
	if err != nil {
		if !errors.Is(err, errNotOurs) {
			dir.Remove(tmp)
		}
		return err
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("the file was written but may be lost in a power cut: %w", reason(err))
	}
	return nil
}

func fill(f *os.File, old os.FileInfo, write func(io.Writer) error) error {
	if err := write(f); err != nil {
		return reason(err)
	}
	if old != nil {
		if owner, ok := old.Sys().(*syscall.Stat_t); ok {
			// Only root may give files away; others keep their own anyway.
			_ = f.Chown(int(owner.Uid), int(owner.Gid))
		}
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return reason(err)
		}
	}
	return reason(f.Sync())
}

var errNotOurs = errors.New("another process is writing the same file")

// publish renames the file ours, if it is still the one that we made: another
// kagent may be writing the same file.
func publish(dir *os.Root, ours os.FileInfo, tmp, name string) error {
	if now, err := dir.Lstat(tmp); err != nil || !os.SameFile(ours, now) {
		return errNotOurs
	}
	return reason(dir.Rename(tmp, name))
}

// syncDir makes what happened to the names in a directory durable.
func syncDir(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return reason(f.Sync())
}
