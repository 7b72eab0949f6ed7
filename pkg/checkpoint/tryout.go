package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kagent/pkg/session"
)

// The kinds of file system that keep a session for less long than a disk.
const (
	Memory  = "tmpfs"   // until the machine stops
	Overlay = "overlay" // in a container: as long as that is there
)

// FileSystem names the file system that dir is on, or would be, "" where that
// is not known.
func FileSystem(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	name, _ := fileSystem(present(abs))
	return name
}

// Room is what a file system has left for us; Files is -1 where they are not
// counted.
type Room struct{ Bytes, Files int64 }

// RoomIn tells what room there is where dir is, or would be; false where the
// system doesn't say.
func RoomIn(dir string) (Room, bool) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Room{}, false
	}
	return room(present(abs))
}

// TryOut does in dir what sessions ask of a disk: it makes a session in a
// directory of its own beside the others, or where they would be, sees that it
// can't be taken twice, that what was written is there, and removes it. It
// returns the time by which the file system's clock is ahead of now.
func TryOut(dir string, now func() time.Time) (ahead time.Duration, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	temp, err := mkdirTemp(present(abs), ".kagent-try-")
	if err != nil {
		return 0, fmt.Errorf("make a directory in %s: %w", present(abs), bare(err))
	}
	defer os.RemoveAll(temp)
	store := NewStore(temp, Options{Now: now})
	const id = "try"
	j, err := store.Create(id, session.Created{Task: "try"})
	if err != nil {
		return 0, err
	}
	defer j.Close()
	var held *InUseError
	if _, _, err := store.Open(id); !errors.As(err, &held) {
		return 0, errors.New("locks do not hold: a session could be run twice at once")
	}
	if err := j.Commit(); err != nil {
		return 0, err
	}
	if r, err := store.Verify(id); err != nil || !r.OK {
		return 0, errors.Join(fmt.Errorf("what was written is not there: %v", r.Problems), err)
	}
	info, err := os.Stat(store.Path(id))
	if err != nil {
		return 0, err
	}
	return info.ModTime().Sub(now()), nil
}
