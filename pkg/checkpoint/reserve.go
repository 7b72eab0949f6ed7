package checkpoint

import (
	"errors"
	"syscall"
)

// Reserve sets room for n more bytes of the log aside, so that a full disk
// shows before an effect and not after it. The room is used by what is
// appended; Close gives back what is left. Where a file system can't do that,
// nothing is reserved, and that is no error.
func (j *Journal) Reserve(n int64) error {
	if err := j.fence(); err != nil {
		return err
	}
	if j.end+n <= j.room {
		return nil
	}
	err := j.log.Reserve(j.end, n)
	switch {
	case err == nil:
		j.room = j.end + n
	case refused(err):
		err = storage("reserve room in "+j.paths.log, err)
		// A part may have been granted: it is needed to say how the run ended.
		if terr := j.cutBack(); terr != nil {
			j.dead = err
		}
		return err
	}
	return nil
}

// full reports whether there was no room.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// refused reports whether a disk would refuse the write, too. All else says
// only that there is no way to ask.
func refused(err error) bool {
	return full(err) || errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS)
}

// release gives back what was reserved and not used, if the log is still ours,
// and reports whether it did.
func (j *Journal) release() bool {
	return j.room > j.end && j.fence() == nil && j.cutBack() == nil
}
