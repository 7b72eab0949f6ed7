//go:build soak

package soak

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// trouble chooses what happens to the next process. Two at once only where they
// say nothing new: else each would.
func (d *driver) trouble(resumes bool) string {
	if !d.disturbing() {
		return "none"
	}
	kinds := []string{"none", "kill -9", "kill -9", "kill -9", "TERM", "TERM", "INT", "HUP", "full file", "two resumers"}
	kind := kinds[d.random.IntN(len(kinds))]
	if kind == "two resumers" && !resumes {
		return "kill -9"
	}
	return kind
}

func (d *driver) disturb(p *process, kind string) {
	signals := map[string]syscall.Signal{"kill -9": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}
	sig, ok := signals[kind]
	if !ok {
		return
	}
	// Early ones find the opening of a session, late ones the work.
	wait := time.Duration(d.random.IntN(1500)) * time.Millisecond
	if d.random.IntN(3) == 0 {
		wait /= 20
	}
	time.AfterFunc(wait, func() { p.Process.Signal(sig) })
}

// disk is a small file system that only the sessions are on.
type disk struct {
	point, ballast string
}

const diskSize = "size=256m"

// newDisk mounts one, where this process may.
func newDisk(t *testing.T, point string) *disk {
	t.Helper()
	if err := syscall.Mount("soak", point, "tmpfs", 0, diskSize+",mode=0700"); err != nil {
		t.Logf("no disk is filled, only files: a file system can't be mounted here: %v", err)
		return &disk{}
	}
	if os.Getenv("SOAK_KEEP") == "" {
		t.Cleanup(func() { syscall.Unmount(point, syscall.MNT_DETACH) })
	}
	return &disk{point: point, ballast: filepath.Join(point, ".ballast")}
}

// fill leaves so many bytes, or more where the sessions are faster.
func (d *disk) fill(left int64) error {
	f, err := os.Create(d.ballast)
	if err != nil {
		return err
	}
	defer f.Close()
	for ; ; left += 16 << 10 {
		var st syscall.Statfs_t
		if err := syscall.Statfs(d.point, &st); err != nil {
			return err
		}
		err := syscall.Fallocate(int(f.Fd()), 0, 0, max(int64(st.Bavail)*st.Bsize-left, 1))
		if err != syscall.ENOSPC || left > 1<<20 {
			return err
		}
	}
}

func (d *disk) free() {
	if d.point != "" {
		os.Remove(d.ballast)
	}
}

// fillDisk fills the disk now and then, for a moment.
func (w *world) fillDisk() {
	random := w.dice(2)
	for w.disk.point != "" && w.pause(2*time.Second+time.Duration(random.IntN(5000))*time.Millisecond) {
		if err := w.disk.fill(random.Int64N(64 << 10)); err != nil {
			w.problem("filling the disk: %v", err)
		}
		w.count("full disk")
		w.pause(500 * time.Millisecond)
		w.disk.free()
	}
}
