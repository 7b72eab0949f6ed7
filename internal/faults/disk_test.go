//go:build faults

package faults

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// diskError is the call that the lab made fail, or the disk that it filled.
type diskError struct {
	errno      string // as the lab names it, "" if it did nothing of the kind
	kind, path string // of the first call that failed; "" on a full disk
	stays      bool   // all later calls failed as well
	full       bool   // there was really no room
	limited    bool   // files were limited in size, stdout and stderr among them
}

var failedCall = regexp.MustCompile(`^(E[A-Z]+|short)(\+?) at \d+ \(\d+: (\w+) (.*)\)$`)

// readDiskError understands FL_FAULT.
func readDiskError(fault string) diskError {
	if m := failedCall.FindStringSubmatch(fault); m != nil {
		return diskError{errno: m[1], stays: m[2] != "", kind: m[3], path: m[4]}
	}
	switch {
	case strings.HasSuffix(fault, " free blocks"), strings.HasSuffix(fault, " free inodes"):
		return diskError{errno: "ENOSPC", full: true, stays: true}
	case strings.HasPrefix(fault, "RLIMIT_FSIZE"):
		return diskError{errno: "EFBIG", limited: true, stays: true}
	}
	return diskError{}
}

// saying is the text of an error that a user must find.
var saying = map[string]string{
	"ENOSPC": "no space left on device", "EIO": "input/output error", "EINTR": "interrupted system call",
	"EMFILE": "too many open files", "EDQUOT": "disk quota exceeded", "EROFS": "read-only file system",
	"ENOLCK": "no locks available",
}

// of reports whether the call that failed was about a file of the sessions.
func (d diskError) of(name string) bool {
	return strings.HasSuffix(d.path, filepath.Join("/.kagent-sessions", name))
}

// sync reports whether a sync failed for good: the kernel may have dropped the
// pages. One that was interrupted has dropped nothing.
func (d diskError) sync() bool {
	return (d.kind == "fsync" || d.kind == "fdatasync") && d.errno != "EINTR"
}

// unsupported: the file system has no such call.
func (d diskError) unsupported() bool { return d.errno == "ENOTSUP" || d.errno == "ENOSYS" }

// checkRead is what the lab starts after a call of a reader failed: it told all
// or it told why it can't. See finished.sh.
func checkRead() int {
	t := &trial{dir: os.Getenv("FL_DIR"), exit: os.Getenv("FL_EXIT"), disk: readDiskError(os.Getenv("FL_FAULT"))}
	want, err := os.ReadFile(filepath.Join(t.dir, "good.json"))
	got, _ := os.ReadFile(os.Getenv("FL_STDOUT"))
	said := t.stderr()
	switch {
	case err != nil:
		t.fail("%v", err)
	case t.exit == "0" && bytes.Equal(got, want):
	case t.exit == "9" && bytes.Contains(got, []byte(`"reason":"storage"`)) && strings.Contains(said, saying[t.disk.errno]) && strings.Contains(said, ".kagent-sessions"):
	case t.exit == "2" && filepath.Base(t.disk.path) == ".kagent.yaml":
	default:
		t.fail("exit %s, %d bytes of %d shown, said: %s", t.exit, len(got), len(want), said)
	}
	return t.verdict()
}
