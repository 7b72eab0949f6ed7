package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"kagent/pkg/session"
)

// Remove deletes a session: a tombstone in its log, then its checkpoint, then
// its directory. Cut anywhere, it is either whole or hidden from all readers,
// and removing it again ends the work. A damaged session takes no tombstone
// and is removed only with force.
func (s *Store) Remove(id string, force bool) error {
	if CheckID(id) != nil {
		return &NotFoundError{ID: id}
	}
	p := pathsOf(s.dir, id)
	j, err := s.acquire(id)
	if err == nil {
		defer j.Close()
		err = s.bury(j, id)
	}
	var inUse *InUseError
	var missing *NotFoundError
	switch {
	case err == nil, errors.Is(err, errBuried), as[*ForeignError](err):
	case errors.As(err, &missing):
		// Perhaps a removal was cut between the new name and the end.
		if found, serr := s.sweep(id); found || serr != nil {
			return serr
		}
		return err
	case !force, errors.As(err, &inUse):
		return err
	}
	if err := s.fs.Remove(p.checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storage("remove "+p.checkpoint, err)
	}
	if err := s.fs.SyncDir(s.dir); err != nil {
		return storage("sync "+s.dir, err)
	}
	if err := s.discard(p.dir, id); err != nil {
		return err
	}
	_, err = s.sweep(id)
	return err
}

// discard renames the directory away, so that it is gone in one step; sweep
// deletes it.
func (s *Store) discard(dir, id string) error {
	for n := 0; ; n++ {
		away := filepath.Join(s.dir, fmt.Sprintf("%s%s-%d", removedPrefix, id, n))
		if _, err := s.fs.Lstat(away); err == nil {
			continue
		}
		err := s.fs.Rename(dir, away)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return storage("rename "+dir, err)
		}
		return storage("sync "+s.dir, s.fs.SyncDir(s.dir))
	}
}

// sweep deletes what was renamed away, by this removal or by one that was cut.
// It reports whether something of the session id was among it.
func (s *Store) sweep(id string) (bool, error) {
	entries, err := s.fs.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, storage("read "+s.dir, err)
	}
	found := false
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), removedPrefix)
		i := strings.LastIndexByte(name, '-')
		if !ok || i < 0 || CheckID(name[:i]) != nil {
			continue
		}
		found = found || name[:i] == id
		away := filepath.Join(s.dir, e.Name())
		if err := s.fs.RemoveAll(away); err != nil {
			return found, storage("remove "+away, err)
		}
	}
	return found, nil
}

// A directory that was renamed away is named .removed-ID-NUMBER.
const removedPrefix = ".removed-"

var errBuried = errors.New("already has a tombstone")

// bury appends the tombstone.
func (s *Store) bury(j *Journal, id string) error {
	h, err := readHead(s.fs, j.paths.checkpoint)
	if unread(err) {
		return storage("read "+j.paths.checkpoint, err)
	}
	sc, err := scanLog(newReader(j.log), h.Log, j.state.Apply)
	if err != nil {
		return readError(id, j.paths.log, err)
	}
	if _, err := s.fs.Lstat(j.paths.checkpoint); err == nil && sc.seq == 0 {
		return s.strange(id, s.orphan(j.paths, id))
	}
	if j.state.Removed || sc.seq == 0 {
		return errBuried
	}
	if sc.size > sc.end {
		if err := j.log.Truncate(sc.end); err != nil {
			return storage("truncate "+j.paths.log, err)
		}
	}
	j.end, j.crc, j.dur, j.epoch = sc.end, sc.crc, sc.seq, j.state.Epoch+1
	if err := j.Append("", &session.Removed{}); err != nil {
		return err
	}
	return j.Sync()
}
