//go:build unix && !linux

package tool

import "syscall"

// sysProcAttr puts a command into a session, and so a group, of its own. There
// is no death signal here: a command can outlive a killed kagent.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}
