package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Workspace is the directory that tools work in. File tools reach nothing
// outside it, and nothing inside its hidden directories. It holds no open
// files between calls and is safe for concurrent use.
type Workspace struct {
	dir    string // absolute, as the user knows it
	real   string // the same without links
	hidden []hiddenDir
	writes sync.Mutex // writes take turns: they share temporary names
}

// hiddenDir is a directory that file tools must not see. It may come into
// being later, or be moved while we run, so that it is known both by its names
// and by the identity that it had at the start.
type hiddenDir struct {
	names []string
	first os.FileInfo // nil: it did not exist
}

// maxPath bounds a path in bytes. Going by directory handles we could make
// deeper ones than the system's own tools can remove.
const maxPath = 4096

// These errors name the rules that a path can break.
var (
	errOutside = errors.New("it is outside the work directory; " +
		"paths are relative to the work directory and links may not lead out of it")
	errHidden = errors.New("it is in the directory where sessions are kept, which file tools do not enter")
)

// NewWorkspace returns the workspace of an existing directory. hidden are
// directories, which need not exist yet, that file tools must not see, list,
// read or write. It is an error when dir is not a directory or is hidden itself.
func NewWorkspace(dir string, hidden ...string) (*Workspace, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("work directory: %w", err)
	}
	if info, err := os.Stat(real); err != nil {
		return nil, fmt.Errorf("work directory: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("work directory: %s is not a directory", abs)
	}
	if isKernelFS(real) {
		return nil, fmt.Errorf("work directory: %s: %w", abs, errKernel)
	}
	w := &Workspace{dir: abs, real: real}
	for _, h := range hidden {
		names, err := spellings(h)
		if err != nil {
			return nil, err
		}
		first, _ := os.Stat(names[0])
		w.hidden = append(w.hidden, hiddenDir{names, first})
	}
	for p := real; ; p = filepath.Dir(p) {
		if info, err := os.Stat(p); err == nil && w.isHidden(info) {
			return nil, fmt.Errorf("work directory: %s is inside the directory where sessions are kept", abs)
		}
		if p == filepath.Dir(p) {
			return w, nil
		}
	}
}

// Dir returns the absolute path of the work directory.
func (w *Workspace) Dir() string { return w.dir }

// spellings returns the absolute path of a directory and the same without links.
func spellings(dir string) ([]string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	names := []string{abs}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		names = append(names, real)
	} else if parent, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		names = append(names, filepath.Join(parent, filepath.Base(abs)))
	}
	return names, nil
}

// isHidden reports whether info is that of a hidden directory. It looks at the
// disk, since a directory may have come into being since the last time.
func (w *Workspace) isHidden(info os.FileInfo) bool {
	for _, h := range w.hidden {
		if h.first != nil && os.SameFile(h.first, info) {
			return true
		}
		if now, err := os.Stat(h.names[0]); err == nil && os.SameFile(now, info) {
			return true
		}
	}
	return false
}

// isHiddenName does the same for an absolute path at which nothing exists, so
// that no tool creates a hidden directory. Case is ignored because some file
// systems do.
func (w *Workspace) isHiddenName(abs string) bool {
	for _, h := range w.hidden {
		for _, name := range h.names {
			if len(abs) >= len(name) && strings.EqualFold(abs[:len(name)], name) &&
				(len(abs) == len(name) || os.IsPathSeparator(abs[len(name)])) {
				return true
			}
		}
	}
	return false
}

// open opens the work directory, which a command may have removed or replaced
// since the last call. One that was made anew is taken; a link is not.
func (w *Workspace) open() (*os.Root, error) {
	info, err := os.Lstat(w.real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the work directory %s no longer exists", w.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("the work directory can't be opened: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("the work directory %s is no longer a directory", w.dir)
	}
	root, err := os.OpenRoot(w.real)
	if err != nil {
		return nil, fmt.Errorf("the work directory can't be opened: %w", err)
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(info, now) {
		root.Close()
		return nil, fmt.Errorf("the work directory %s was replaced just now", w.dir)
	}
	return root, nil
}

// components splits a path as a model wrote it, relative to the work directory
// or absolute inside it. ".." stays: what it means depends on links.
func (w *Workspace) components(path string) (names []string, absolute bool, err error) {
	switch {
	case path == "":
		return nil, false, errors.New("it is empty; the work directory itself is \".\"")
	case len(path) > maxPath:
		return nil, false, fmt.Errorf("it is longer than %d bytes", maxPath)
	case strings.ContainsRune(path, 0):
		return nil, false, errors.New("it contains a NUL character")
	case !filepath.IsAbs(path):
		return split(path), false, nil
	}
	clean := filepath.Clean(path)
	for _, base := range []string{w.dir, w.real} {
		if rel, err := filepath.Rel(base, clean); err == nil && filepath.IsLocal(rel) {
			return split(rel), true, nil
		}
	}
	return nil, true, errOutside
}

// split cuts a path at its slashes. A slash at the end becomes ".", for it says
// that the path is one of a directory.
func split(path string) []string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	names := parts[:0]
	for i, p := range parts {
		if i == len(parts)-1 && p == "" {
			p = "."
		}
		if p != "" {
			names = append(names, p)
		}
	}
	return names
}
