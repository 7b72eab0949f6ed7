package checkpoint

import (
	"fmt"
	"os"
	"slices"
	"syscall"
)

// UserError says that a session belongs to another user. To go on with it
// would run the calls that wait in it, with the settings and the directory that
// they chose, as the one who resumes it. Reading, removing and forking are free.
type UserError struct {
	ID   string
	Path string
	UID  int
}

func (e *UserError) Error() string {
	return fmt.Sprintf("session %s: %s belongs to user %d, and you are user %d: going on would run as you what they wrote",
		e.ID, e.Path, e.UID, os.Geteuid())
}

// checkUser refuses a session whose directory or log is neither ours nor root's,
// who can do everything anyway, nor of those whom the options trust.
func (s *Store) checkUser(id string) error {
	p := pathsOf(s.dir, id)
	for _, path := range []string{p.dir, p.log} {
		info, err := s.fs.Lstat(path)
		if err != nil {
			continue // whoever opens it says why
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			continue
		}
		if uid := int(st.Uid); uid != 0 && uid != os.Geteuid() && !slices.Contains(s.trusted, uid) {
			return &UserError{id, path, uid}
		}
	}
	return nil
}
