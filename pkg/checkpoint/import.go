package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// ImportOptions say how a foreign file becomes a session.
type ImportOptions struct {
	As string // the id; "": that of the file, or one derived from it
	// Settings completes what the file knows of them, own if it is a checkpoint
	// of kagent; nil leaves them.
	Settings func(known session.Settings, own bool) (session.Settings, error)
	Clean    func(string) string // what texts pass through; nil: message.Clean
	Damaged  bool                // of a file that is cut off, take what is whole
}

// Import is a session that was made of a foreign file.
type Import struct {
	Format string         // the program that wrote it
	Origin string         // the id in it
	State  *session.State // of the new session
	Lost   []session.Lost // where the file was cut off
}

// NoImportError says that a file is none that can be imported, or need not be.
type NoImportError struct{ Path, Why string }

func (e *NoImportError) Error() string { return e.Path + ": " + e.Why }

// Import makes a session of a file: one of kagent-ts, or a checkpoint of kagent
// that has lost its log. The file stays as it is, and its content is kept as
// imported.json; a file of kagent-ts in the place of a session's checkpoint
// becomes that session. Errors: *NoImportError, *DamagedError, and those of
// Create.
func (s *Store) Import(file string, o ImportOptions) (Import, error) {
	b, err := readFile(s.fs, file)
	switch {
	case failing(err):
		return Import{}, storage("read "+file, err)
	case err != nil:
		return Import{}, &NoImportError{file, err.Error()}
	}
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	t, err := understand(b)
	var lost []session.Lost
	cut := err != nil && o.Damaged
	if cut {
		t, lost, err = salvageTS(b)
	}
	switch {
	case errors.Is(err, errNoSession), errors.Is(err, errTooLarge):
		return Import{}, &NoImportError{file, err.Error()}
	case err != nil:
		return Import{}, &DamagedError{ID: name, Path: file, Offset: -1, Why: err.Error(), Elsewhere: !s.inPlace(file, name)}
	}
	if !cut && s.inPlace(file, name) {
		if _, own := t.(*ownFile); own {
			if begun, err := s.begun(pathsOf(s.dir, name).log); begun || err != nil {
				return Import{}, &NoImportError{file, fmt.Sprintf("session %s has its log, which is more than its checkpoint", name)}
			}
		} else if o.As == "" || o.As == name {
			return s.Adopt(name, o)
		}
	}
	i, err := s.importAs(t, b, name, o)
	i.Lost = lost
	return i, err
}

// readFile reads a file that the user named, a link to one too.
func readFile(fsys FS, name string) ([]byte, error) {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	b, err := readUpTo(fsys, name, maxForeign+1)
	if errors.Is(err, errBadCheckpoint) {
		return nil, errNotRegular
	}
	return b, bare(err)
}

// failing reports whether a read met an error of the disk or of the system, not
// of whoever named the file.
func failing(err error) bool {
	return slices.ContainsFunc([]error{
		syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EINTR, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS,
	}, func(e error) bool { return errors.Is(err, e) })
}

// inPlace reports whether a file is what stands for the checkpoint of id.
func (s *Store) inPlace(file, id string) bool {
	if CheckID(id) != nil {
		return false
	}
	a, err := os.Stat(file)
	if err != nil {
		return false
	}
	b, err := s.fs.Lstat(s.Path(id))
	return err == nil && os.SameFile(a, b)
}

// importAs makes a new session of what was read.
func (s *Store) importAs(t teller, b []byte, name string, o ImportOptions) (Import, error) {
	base := t.origin()
	for _, other := range []string{name, "imported"} {
		if CheckID(base) != nil {
			base = other
		}
	}
	j, torn, err := s.fresh(o.As, func(n int) string {
		if n == 0 {
			return base
		}
		return derived(base, "-imported", n)
	})
	if err != nil {
		return Import{}, err
	}
	defer j.Close()
	return s.write(j, t, torn, o, s.keepCopy(j, b))
}

// keepCopy keeps what was imported beside the session.
func (s *Store) keepCopy(j *Journal, b []byte) func() error {
	name := filepath.Join(j.paths.dir, importedName)
	return func() error {
		return storage("write "+name, replace(s.fs, filepath.Join(j.paths.dir, importedTemp), name, b))
	}
}

const (
	importedName = "imported.json"
	importedTemp = "imported.tmp"
)

