package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"kagent/pkg/session"
)

// take locks a session and opens its files. With create it makes them.
func (s *Store) take(id string, create bool) (*Journal, error) {
	j := &Journal{fs: s.fs, now: s.now, paths: pathsOf(s.dir, id), state: &session.State{}, report: s.report}
	j.artifacts = newArtifacts(s.fs, j.paths.dir)
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
		err := s.fs.Mkdir(j.paths.dir, dirMode)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, storage("make "+j.paths.dir+elsewhere, err)
		}
		j.made = err == nil
	}
	info, err := s.fs.Lstat(j.paths.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &NotFoundError{ID: id}
	case err != nil:
		return nil, storage("stat "+j.paths.dir, err)
	case !info.IsDir():
		return nil, &DamagedError{ID: id, Path: j.paths.dir, Offset: -1, Why: "it is not a directory"}
	}
	if _, err := s.fs.Lstat(j.paths.log); !create && errors.Is(err, fs.ErrNotExist) {
		return nil, &NotFoundError{ID: id} // and no lock files are left in what is no session
	}
	if err := j.openFiles(id, flag); err != nil {
		j.Close()
		return nil, err
	}
	h := Holder{PID: os.Getpid(), Host: hostname(), BootID: s.owner.BootID, StartedAt: j.now().UTC()}
	if err := writeHolder(j.lock, h); err != nil {
		j.Close()
		return nil, storage("write "+j.paths.lock, err)
	}
	return j, nil
}

// acquire takes a session that is there.
func (s *Store) acquire(id string) (*Journal, error) {
	j, err := s.take(id, false)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		p := pathsOf(s.dir, id)
		if _, lerr := s.fs.Lstat(p.checkpoint); lerr == nil {
			err = s.strange(id, s.orphan(p, id))
		}
	}
	return j, err
}

func (j *Journal) openFiles(id string, logFlag int) error {
	lock, err := j.fs.Open(j.paths.lock, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return j.unusable(id, j.paths.lock, err)
	}
	j.lock = lock
	if err := j.seize(id, lock, false); err != nil {
		return err
	}
	if j.tools, err = j.fs.Open(j.paths.tools, os.O_RDWR|os.O_CREATE, fileMode); err != nil {
		return j.unusable(id, j.paths.tools, err)
	}
	if err := j.seize(id, j.tools, true); err != nil {
		return err
	}
	fd, err := unix.FcntlInt(j.tools.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return storage("duplicate "+j.paths.tools, err)
	}
	j.handed = os.NewFile(uintptr(fd), j.paths.tools)
	if j.log, err = j.fs.Open(j.paths.log, logFlag, fileMode); err != nil {
		return j.unusable(id, j.paths.log, err)
	}
	return nil
}

// dyingTime is how long what a dead run has left behind has to be gone: its
// tools, which the system is killing, and a child that it had just made and
// that shares its descriptors until it becomes the tool.
const dyingTime = 2 * time.Second

// seize takes a lock and makes sure that the file is still the one of that
// name: a removal may have renamed it away in between.
func (j *Journal) seize(id string, f File, tools bool) error {
	path := j.paths.lock
	if tools {
		path = j.paths.tools
	}
	ok, err := tryLock(f)
	for waited := time.Duration(0); !ok && err == nil && waited < dyingTime && (tools || readHolder(j.lock).gone()); waited += dyingTime / 100 {
		time.Sleep(dyingTime / 100)
		ok, err = tryLock(f)
	}
	if err != nil {
		return storage("lock "+path, err)
	}
	if !ok {
		e := &InUseError{ID: id, Holder: readHolder(j.lock), Tools: tools}
		if tools {
			e.PIDs = openedBy(j.paths.tools)
		}
		return e
	}
	mine, err := f.Stat()
	if err != nil {
		return storage("stat "+path, err)
	}
	there, err := j.fs.Lstat(path)
	if err != nil || !os.SameFile(mine, there) {
		return &NotFoundError{ID: id}
	}
	return nil
}

// unusable sorts what an open can fail with: nothing there, something foreign
// in its place, or a disk that fails.
func (j *Journal) unusable(id, path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &NotFoundError{ID: id}
	case errors.Is(err, errNotRegular), errors.Is(err, unix.ELOOP), errors.Is(err, unix.EISDIR), errors.Is(err, unix.ENXIO):
		return &DamagedError{ID: id, Path: path, Offset: -1, Why: "it is not a regular file"}
	}
	return storage("open "+path, err)
}
