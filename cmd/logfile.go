package cmd

import (
	"io"
	"os"
	"strings"
	"time"
)

// logFile is --log-file: all that is said, and each event in full, whatever
// stderr shows.
type logFile struct {
	out io.Writer
	now func() time.Time
}

// openLog opens the log file, nil where there is to be none.
func openLog(path string) (*logFile, error) {
	if path == "" {
		return nil, nil
	}
	if err := checkName("--log-file", path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, usageErrorf("name a file in a directory that can be written to", "--log-file %s: %v", path, cause(err))
	}
	return &logFile{f, time.Now}, nil
}

// openDisplay makes ready what a run is to be shown on.
func (a *app) openDisplay(d *displayFlags) (err error) {
	if d.grace <= 0 {
		return usageErrorf("want for example 5s", "--grace %s is not positive", d.grace)
	}
	a.grace = d.grace
	a.log, err = openLog(d.logFile)
	return err
}

// write adds text, each line with its time, in one piece. An error of it helps
// nobody: the run counts.
func (l *logFile) write(text string) {
	if l == nil {
		return
	}
	var b strings.Builder
	stamp := l.now().Format("2006-01-02T15:04:05.000Z07:00 ")
	for line := range strings.Lines(ended(text)) {
		b.WriteString(stamp + line)
	}
	io.WriteString(l.out, b.String())
}
