//go:build !linux

package checkpoint

import (
	"errors"

	"golang.org/x/sys/unix"
)

// tryLock takes the exclusive lock of f; false means that somebody holds it.
func tryLock(f File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EINTR) { // file systems of a network or a process
		return tryLock(f)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// locked asks whether somebody else holds the lock of f. Without
// open-file-description locks it can only ask by taking it for a moment.
func locked(f File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EINTR) {
		return locked(f)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_UN)
	}
	return false, err
}
