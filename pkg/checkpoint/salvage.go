package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"kagent/pkg/session"
)

// ErrBeyondRepair says that too much was lost to make a session of the rest.
var ErrBeyondRepair = errors.New("it can't be repaired")

// salvage is what there is of a damaged session.
type salvage struct {
	id     string
	path   string // of the log
	log    File   // nil if it is missing
	events []find
	lost   []session.Lost
	tail   bool   // events may be missing at the end
	saved  *saved // nil if the checkpoint can't be read
}

// salvage reads all that is sound. Errors: *NotFoundError, *DamagedError with
// ErrBeyondRepair, *VersionError, *StorageError.
func (s *Store) salvage(id string, p paths) (*salvage, error) {
	if info, err := s.fs.Lstat(p.dir); err == nil && !info.IsDir() {
		return nil, beyond(&DamagedError{ID: id, Path: p.dir, Offset: -1, Why: "it is not a directory"})
	}
	v := &salvage{id: id, path: p.log}
	f, err := s.fs.Open(p.log, os.O_RDONLY, 0)
	switch {
	case err == nil:
		v.log = f
	case !errors.Is(err, fs.ErrNotExist):
		return nil, beyond((&Journal{}).unusable(id, p.log, err))
	}
	if err := v.read(s.fs, p); err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

func (v *salvage) read(fsys FS, p paths) error {
	var seen survey
	var err error
	if v.log != nil {
		if seen, err = v.look(p.log); err != nil {
			return err
		}
	}
	promised, known, err := v.load(fsys, p.checkpoint, checkpointLimit(seen.size))
	if err != nil {
		return err
	}
	if len(seen.finds) == 0 && !known {
		return &NotFoundError{ID: v.id}
	}
	v.events = seen.order()
	v.lost, v.tail = seen.losses(v.events, promised.Seq)
	switch {
	case v.saved != nil:
		return nil
	case known && !v.tail:
		v.tail = true
		next := session.Lost{First: 1, Offset: seen.size, Why: "a checkpoint that can't be read may have known of more"}
		if n := len(v.events); n > 0 {
			next.First = v.events[n-1].seq + 1
		}
		v.lost = append(v.lost, next)
	}
	if len(v.events) > 0 {
		rec, err := v.event(v.events[0])
		if err != nil {
			return storage("read "+p.log, err)
		}
		if rec.Type == (*session.Created)(nil).Type() {
			return nil
		}
	}
	return beyond(&DamagedError{ID: v.id, Path: p.log, Offset: 0, Why: "the event that created it is lost, and there is no checkpoint that tells its task and settings"})
}

func (v *salvage) close() {
	if v.log != nil {
		v.log.Close()
	}
}

// beyond marks damage that leaves nothing to repair.
func beyond(err error) error {
	var d *DamagedError
	if errors.As(err, &d) {
		return fmt.Errorf("%w, and %w", err, ErrBeyondRepair)
	}
	return err
}

// look surveys the log. It refuses what a newer version wrote, and knows a
// tombstone.
func (v *salvage) look(path string) (survey, error) {
	var version string
	var refused error
	seen, err := look(newReader(v.log), func(rec record) error {
		switch d := rec.Data.(type) {
		case *session.Created:
			if version = d.Version; d.Schema != session.Schema {
				refused = &VersionError{v.id, version, fmt.Sprintf("its log has the format %q", d.Schema)}
			}
		case *session.Opened:
			version = d.Version
		case *session.Removed:
			refused = &NotFoundError{ID: v.id}
		case session.Unknown:
			refused = &VersionError{v.id, version, fmt.Sprintf("its log holds events of the unknown kind %q", d.Kind)}
		}
		return refused
	})
	if refused != nil {
		return seen, refused
	}
	return seen, storage("read "+path, err)
}

// event reads one of the events again.
func (v *salvage) event(f find) (record, error) {
	text := make([]byte, f.size)
	if _, err := v.log.ReadAt(text, f.at); err != nil && err != io.EOF {
		return record{}, err
	}
	rec, err := decodeText(text)
	if err == nil && rec.crc != f.crc {
		err = errFenced
	}
	return rec, err
}
