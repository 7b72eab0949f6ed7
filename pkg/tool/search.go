package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// searchLimits bound one walk through a tree: an unattended run must not hang
// in a directory of millions, nor in a file without an end.
type searchLimits struct {
	time    time.Duration
	entries int
}

func defaultLimits() searchLimits { return searchLimits{time: 8 * time.Second, entries: maxScanned} }

// maxLevels bounds how deep a search goes, for each level holds an open file.
const maxLevels = 100

// search visits what is below a directory in the order of the paths' bytes. It
// follows no links, enters neither .git nor hidden directories, and leaves out
// what a .gitignore names.
type search struct {
	ws     *Workspace
	limits searchLimits
	levels int // how deep to go, at most maxLevels
	// visit is called for every entry, for a directory before what is in it.
	// errEnough ends the search.
	visit func(found) error

	ctx      context.Context
	scanned  int
	ignored  int
	failures int
	failure  string // the first of them
	cut      string // why the search ended early
}

var errEnough = errors.New("enough")

// within runs f under the limit of time and under ctx. A nil result means that
// all went well, or that the search was cut and says so.
func (s *search) within(ctx context.Context, f func() error) *Result {
	limited, cancel := context.WithTimeout(ctx, s.limits.time)
	defer cancel()
	s.ctx = limited
	err := f()
	switch {
	case ctx.Err() != nil:
		return &Result{Outcome: Stopped, Text: "stopped while searching"}
	case err == nil || errors.Is(err, errEnough):
	case limited.Err() != nil:
		s.cut = fmt.Sprintf("after %v", s.limits.time)
	default:
		failed := Fail(err.Error())
		return &failed
	}
	return nil
}

func (s *search) fail(path string, err error) {
	if s.failures++; s.failures == 1 {
		s.failure = fmt.Sprintf("%s: %v", printable(path), reason(err))
	}
}

// notes say what the search left out.
func (s *search) notes() []string {
	var notes []string
	if s.failures > 0 {
		notes = append(notes, fmt.Sprintf("[%d could not be read; the first is %s]", s.failures, s.failure))
	}
	if s.cut != "" {
		notes = append(notes, fmt.Sprintf("[truncated: the search was cut %s; narrow it by path or pattern]", s.cut))
	}
	return notes
}

// nothing is the text of a search without results.
func (s *search) nothing(what string) string {
	text := "[no match " + what
	if s.ignored > 0 {
		text += "; what .gitignore names was left out, unless path names its directory"
	}
	return text + "]"
}

// searchable returns the place of a path that a search may begin at.
func (w *Workspace) searchable(path string) (*place, error) {
	p, err := w.resolve(path)
	switch {
	case err != nil:
		return nil, err
	case p.info == nil:
		err = p.regular(path)
	case slices.Contains(strings.Split(p.rel, "/"), ".git"):
		err = fmt.Errorf("%s: a search does not enter .git; read_file and list_files do", path)
	default:
		return p, nil
	}
	p.close()
	return nil, err
}
