package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"kagent/pkg/session"
)

// Repair is what became of a damaged session.
type Repair struct {
	SessionID string         `json:"sessionId"` // the new one
	From      string         `json:"from"`      // the old one, untouched
	Lost      []session.Lost `json:"lost"`
	InDoubt   []Doubt        `json:"inDoubt"`
}

// Doubt is a call of the new session that nobody knows the outcome of. Told
// means that the model was asked again after it, and so is told that the
// outcome is unknown; the others are decided on when the session goes on.
type Doubt struct {
	Call session.CallID `json:"call"`
	Tool string         `json:"tool"`
	Told bool           `json:"told"`
}

// Repair makes a new session from what is sound of the session id, which stays
// as it is, byte for byte. The new one is named as, or, if that is empty, after
// the old one. It is there whole or not at all. Errors: *NotFoundError,
// *IDError, ErrExists, *InUseError, *VersionError, *StorageError, and
// *DamagedError with ErrBeyondRepair.
func (s *Store) Repair(id, as string) (Repair, error) {
	if CheckID(id) != nil {
		return Repair{}, &NotFoundError{ID: id}
	}
	if id == as {
		return Repair{}, ErrExists
	}
	p := pathsOf(s.dir, id)
	release, err := s.hold(id, p)
	if err != nil {
		return Repair{}, err
	}
	defer release()
	v, err := s.salvage(id, p)
	if err != nil {
		return Repair{}, err
	}
	defer v.close()
	j, torn, err := s.fresh(id, as)
	if err != nil {
		return Repair{}, err
	}
	defer j.Close()
	out, err := s.rebuild(j, v, torn)
	if err != nil {
		_ = s.fs.Remove(j.paths.rebuilt()) // or the next repair does
	}
	return out, err
}

// fresh takes a session that is none yet.
func (s *Store) fresh(id, as string) (*Journal, *session.LogRepaired, error) {
	if as != "" {
		return s.claim(as)
	}
	for n := 1; ; n++ {
		name := derived(id, "-repaired", n)
		if s.taken(name) {
			continue
		}
		j, torn, err := s.claim(name)
		var inUse *InUseError
		var badID *IDError
		var damaged *DamagedError
		if errors.Is(err, ErrExists) || errors.As(err, &inUse) || errors.As(err, &badID) || errors.As(err, &damaged) {
			continue
		}
		return j, torn, err
	}
}

// derived is id with a suffix, numbered from the second on, and shortened so
// that it is an id itself.
func derived(id, suffix string, n int) string {
	if n > 1 {
		suffix = fmt.Sprintf("%s-%d", suffix, n)
	}
	return id[:min(len(id), 128-len(suffix))] + suffix
}

// taken reports whether something stands in the place of a session.
func (s *Store) taken(id string) bool {
	p := pathsOf(s.dir, id)
	if _, err := s.fs.Lstat(p.checkpoint); err == nil {
		return true
	}
	info, err := s.fs.Lstat(p.log)
	return err == nil && info.Size() > 0
}

func (s *Store) claim(id string) (*Journal, *session.LogRepaired, error) {
	if err := s.checkNew(id); err != nil {
		return nil, nil, err
	}
	j, err := s.take(id, true)
	if err != nil {
		return nil, nil, err
	}
	torn, err := s.vacate(j, id)
	if err != nil {
		j.Close()
		return nil, nil, err
	}
	return j, torn, nil
}

func (p paths) rebuilt() string { return filepath.Join(p.dir, "repair.tmp") }

// rebuild writes the new log beside its place, and puts it there when it is
// durable: cut anywhere, there is no session yet, and never the beginning of
// one whose calls seem not to have begun.
func (s *Store) rebuild(j *Journal, v *salvage, torn *session.LogRepaired) (Repair, error) {
	place, empty := j.paths.log, j.log
	defer empty.Close()
	if err := j.elsewhere(); err != nil {
		return Repair{}, err
	}
	r := &replay{j: j, from: v.id, saved: v.saved, replies: map[string]answered{}}
	r.out = Repair{SessionID: filepath.Base(j.paths.dir), From: v.id, Lost: append([]session.Lost{}, v.lost...), InDoubt: []Doubt{}}
	for _, step := range []func() error{
		func() error { return r.copy(v) },
		func() error { return r.keep(newArtifacts(s.fs, pathsOf(s.dir, v.id).dir)) },
		func() error { return r.finish(s.owner, v.tail, torn) },
	} {
		if err := step(); err != nil {
			return Repair{}, err
		}
	}
	if err := s.fs.Rename(j.paths.log, place); err != nil {
		return Repair{}, storage("rename "+j.paths.log, err)
	}
	j.paths.log = place
	for _, dir := range []string{j.paths.dir, s.dir} {
		if err := s.fs.SyncDir(dir); err != nil {
			return Repair{}, storage("sync "+dir, err)
		}
	}
	return r.out, j.Commit()
}

// elsewhere makes the journal write to a file of its own.
func (j *Journal) elsewhere() error {
	name := j.paths.rebuilt()
	if err := j.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storage("remove "+name, err)
	}
	f, err := j.fs.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return storage("make "+name, err)
	}
	j.log, j.paths.log = f, name
	return nil
}

// hold keeps others out of a session without changing a byte of it: what there
// is of its lock files is locked, and nothing is made or written.
func (s *Store) hold(id string, p paths) (release func(), err error) {
	var files []File
	release = func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, path := range []string{p.lock, p.tools} {
		f, err := s.fs.Open(path, os.O_RDWR, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotRegular), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
			continue // nobody can hold it
		case err != nil:
			release()
			return nil, storage("open "+path, err)
		}
		files = append(files, f)
		ok, err := tryLock(f)
		if err == nil && ok {
			continue
		}
		defer release()
		if err != nil {
			return nil, storage("lock "+path, err)
		}
		return nil, &InUseError{ID: id, Holder: readHolder(files[0]), Tools: path == p.tools}
	}
	return release, nil
}
