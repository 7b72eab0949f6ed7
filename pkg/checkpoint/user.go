package checkpoint

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// UserError says that another user may have written a session: part of it is
// theirs, or has a mode that lets anybody write. To go on with it would run the
// calls that wait in it, with the settings and the directory that they chose, as
// the one who resumes it. Reading, removing and forking are free.
type UserError struct {
	ID   string
	Path string
	UID  int
	Mode fs.FileMode // not 0: that is what is wrong, not the owner
	All  []string    // what there is of the session: its directory, its checkpoint
}

func (e *UserError) Error() string {
	if e.Mode != 0 {
		return fmt.Sprintf("session %s: %s has the mode %04o, so that any user may have written it: going on would run as you what they wrote",
			e.ID, e.Path, e.Mode)
	}
	return fmt.Sprintf("session %s: %s belongs to user %d, and you are user %d: going on would run as you what they wrote",
		e.ID, e.Path, e.UID, os.Geteuid())
}

// checkUser refuses a session of which something is neither ours nor root's, who
// can do everything anyway, nor of those whom the options trust, or may be
// written by anybody. A group may have been given it on purpose: that is a warning.
func (s *Store) checkUser(id string) (warnings []string, err error) {
	p := pathsOf(s.dir, id)
	for _, path := range s.heard(p) {
		info, err := s.fs.Lstat(path)
		if err != nil {
			continue // whoever opens it says why
		}
		if uid, ok := s.stranger(info); ok {
			return nil, &UserError{ID: id, Path: path, UID: uid, All: s.all(p)}
		}
		mode := info.Mode().Perm()
		switch {
		case info.Mode()&fs.ModeSymlink != 0 || mode&0o022 == 0:
		case mode&0o002 != 0 && !s.modeless(filepath.Dir(path)):
			return nil, &UserError{ID: id, Path: path, Mode: mode, All: s.all(p)}
		case mode&0o002 == 0 && len(warnings) == 0:
			warnings = append(warnings, fmt.Sprintf("%s has the mode %04o: its group may have written the session; `chmod -R g-w %s` keeps it out",
				path, mode, strings.Join(s.all(p), " ")))
		}
	}
	return warnings, nil
}

// heard are the files and directories whose content a session goes on with.
func (s *Store) heard(p paths) []string {
	inbox := filepath.Join(p.dir, "inbox")
	heard := []string{p.dir, p.log, p.checkpoint, filepath.Join(p.dir, artifactsDir), inbox}
	letters, _ := s.fs.ReadDir(inbox)
	for _, l := range letters {
		heard = append(heard, filepath.Join(inbox, l.Name()))
	}
	return heard
}

// all is what there is of a session.
func (s *Store) all(p paths) []string {
	return slices.DeleteFunc([]string{p.dir, p.checkpoint}, func(path string) bool {
		_, err := s.fs.Lstat(path)
		return err != nil
	})
}

// stranger returns the owner of a file if he is nobody whom we trust.
func (s *Store) stranger(info fs.FileInfo) (uid int, ok bool) {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	uid = int(st.Uid)
	return uid, uid != 0 && uid != os.Geteuid() && !slices.Contains(s.trusted, uid)
}

const modesTemp = "modes.tmp"

// modeless reports whether the file system of a directory shows every file as
// one that anybody may write, as mounts of other systems do: then it says nothing.
func (s *Store) modeless(dir string) bool {
	name := filepath.Join(dir, modesTemp)
	s.fs.Remove(name)
	f, err := s.fs.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	f.Close()
	s.fs.Remove(name)
	return err == nil && info.Mode().Perm()&0o002 != 0
}
