package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"kagent/pkg/session"
)

// A session that is made of what another holds (by a repair, a fork, an
// import) is there whole or not at all.

// build has the steps write a log beside its place, and puts it there when it
// is durable: cut anywhere, there is no session yet, and never the beginning of
// one whose calls seem not to have begun. The journal is none after an error.
func (s *Store) build(j *Journal, steps ...func() error) error {
	place, empty := j.paths.log, j.log
	defer empty.Close()
	err := j.elsewhere()
	for _, step := range append(steps, j.sync) {
		if err == nil {
			err = step()
		}
	}
	if err == nil {
		err = storage("rename "+j.paths.log, s.fs.Rename(j.paths.log, place))
	}
	if err != nil {
		s.giveUp(j)
		return err
	}
	j.paths.log = place
	for _, dir := range []string{j.paths.dir, s.dir} {
		if err := s.fs.SyncDir(dir); err != nil {
			return storage("sync "+dir, err)
		}
	}
	return j.Commit()
}

// giveUp removes what was begun. What is left is no session all the same.
func (s *Store) giveUp(j *Journal) {
	if j.made {
		_ = s.fs.RemoveAll(j.paths.dir)
		return
	}
	_ = s.fs.Remove(j.paths.built()) // or whoever builds there next
}

// built is where a log is written that is not whole yet.
func (p paths) built() string { return filepath.Join(p.dir, "events.tmp") }

// elsewhere makes the journal write to a file of its own.
func (j *Journal) elsewhere() error {
	name := j.paths.built()
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

// put adds an event as it was, with the next number. It is written with
// others.
func (j *Journal) put(e session.Event) error {
	e.Seq, e.Epoch = j.state.Seq+1, max(e.Epoch, j.state.Epoch, 1)
	crc, err := appendLine(&j.buf, record{Event: e, prev: j.crc, dur: j.dur})
	if err != nil {
		return storage("encode "+string(e.Type), err)
	}
	j.crc = crc
	j.state.Apply(e)
	if j.buf.Len() > 1<<20 {
		return j.spill()
	}
	return nil
}

// spill writes what put has gathered.
func (j *Journal) spill() error {
	err := j.write(j.buf.Bytes())
	j.buf.Reset()
	return err
}

// rename makes an event of the session from one of the session id.
func rename(e session.Event, id, from string) {
	switch d := e.Data.(type) {
	case *session.Created:
		d.ID = id
	case *session.LogRepaired:
		if path.Base(d.File) == d.File {
			d.File = path.Join("..", from, d.File)
		}
	}
}

// fresh takes a session that is none yet: as, or, if that is empty, the first of
// the names that is free.
func (s *Store) fresh(as string, name func(n int) string) (*Journal, *session.LogRepaired, error) {
	if as != "" {
		return s.claim(as)
	}
	for n := 0; ; n++ {
		id := name(n)
		if s.taken(id) {
			continue
		}
		j, torn, err := s.claim(id)
		var inUse *InUseError
		var badID *IDError
		var damaged *DamagedError
		var theirs *UserError
		if errors.Is(err, ErrExists) || errors.As(err, &theirs) || errors.As(err, &inUse) || errors.As(err, &badID) || errors.As(err, &damaged) {
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

// claim takes a session that is none yet.
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
