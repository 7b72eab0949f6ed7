package checkpoint

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// FS is everything that this package does to a disk, so that tests can count
// it and break it. Names are paths; errors are those of package os.
type FS interface {
	// Open opens a regular file. It follows no link at the end of name, never
	// blocks, and refuses anything that is no regular file.
	Open(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Rename(from, to string) error
	// Link gives the file from a second name. It makes no link of a link.
	Link(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	SyncDir(name string) error
}

// File is an open regular file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	Sync() error
	Truncate(size int64) error
	// Reserve sets room for n bytes from off on aside and leaves the size as it
	// is. The error is one of errors.ErrUnsupported where there is no such thing.
	Reserve(off, n int64) error
	Fd() uintptr
}

// osFile is a File of the real file system.
type osFile struct{ *os.File }

// OS is the real file system.
type OS struct{}

var errNotRegular = errors.New("not a regular file")

// Open opens a regular file without following a link.
func (OS) Open(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	case flag&os.O_CREATE != 0 && info.Size() == 0 && masked(info, perm):
		err = f.Chmod(perm)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return osFile{f}, nil
}

// Mkdir makes one directory.
func (OS) Mkdir(name string, perm fs.FileMode) error {
	if err := os.Mkdir(name, perm); err != nil {
		return err
	}
	info, err := os.Lstat(name)
	if err == nil && masked(info, perm) {
		err = os.Chmod(name, perm)
	}
	return err
}

// mkdirTemp makes a directory that its owner can use, whatever the umask.
func mkdirTemp(dir, pattern string) (string, error) {
	name, err := os.MkdirTemp(dir, pattern)
	if err == nil {
		err = os.Chmod(name, dirMode)
	}
	return name, err
}

// masked reports whether a umask took from what was just made what its owner
// needs to open it again.
func masked(info fs.FileInfo, perm fs.FileMode) bool { return perm&^info.Mode().Perm() != 0 }

// Lstat describes name itself, not what a link points to.
func (OS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// ReadDir lists a directory, sorted by name.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Rename replaces to by from in one step.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Link gives a file a second name.
func (OS) Link(from, to string) error { return os.Link(from, to) }

// Remove unlinks a file or an empty directory.
func (OS) Remove(name string) error { return os.Remove(name) }

// RemoveAll removes a tree.
func (OS) RemoveAll(name string) error { return os.RemoveAll(name) }

// SyncDir makes the names in a directory durable.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

const (
	fileMode fs.FileMode = 0o600
	dirMode  fs.FileMode = 0o700
)

// replace writes data to name so that name is whole at every instant: a temp
// file of a fixed name (so that kills leave one at most), synced, renamed over
// name, the directory synced. A failure leaves name as it was and no temp file.
func replace(fsys FS, temp, name string, data []byte) error {
	return replaceFrom(fsys, temp, name, bytes.NewReader(data)) // in one write
}

// replaceFrom is replace for what need not fit into memory.
func replaceFrom(fsys FS, temp, name string, r io.Reader) error {
	if err := fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := fsys.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.NewOffsetWriter(f, 0), r)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(temp, name)
	}
	if err != nil {
		fsys.Remove(temp)
		return err
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// makeDirs makes dir and its parents, each made durable in its parent.
func makeDirs(fsys FS, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDirs(fsys, parent); err != nil {
			return err
		}
	}
	err := fsys.Mkdir(dir, dirMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fsys.SyncDir(parent)
}
