//go:build !linux

package checkpoint

import "errors"

// Reserve is known on Linux only.
func (osFile) Reserve(off, n int64) error { return errors.ErrUnsupported }
