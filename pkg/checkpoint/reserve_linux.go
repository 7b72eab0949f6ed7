package checkpoint

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Reserve sets room aside; the blocks stand behind the end of the file until
// they are written or cut off.
func (f osFile) Reserve(off, n int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, off, n)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
