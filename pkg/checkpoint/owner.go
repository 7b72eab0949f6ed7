package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"kagent/pkg/session"
)

// Holder is who has a session, as the lock file says. It is for people: the
// lock itself is the kernel's.
type Holder struct {
	PID       int       `json:"pid"`
	Host      string    `json:"host"`
	BootID    string    `json:"bootId"`
	StartedAt time.Time `json:"startedAt,omitzero"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.StartedAt.Format(time.RFC3339))
}

// gone reports whether the process is known to be dead: it was one of this boot
// of this machine, and the system has none of its number.
func (h Holder) gone() bool {
	return h.PID > 0 && h.BootID != "" && h.BootID == bootID() && h.Host == hostname() &&
		errors.Is(unix.Kill(h.PID, 0), unix.ESRCH)
}

// ThisProcess describes the calling process for session/opened.
func ThisProcess(version string) session.Opened {
	return session.Opened{PID: os.Getpid(), Host: hostname(), BootID: bootID(), Version: version}
}

// bootID names this boot of the machine, "" where the system does not say.
func bootID() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(boot))
}

func writeHolder(f File, h Holder) error {
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(append(b, '\n'), 0)
	return err
}

// readHolder reads what the lock file says; anything unreadable is nobody.
func readHolder(f File) Holder {
	b := make([]byte, 4096)
	n, err := f.ReadAt(b, 0)
	var h Holder
	if err != nil && err != io.EOF || json.Unmarshal(b[:n], &h) != nil {
		return Holder{}
	}
	return h
}

// openedBy returns the other processes that hold a file open, where /proc
// tells; for people, who want to know what to wait for.
func openedBy(path string) []int {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	var pids []int
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || target != abs {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(link, "/")[2])
		if err == nil && pid != os.Getpid() && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
