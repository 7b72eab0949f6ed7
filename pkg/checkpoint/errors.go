package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// ErrExists says that a session of that id is there already.
var ErrExists = errors.New("session exists")

// NotFoundError says that no session has that id or prefix; Near are similar
// ones.
type NotFoundError struct {
	ID   string
	Near []string
}

func (e *NotFoundError) Error() string {
	if e.ID == "" {
		return "there are no sessions"
	}
	return fmt.Sprintf("no such session: %q", e.ID)
}

// AmbiguousError says that several sessions begin with Prefix.
type AmbiguousError struct {
	Prefix string
	IDs    []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is ambiguous: %d sessions begin with it", e.Prefix, len(e.IDs))
}

// IDError says that an id can't be used for a session.
type IDError struct{ ID, Why string }

func (e *IDError) Error() string { return fmt.Sprintf("bad session id %q: %s", e.ID, e.Why) }

// InUseError says that another process holds the session. Tools means that
// the process itself is gone but a tool that it had started still runs.
type InUseError struct {
	ID     string
	Holder Holder
	Tools  bool
	PIDs   []int // of the tools, where the system tells
}

func (e *InUseError) Error() string {
	if e.Tools {
		which := ""
		if len(e.PIDs) > 0 {
			which = fmt.Sprintf(", process %s,", strings.Trim(fmt.Sprint(e.PIDs), "[]"))
		}
		return fmt.Sprintf("session %s: a tool%s that an earlier run had started still runs; wait for it or end it", e.ID, which)
	}
	return fmt.Sprintf("session %s is in use by %s", e.ID, e.Holder)
}

// DamagedError says that something which had been promised is not there any
// more. Nothing was changed.
type DamagedError struct {
	ID     string
	Path   string
	Offset int64 // in Path, -1 if it has none
	Why    string

	Orphan    bool // it is a checkpoint that has lost its log
	Elsewhere bool // it is a file that was to be imported, and no session yet
}

func (e *DamagedError) Error() string {
	at := ""
	if e.Offset >= 0 {
		at = fmt.Sprintf(" at byte %d", e.Offset)
	}
	return fmt.Sprintf("session %s is damaged: %s%s: %s; nothing was changed", e.ID, e.Path, at, e.Why)
}

// VersionError says that a newer version wrote the log: going on could repeat
// effects that this version does not know of.
type VersionError struct{ ID, Version, Why string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("session %s was written by kagent %s: %s; use that version", e.ID, e.Version, e.Why)
}

// StorageError says that the disk failed. After a failed write the log is as
// it was before; after a failed sync nothing more is written to it.
type StorageError struct {
	Op  string
	Err error
}

func (e *StorageError) Error() string {
	return "storage: " + e.Op + ": " + bare(e.Err).Error()
}

func (e *StorageError) Unwrap() error { return e.Err }

func storage(op string, err error) error {
	if err == nil {
		return nil
	}
	return &StorageError{Op: op, Err: err}
}

// as reports whether an error is of a kind.
func as[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// bare is err without the operation and the names that the system put around
// it: who tells of it has named them.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

var errFenced = errors.New("the log was changed or replaced by another process")
