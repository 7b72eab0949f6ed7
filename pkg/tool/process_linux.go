package tool

import "syscall"

// sysProcAttr puts a command into a session, and so a group, of its own. It
// dies with us even when we are killed; its children are found by the
// descriptors that they inherit.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
