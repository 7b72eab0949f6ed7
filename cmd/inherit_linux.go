package cmd

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeInherited keeps descriptors that whoever started kagent left open from
// reaching its tools. Kernels before 5.11 can't: nothing is done there.
func closeInherited() {
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}