// write makes the log of what a file tells, and keeps the file.
func (s *Store) write(j *Journal, t teller, torn *session.LogRepaired, o ImportOptions, keep func() error) (Import, error) {
	id := filepath.Base(j.paths.dir)
	settings := t.settings()
	if o.Settings != nil {
		_, own := t.(*ownFile)
		var err error
		if settings, err = o.Settings(settings, own); err != nil {
			s.giveUp(j)
			return Import{}, err
		}
	}
	a := &author{clean: o.Clean}
	if a.clean == nil {
		a.clean = message.Clean
	}
	a.at(t.created())
	if a.now.IsZero() {
		a.at(s.now())
	}
	a.create(id, s.owner.Version, t.task(), settings)
	t.tell(a)
	if torn != nil {
		a.say("", torn)
	}
	err := s.build(j, keep, func() error {
		for _, e := range a.events {
			if err := j.put(e); err != nil {
				return err
			}
		}
		return j.spill()
	})
	if err != nil {
		return Import{}, err
	}
	return Import{Format: t.format(), Origin: t.origin(), State: j.state}, nil
}

// Adopt makes a session of the file of kagent-ts that stands in its place. The
// file is kept as imported.json before anything takes its name. Errors:
// ErrExists if it is one already, *NotFoundError, *DamagedError, *InUseError,
// *StorageError.
func (s *Store) Adopt(id string, o ImportOptions) (Import, error) {
	if _, err := s.foreignAt(id); err != nil {
		return Import{}, err
	}
	j, err := s.take(id, true)
	if err != nil {
		return Import{}, err
	}
	defer j.Close()
	begun, err := begins(j.log)
	switch {
	case err != nil:
		return Import{}, storage("read "+j.paths.log, err)
	case begun:
		return Import{}, ErrExists
	}
	t, err := s.foreignAt(id) // nobody else is at it now
	if err != nil {
		s.giveUp(j)
		return Import{}, err
	}
	return s.write(j, t, nil, o, func() error { return s.keepOriginal(j) })
}

// foreignAt reads the foreign file of a session.
func (s *Store) foreignAt(id string) (teller, error) {
	p := pathsOf(s.dir, id)
	if CheckID(id) != nil {
		return nil, &NotFoundError{ID: id}
	}
	if _, err := s.fs.Lstat(p.checkpoint); errors.Is(err, fs.ErrNotExist) {
		return nil, &NotFoundError{ID: id}
	} else if err != nil {
		return nil, storage("stat "+p.checkpoint, err)
	}
	begun, err := s.begun(p.log)
	switch {
	case err != nil:
		return nil, (&Journal{}).unusable(id, p.log, err)
	case begun:
		return nil, ErrExists
	}
	err = s.strange(id, s.orphan(p, id))
	var f *ForeignError
	if errors.As(err, &f) {
		return f.told, nil
	}
	return nil, err
}

// keepOriginal gives the file a second name in the session's directory, which
// it keeps when the checkpoint takes the first one. Where there are no links it
// is copied.
func (s *Store) keepOriginal(j *Journal) error {
	to := filepath.Join(j.paths.dir, importedName)
	if kept, err := s.alreadyKept(j, to); kept || err != nil {
		return err
	}
	if s.fs.Link(j.paths.checkpoint, to) == nil {
		private(s.fs, to)
		return storage("sync "+j.paths.dir, s.fs.SyncDir(j.paths.dir))
	}
	b, err := readUpTo(s.fs, j.paths.checkpoint, maxForeign+1)
	if err != nil {
		return storage("read "+j.paths.checkpoint, err)
	}
	return s.keepCopy(j, b)()
}

// private takes a file from others, if it can: the other program let them read
// it, and nobody should in a session.
func private(fsys FS, name string) {
	if f, err := fsys.Open(name, os.O_RDONLY, 0); err == nil {
		_ = f.Chmod(fileMode)
		f.Close()
	}
}

// alreadyKept looks at what an import that was cut has left. What is another
// file is put aside.
func (s *Store) alreadyKept(j *Journal, name string) (bool, error) {
	there, err := s.fs.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, storage("stat "+name, err)
	}
	file, err := s.fs.Lstat(j.paths.checkpoint)
	if err != nil {
		return false, storage("stat "+j.paths.checkpoint, err)
	}
	if os.SameFile(there, file) {
		private(s.fs, name)
		return true, storage("sync "+j.paths.dir, s.fs.SyncDir(j.paths.dir))
	}
	aside, err := j.unused(importedName)
	if err != nil {
		return false, err
	}
	return false, storage("rename "+name, s.fs.Rename(name, filepath.Join(j.paths.dir, aside)))
}
