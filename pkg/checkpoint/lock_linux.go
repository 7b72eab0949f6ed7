package checkpoint

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Open-file-description locks: they die with their owner, are inherited by
// children with the descriptor, and can be asked about without being taken,
// so that a polling reader never makes a writer fail.

// tryLock takes the exclusive lock of f; false means that somebody holds it.
func tryLock(f File) (bool, error) {
	lk := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lk)
	if errors.Is(err, unix.EINTR) { // file systems of a network or a process
		return tryLock(f)
	}
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

// locked asks whether somebody else holds the lock of f.
func locked(f File) (bool, error) {
	lk := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lk)
	if errors.Is(err, unix.EINTR) {
		return locked(f)
	}
	return lk.Type != unix.F_UNLCK, err
}
