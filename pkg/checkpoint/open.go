package checkpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"kagent/pkg/session"
)

// Recovery tells what an open found besides a clean log.
type Recovery struct {
	Torn     *session.LogRepaired // a torn end that was set aside
	Crashed  bool                 // the last owner left its turn open
	Warnings []string
}

// Open takes a session and recovers it: opening is recovery, see doc.go.
// Errors: *NotFoundError, *InUseError, *DamagedError, *VersionError,
// *StorageError.
func (s *Store) Open(id string) (*Journal, Recovery, error) {
	if err := CheckID(id); err != nil {
		return nil, Recovery{}, &NotFoundError{ID: id}
	}
	j, err := s.take(id, false)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		if _, lerr := s.fs.Lstat(pathsOf(s.dir, id).checkpoint); lerr == nil {
			err = s.orphan(pathsOf(s.dir, id), id)
		}
	}
	if err != nil {
		return nil, Recovery{}, err
	}
	rec, err := s.recover(j, id)
	if err != nil {
		j.Close()
		return nil, Recovery{}, err
	}
	return j, rec, nil
}

func (s *Store) recover(j *Journal, id string) (Recovery, error) {
	var rec Recovery
	promised, err := j.promised(&rec)
	if err != nil {
		return rec, err
	}
	sc, err := scanLog(newReader(j.log), promised, j.state.Apply)
	if err != nil {
		return rec, readError(id, j.paths.log, err)
	}
	if sc.seq == 0 || j.state.Removed {
		return rec, &NotFoundError{ID: id}
	}
	if err := writable(id, j.state); err != nil {
		return rec, err
	}
	j.end, j.crc, j.dur, j.epoch = sc.end, sc.crc, sc.seq, j.state.Epoch+1
	if sc.size > sc.end {
		if rec.Torn, err = j.cutTorn(sc); err != nil {
			return rec, err
		}
	}
	// The last owner may have died before its own sync.
	if err := j.log.Sync(); err != nil {
		return rec, storage("sync "+j.paths.log, err)
	}
	if err := s.fs.SyncDir(j.paths.dir); err != nil {
		return rec, storage("sync "+j.paths.dir, err)
	}
	return rec, s.announce(j, &rec)
}

// announce writes that this process took the session and closes what the last
// one left open, all in one sync.
func (s *Store) announce(j *Journal, rec *Recovery) error {
	o := s.owner
	o.Attempt = j.state.Attempts + 1
	data := []session.Data{&o}
	if rec.Torn != nil {
		data = append(data, rec.Torn)
	}
	if t := j.state.Main().Turn; t.Open {
		rec.Crashed = true
		data = append(data, &session.TurnEnd{Turn: t.N, Status: session.Interrupted, Reason: session.ReasonCrash})
	}
	if err := j.Append("", data...); err != nil {
		return err
	}
	return j.Sync()
}

// promised reads what the checkpoint says of the log. A checkpoint that can't
// be read is kept aside and made anew from the log, with a warning: it is a
// projection, the log is the session.
func (j *Journal) promised(rec *Recovery) (promise, error) {
	h, err := readWhole(j.fs, j.paths.checkpoint)
	switch {
	case err == nil:
		return h.Log, nil
	case errors.Is(err, fs.ErrNotExist):
		return promise{}, nil
	case errors.Is(err, errBadCheckpoint):
		aside := filepath.Join(j.paths.dir, "checkpoint.damaged")
		if err := j.fs.Rename(j.paths.checkpoint, aside); err != nil {
			return promise{}, storage("set aside "+j.paths.checkpoint, err)
		}
		rec.Warnings = append(rec.Warnings, fmt.Sprintf("the checkpoint was damaged (%v); kept as %s and made anew from the log", err, aside))
		return h.Log, nil
	}
	return promise{}, storage("read "+j.paths.checkpoint, err)
}

// cutTorn sets the torn end aside, durably, before it cuts it off.
func (j *Journal) cutTorn(sc scan) (*session.LogRepaired, error) {
	r := &session.LogRepaired{Offset: sc.end, Bytes: sc.size - sc.end}
	for n := 0; ; n++ {
		r.File = fmt.Sprintf("torn-%d", sc.end)
		if n > 0 {
			r.File += fmt.Sprintf("-%d", n)
		}
		if _, err := j.fs.Lstat(filepath.Join(j.paths.dir, r.File)); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return nil, storage("stat "+r.File, err)
		}
	}
	b := make([]byte, r.Bytes)
	if _, err := j.log.ReadAt(b, sc.end); err != nil && err != io.EOF {
		return nil, storage("read "+j.paths.log, err)
	}
	name := filepath.Join(j.paths.dir, r.File)
	if err := replace(j.fs, name+".tmp", name, b); err != nil {
		return nil, storage("write "+name, err)
	}
	if err := j.log.Truncate(sc.end); err != nil {
		return nil, storage("truncate "+j.paths.log, err)
	}
	return r, nil
}

// writable reports whether this version may go on with a log.
func writable(id string, s *session.State) error {
	if s.Schema != session.Schema {
		return &VersionError{id, s.Version, fmt.Sprintf("its log has the format %q", s.Schema)}
	}
	if len(s.UnknownOf) > 0 {
		return &VersionError{id, s.Version, fmt.Sprintf("its log holds events of the unknown kind %q", s.UnknownOf[0])}
	}
	return nil
}

func readError(id, path string, err error) error {
	var d *damage
	if errors.As(err, &d) {
		return &DamagedError{ID: id, Path: path, Offset: d.offset, Why: d.why}
	}
	return storage("read "+path, err)
}

func newReader(f File) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(f, 0, math.MaxInt64), 64<<10)
}

func hostname() string {
	h, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return h
}
