// Peak runs a command, passes over its output, and prints the peak of its
// memory in KiB and the nanoseconds that it worked. The kernel counts what a
// parent held at the fork too, so that a parent must be small.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	c := exec.Command(os.Args[1], os.Args[2:]...)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	u := c.ProcessState.SysUsage().(*syscall.Rusage)
	fmt.Println(u.Maxrss, u.Utime.Nano()+u.Stime.Nano())
}
