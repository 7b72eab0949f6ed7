package checkpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"kagent/pkg/session"
)

// Recovery tells what an open found besides a clean log.
type Recovery struct {
	Torn     *session.LogRepaired // a torn end that was set aside
	Crashed  bool                 // the last owner left its turn open
	Warnings []string
}

// Open takes a session and recovers it: opening is recovery, see doc.go. Checks
// see its state before anything is changed, and may refuse with an error that
// Open returns. Others: *NotFoundError, *InUseError, *DamagedError,
// *VersionError, *StorageError, *UserError, and *ForeignError for what Adopt can take.
func (s *Store) Open(id string, checks ...func(*session.State) error) (*Journal, Recovery, error) {
	if err := CheckID(id); err != nil {
		return nil, Recovery{}, &NotFoundError{ID: id}
	}
	loose, err := s.checkUser(id)
	if err != nil {
		return nil, Recovery{}, err
	}
	j, err := s.acquire(id)
	if err != nil {
		return nil, Recovery{}, err
	}
	rec, err := s.recover(j, id, checks)
	if err != nil {
		j.Close()
		return nil, Recovery{}, s.strange(id, err)
	}
	rec.Warnings = append(rec.Warnings, loose...)
	return j, rec, nil
}

func (s *Store) recover(j *Journal, id string, checks []func(*session.State) error) (Recovery, error) {
	var rec Recovery
	h, herr := readHead(s.fs, j.paths.checkpoint)
	if unread(herr) {
		return rec, storage("read "+j.paths.checkpoint, herr)
	}
	known := false
	sc, err := scanLines(newReader(j.log), h.Log, func(r record, _, end int64) {
		j.state.Apply(r.Event)
		if r.Seq == h.Log.Seq && herr == nil {
			known = j.image.shows(s.fs, j.paths.checkpoint, j.state, promise{r.Seq, end, crcText(r.crc)})
		}
	})
	if err != nil {
		return rec, readError(id, j.paths.log, err)
	}
	if !known { // another version wrote it, or it is bad
		if _, _, herr = readCheckpoint(s.fs, j.paths.checkpoint, checkpointLimit(sc.size)); unread(herr) {
			return rec, storage("read "+j.paths.checkpoint, herr)
		}
	}
	if err := found(id, j.paths, sc, j.state, herr); err != nil {
		return rec, err
	}
	if err := writable(id, j.state); err != nil {
		return rec, err
	}
	for _, check := range checks {
		if err := check(j.state); err != nil {
			return rec, err
		}
	}
	// Not before the log is known to hold what the checkpoint promises: once it
	// is set aside, nobody knows of the promise any more.
	if errors.Is(herr, errBadCheckpoint) {
		if err := j.setAside(&rec, herr); err != nil {
			return rec, err
		}
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
	for _, dir := range []string{j.paths.dir, s.dir} {
		if err := s.fs.SyncDir(dir); err != nil {
			return rec, storage("sync "+dir, err)
		}
	}
	j.artifacts.sweep()
	j.Inbox().heed()
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

// found reports why what was read is no session: nothing whole in it, or a
// tombstone. A checkpoint, readable or not, says that there was one.
func found(id string, p paths, sc scan, s *session.State, checkpoint error) error {
	switch {
	case s.Removed, sc.seq == 0 && errors.Is(checkpoint, fs.ErrNotExist):
		return &NotFoundError{ID: id}
	case sc.seq == 0:
		return &DamagedError{ID: id, Path: p.log, Offset: 0, Why: "it holds no event, but there is a checkpoint"}
	}
	return nil
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
	return newReaderAt(io.NewSectionReader(f, 0, math.MaxInt64))
}

func newReaderAt(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 64<<10) }

func hostname() string {
	h, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return h
}
