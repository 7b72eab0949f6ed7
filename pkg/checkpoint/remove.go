package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"kagent/pkg/session"
)

// Remove deletes a session: a tombstone in its log, then its checkpoint, then
// its directory. Cut anywhere, it is either whole or hidden from all readers,
// and removing it again ends the work. A damaged session takes no tombstone
// and is removed only with force.
func (s *Store) Remove(id string, force bool) error {
	p := pathsOf(s.dir, id)
	j, err := s.take(id, false)
	if err == nil {
		defer j.Close()
		err = s.bury(j, id)
	}
	var inUse *InUseError
	switch {
	case errors.As(err, &inUse):
		return err
	case err != nil && !force && !errors.Is(err, errBuried):
		return err
	}
	if err := s.fs.Remove(p.checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storage("remove "+p.checkpoint, err)
	}
	if err := s.fs.SyncDir(s.dir); err != nil {
		return storage("sync "+s.dir, err)
	}
	return s.discard(p.dir, id)
}

// discard renames the directory away, so that it is gone in one step.
func (s *Store) discard(dir, id string) error {
	for n := 0; ; n++ {
		away := filepath.Join(s.dir, fmt.Sprintf(".removed-%s-%d", id, n))
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
		if err := s.fs.SyncDir(s.dir); err != nil {
			return storage("sync "+s.dir, err)
		}
		return storage("remove "+away, s.fs.RemoveAll(away))
	}
}

var errBuried = errors.New("already has a tombstone")

// bury appends the tombstone.
func (s *Store) bury(j *Journal, id string) error {
	h, err := readHead(s.fs, j.paths.checkpoint)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errBadCheckpoint) {
		return storage("read "+j.paths.checkpoint, err)
	}
	sc, err := scanLog(newReader(j.log), h.Log, j.state.Apply)
	if err != nil {
		return readError(id, j.paths.log, err)
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
