package tool

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// The kernel's own file systems are no files of the user's: /proc holds the
// environment of this very process, keys and all, and some of their files never
// end a read.
var errKernel = errors.New("it is on a file system of the kernel (as /proc is), which file tools do not enter")

// entersKernelFS reports whether a step from one directory into another, seen
// as before and now, crosses into such a file system.
func entersKernelFS(dir *os.Root, before, now os.FileInfo) (bool, error) {
	a, ok1 := before.Sys().(*syscall.Stat_t)
	b, ok2 := now.Sys().(*syscall.Stat_t)
	if ok1 && ok2 && a.Dev == b.Dev {
		return false, nil
	}
	f, err := dir.Open(".")
	if err != nil {
		return false, err
	}
	defer f.Close()
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return false, err
	}
	return kernelMagic(int64(fs.Type)), nil
}

// isKernelFS reports whether a directory is on such a file system.
func isKernelFS(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && kernelMagic(int64(fs.Type))
}

func kernelMagic(t int64) bool {
	switch t {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC,
		unix.BPF_FS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC:
		return true
	}
	return false
}
