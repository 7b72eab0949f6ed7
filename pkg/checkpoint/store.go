package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kagent/pkg/session"
)

// Store is a directory of sessions.
type Store struct {
	fs    FS
	dir   string
	now   func() time.Time
	owner session.Opened

	trusted []int
	report  func(session.Event)
}

// Options of a Store; zero values are useful.
type Options struct {
	FS    FS               // default OS
	Now   func() time.Time // default time.Now
	Owner session.Opened   // who opens sessions, see ThisProcess
	// Trusted are the ids of users, beside ours and root, whose sessions may be
	// gone on with.
	Trusted []int
	// Report is called with each event of a session that this store opened,
	// once it is durable and, after Commit, once the checkpoint shows it.
	Report func(session.Event)
}

// NewStore returns the sessions in dir, which need not exist yet.
func NewStore(dir string, o Options) *Store {
	s := &Store{fs: o.FS, dir: dir, now: o.Now, owner: o.Owner, trusted: o.Trusted, report: o.Report}
	if s.fs == nil {
		s.fs = OS{}
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Dir is where the sessions are.
func (s *Store) Dir() string { return s.dir }

// Path is the checkpoint file of a session.
func (s *Store) Path(id string) string { return pathsOf(s.dir, id).checkpoint }

// Create makes a session whose log begins with c and session/opened, both
// durable, and takes it. Errors: *IDError, ErrExists, *InUseError,
// *DamagedError, *UserError, *StorageError.
func (s *Store) Create(id string, c session.Created) (*Journal, error) {
	if err := s.checkNew(id); err != nil {
		return nil, err
	}
	j, err := s.take(id, true)
	if err != nil {
		return nil, err
	}
	err = s.begin(j, id, c)
	if err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

func (s *Store) begin(j *Journal, id string, c session.Created) error {
	torn, err := s.vacate(j, id)
	if err != nil {
		return err
	}
	c.Schema, c.ID = session.Schema, id
	o := s.owner
	o.Attempt, j.epoch = 1, 1
	data := []session.Data{&c, &o}
	if torn != nil {
		data = append(data, torn)
	}
	if err := j.Append("", data...); err != nil {
		return err
	}
	if err := j.sync(); err != nil {
		return err
	}
	for _, dir := range []string{j.paths.dir, s.dir} {
		if err := s.fs.SyncDir(dir); err != nil {
			return storage("sync "+dir, err)
		}
	}
	j.flush()
	return nil
}

// vacate makes sure that no session stands where j is to begin. A log without
// a good first line is none, unless a checkpoint or a later line says that it
// was durable once; what there is of it is set aside.
func (s *Store) vacate(j *Journal, id string) (*session.LogRepaired, error) {
	begun, err := begins(j.log)
	switch {
	case err != nil:
		return nil, storage("read "+j.paths.log, err)
	case begun:
		return nil, ErrExists
	}
	var promised promise
	if _, err := s.fs.Lstat(j.paths.checkpoint); err == nil {
		promised.Seq = 1
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, storage("stat "+j.paths.checkpoint, err)
	}
	sc, err := scanLog(newReader(j.log), promised, func(session.Event) {})
	switch {
	case err != nil:
		return nil, readError(id, j.paths.log, err)
	case sc.size == 0:
		return nil, nil
	}
	return j.cutTorn(sc)
}

const elsewhere = " (--dir names another place)"

// orphan says that a checkpoint stands without its log.
func (s *Store) orphan(p paths, id string) error {
	return &DamagedError{ID: id, Path: p.checkpoint, Offset: -1, Why: "its log " + p.log + " is missing", Orphan: true}
}

// checkNew makes the directory and refuses ids that would collide where names
// differ in case only.
func (s *Store) checkNew(id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	switch _, err := s.foreignAt(id); {
	case err == nil:
		return ErrExists
	case as[*StorageError](err), as[*DamagedError](err): // the latter: a checkpoint that has lost its log: nothing is put beside it
		return err
	}
	if _, err := s.checkUser(id); err != nil { // what another has laid out there
		return err
	}
	if err := makeDirs(s.fs, s.dir); err != nil {
		return storage("make "+s.dir+elsewhere, err)
	}
	if err := s.furnish(); err != nil {
		return storage("write .gitignore in "+s.dir, err)
	}
	ids, err := s.ids()
	if err != nil {
		return err
	}
	for _, other := range ids {
		if other != id && strings.EqualFold(other, id) {
			return &IDError{id, "it differs only in case from " + other}
		}
	}
	return nil
}

// furnish makes a directory that holds nothing yet durable in its parent, and
// keeps git away from it: whoever made it may have died in between. The file is
// written in place, because several processes may do this at once; one that a
// kill or a power cut left short is written again.
func (s *Store) furnish() error {
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return err
	}
	const text = "*\n"
	name := filepath.Join(s.dir, ".gitignore")
	for _, e := range entries {
		if e.Name() == ".gitkeep" { // what keeps an empty directory in git
			continue
		}
		info, err := s.fs.Lstat(name)
		if err != nil || e.Name() != ".gitignore" || !info.Mode().IsRegular() || info.Size() > int64(len(text)) {
			return nil
		}
	}
	if err := s.fs.SyncDir(filepath.Dir(s.dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	f, err := s.fs.Open(name, os.O_WRONLY|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(text), 0)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return s.fs.SyncDir(s.dir)
}

// begins reports whether a log has a good first line. An error says only that
// it could not be read.
func begins(f File) (bool, error) {
	line, _, err := readLine(newReader(f))
	if err != nil && err != io.EOF {
		return false, err
	}
	_, err = decodeLine(line)
	return err == nil, nil
}
