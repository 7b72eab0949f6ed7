package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"kagent/pkg/session"
)

// Readers take no lock, ask for it without disturbing the writer, read the
// checkpoint before the log, and never repair.

// View is a session as a reader finds it.
type View struct {
	State *session.State
	Owner *Holder // the live process that has it, nil when none has
	Torn  int64   // bytes after the last good line: a line being written, or a torn end
	Saved bool    // the checkpoint shows the whole log, which is durable then
	at    promise
}

// Status is the session's status, given that its owner lives or not.
func (v View) Status() (session.Status, session.Reason) {
	status, reason := v.State.Status()
	return effective(status, reason, v.Owner != nil)
}

// effective knows what a log can't: an active session without a live owner
// has crashed.
func effective(status session.Status, reason session.Reason, alive bool) (session.Status, session.Reason) {
	if status == session.Active && !alive {
		return session.Interrupted, session.ReasonCrash
	}
	return status, reason
}

// Read folds the log of a session. Errors: *NotFoundError, *DamagedError,
// *StorageError.
func (s *Store) Read(id string) (View, error) {
	l, err := s.openLog(id)
	if a := s.foreign(err); a != nil {
		return View{State: &a.state, at: promise{Seq: a.state.Seq}}, nil
	}
	if err != nil {
		return View{}, err
	}
	defer l.file.Close()
	v := View{State: &session.State{}, Owner: s.holder(l.paths)}
	sc, err := scanLog(newReader(l.file), l.promised, v.State.Apply)
	if err != nil {
		return View{}, readError(id, l.paths.log, err)
	}
	if err := found(id, l.paths, sc, v.State, l.unread); err != nil {
		return View{}, err
	}
	v.Torn = sc.size - sc.end
	v.at = promise{Seq: sc.seq, Offset: sc.end, CRC: crcText(sc.crc)}
	v.Saved = l.unread == nil && l.promised == v.at
	return v, nil
}

// logFile is a log opened for reading, and what its checkpoint promises.
type logFile struct {
	paths    paths
	file     File
	promised promise
	unread   error // why the checkpoint could not be read
}

func (s *Store) openLog(id string) (logFile, error) {
	if CheckID(id) != nil {
		return logFile{}, &NotFoundError{ID: id}
	}
	p := pathsOf(s.dir, id)
	h, herr := readHead(s.fs, p.checkpoint)
	if unread(herr) {
		return logFile{}, storage("read "+p.checkpoint, herr)
	}
	if info, err := s.fs.Lstat(p.dir); err == nil && !info.IsDir() {
		return logFile{}, &DamagedError{ID: id, Path: p.dir, Offset: -1, Why: "it is not a directory"}
	}
	f, err := s.fs.Open(p.log, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist) && errors.Is(herr, fs.ErrNotExist):
		return logFile{}, &NotFoundError{ID: id}
	case errors.Is(err, fs.ErrNotExist):
		if _, err := s.fs.Lstat(p.checkpoint); errors.Is(err, fs.ErrNotExist) {
			return logFile{}, &NotFoundError{ID: id} // it was removed meanwhile
		}
		return logFile{}, s.strange(id, s.orphan(p, id))
	case err != nil:
		return logFile{}, (&Journal{}).unusable(id, p.log, err)
	case errors.Is(herr, errBadCheckpoint):
		if err := s.strange(id, s.orphan(p, id)); as[*ForeignError](err) { // its import was cut
			f.Close()
			return logFile{}, err
		}
	}
	return logFile{p, f, h.Log, herr}, nil
}

// holder asks who has the session.
func (s *Store) holder(p paths) *Holder {
	f, err := s.fs.Open(p.lock, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if held, err := locked(f); err != nil || !held {
		return nil
	}
	h := readHolder(f)
	return &h
}

// Image returns the checkpoint's object for what a reader found.
func (v View) Image() ([]byte, error) {
	var im image
	return im.encode(v.State, v.at, v.Owner != nil)
}

// ids returns the ids of all sessions, sorted.
func (s *Store) ids() ([]string, error) {
	entries, err := s.fs.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storage("read "+s.dir, err)
	}
	var ids []string
	for _, e := range entries {
		name, isFile := strings.CutSuffix(e.Name(), ".json")
		if CheckID(name) == nil && (isFile || e.IsDir()) {
			ids = append(ids, name)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// Resolve returns the id that a whole id or a prefix means. Errors:
// *NotFoundError, *AmbiguousError, *StorageError.
func (s *Store) Resolve(prefix string) (string, error) {
	ids, err := s.ids()
	if err != nil {
		return "", err
	}
	if slices.Contains(ids, prefix) {
		return prefix, nil
	}
	var found []string
	for _, id := range ids {
		if prefix != "" && strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", &NotFoundError{ID: prefix, Near: near(prefix, ids)}
	case 1:
		return found[0], nil
	}
	return "", &AmbiguousError{Prefix: prefix, IDs: found}
}
