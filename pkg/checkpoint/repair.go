package checkpoint

import (
	"errors"
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
	if errors.Is(err, ErrBeyondRepair) {
		return s.repairForeign(id, as, err)
	}
	if err != nil {
		return Repair{}, err
	}
	defer v.close()
	j, torn, err := s.fresh(as, func(n int) string { return derived(id, "-repaired", n+1) })
	if err != nil {
		return Repair{}, err
	}
	defer j.Close()
	return s.rebuild(j, v, torn)
}

// repairForeign makes a session of what is whole of a file of another program.
func (s *Store) repairForeign(id, as string, beyond error) (Repair, error) {
	p := pathsOf(s.dir, id)
	begun, err := s.begun(p.log)
	b, rerr := readUpTo(s.fs, p.checkpoint, maxForeign+1)
	if begun || err != nil || rerr != nil || ownText(b) {
		return Repair{}, beyond
	}
	t, lost, err := salvageTS(b)
	if err != nil {
		return Repair{}, beyond
	}
	j, torn, err := s.fresh(as, func(n int) string { return derived(id, "-repaired", n+1) })
	if err != nil {
		return Repair{}, err
	}
	defer j.Close()
	i, err := s.write(j, t, torn, ImportOptions{}, s.keepCopy(j, b))
	if err != nil {
		return Repair{}, err
	}
	return Repair{SessionID: i.State.ID, From: id, Lost: lost, InDoubt: []Doubt{}}, nil
}

// rebuild makes the new session.
func (s *Store) rebuild(j *Journal, v *salvage, torn *session.LogRepaired) (Repair, error) {
	r := &replay{j: j, from: v.id, saved: v.saved, replies: map[string]answered{}}
	r.out = Repair{SessionID: filepath.Base(j.paths.dir), From: v.id, Lost: append([]session.Lost{}, v.lost...), InDoubt: []Doubt{}}
	err := s.build(j,
		func() error { return r.copy(v) },
		func() error { return r.keep(newArtifacts(s.fs, pathsOf(s.dir, v.id).dir)) },
		func() error { return r.finish(s.owner, v.tail, torn) },
	)
	if err != nil {
		return Repair{}, err
	}
	return r.out, nil
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
