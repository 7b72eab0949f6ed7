package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// undeliveredName is an empty file that is there while the answer of a session
// did not reach whoever had asked for it. It is no event: it says something of
// the reader and nothing of the session, and other versions need not know it.
const undeliveredName = "undelivered"

func (s *Store) undelivered(id string) string {
	return filepath.Join(pathsOf(s.dir, id).dir, undeliveredName)
}

// Undelivered writes down that the answer did not arrive.
func (s *Store) Undelivered(id string) error {
	name := s.undelivered(id)
	f, err := s.fs.Open(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return storage("create "+name, err)
	}
	defer f.Close()
	return storage("sync "+name, errors.Join(f.Sync(), s.fs.SyncDir(filepath.Dir(name))))
}

// Delivered takes that back.
func (s *Store) Delivered(id string) error {
	name := s.undelivered(id)
	if _, err := s.fs.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil // also where nothing can be removed: a disk that is only read
	}
	if err := s.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storage("remove "+name, err)
	}
	return nil
}

// TakeUndelivered reports whether the answer is still to be delivered, and
// nobody else is at it. It is the caller's until release; then it is undelivered
// still, if nobody has said Delivered.
func (s *Store) TakeUndelivered(id string) (release func(), ok bool) {
	name := s.undelivered(id)
	f, err := s.fs.Open(name, os.O_RDWR, 0)
	if err != nil {
		return nil, false
	}
	if got, err := tryLock(f); err == nil && got {
		if _, err := s.fs.Lstat(name); err == nil { // else it was delivered just now
			return func() { f.Close() }, true
		}
	}
	f.Close()
	return nil, false
}
