package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// logFile is --log-file: all that is said, and each event in full, whatever
// stderr shows.
type logFile struct {
	out    *os.File
	now    func() time.Time
	warn   io.Writer
	failed atomic.Bool // and that was said
}

// logWait is how long one write may wait for whoever reads a pipe.
const logWait = time.Second

// openLog opens the log file, nil where there is to be none.
func openLog(path string, warn io.Writer) (*logFile, error) {
	if path == "" {
		return nil, nil
	}
	if err := checkName("--log-file", path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ENXIO) {
		return nil, usageErrorf("start its reader first, or name a file", "--log-file %s is a pipe that nobody reads", path)
	}
	if err != nil {
		return nil, usageErrorf("name a file in a directory that can be written to", "--log-file %s: %v", path, cause(err))
	}
	return &logFile{out: f, now: time.Now, warn: warn}, nil
}

// openDisplay makes ready what a run is to be shown on.
func (a *app) openDisplay(d *displayFlags) (err error) {
	if d.grace <= 0 {
		return usageErrorf("want for example 5s", "--grace %s is not positive", d.grace)
	}
	a.grace = d.grace
	a.streams.patient(d.grace)
	a.log, err = openLog(d.logFile, a.stderr)
	return err
}

// write adds text, each line with its time, in one piece. The run counts: an
// error is told of once.
func (l *logFile) write(text string) {
	if l == nil {
		return
	}
	var b strings.Builder
	stamp := l.now().Format("2006-01-02T15:04:05.000Z07:00 ")
	for line := range strings.Lines(ended(text)) {
		b.WriteString(stamp + line)
	}
	_ = l.out.SetWriteDeadline(time.Now().Add(logWait)) // only a pipe has one
	if _, err := io.WriteString(l.out, b.String()); err != nil {
		l.fail(err)
	}
}

// fail tells of the first error. A pipe whose reader stands still is given up: each
// line would wait for it.
func (l *logFile) fail(err error) {
	if l.failed.CompareAndSwap(false, true) {
		fmt.Fprintf(l.warn, "warning: --log-file %s lacks lines: %v\n", l.out.Name(), cause(err))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		l.out.Close()
	}
}
