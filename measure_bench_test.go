//go:build bench

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// memoryDir is a directory that costs no disk, where there is one.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "kagent")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// used is what a command took.
type used struct {
	mib float64 // at its peak
	cpu time.Duration
}

// measure runs commands of the built binary and passes over what they print.
// A small program starts them: a process counts what its parent held.
func measure(t *testing.T, dir string) func(args ...string) used {
	return measured(t, dir, "kagent", ".")
}

// measured is measure for another program of the repository.
func measured(t *testing.T, dir, name, pkg string) func(args ...string) used {
	program, peak := build(t, dir, name, pkg), build(t, dir, "peak", "./testdata/peak")
	return func(args ...string) used {
		t.Helper()
		c := exec.Command(peak, append([]string{program}, args...)...)
		var out, said bytes.Buffer
		c.Stdout, c.Stderr = &out, &said
		if err := c.Run(); err != nil {
			t.Fatalf("%v: %v %s", args, err, said.Bytes())
		}
		var kib, ns int64
		if _, err := fmt.Sscan(out.String(), &kib, &ns); err != nil {
			t.Fatal(err)
		}
		return used{float64(kib) / 1024, time.Duration(ns)}
	}
}

// worked is the time that f takes of this process.
func worked(f func()) time.Duration {
	var before, after syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	f()
	syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	return time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
}
