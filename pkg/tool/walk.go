package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds the links that one path may lead through, as systems do.
const maxLinks = 40

// place is where a path leads: a name in an open directory. The path is free
// of links, but for what happens to the name after the look at it; whoever
// opens it must compare the identity.
type place struct {
	ws   *Workspace
	dir  *os.Root
	base string      // in dir; "." when the place is a directory, which dir then is
	rel  string      // relative to the work directory, without links
	info os.FileInfo // nil: nothing exists there
	// missing are the names that don't exist, the last one being the place's
	// own; dir is then the last directory that does.
	missing []string
}

func (p *place) close() { p.dir.Close() }

// resolve finds the place of a path that a model wrote. Its errors are
// observations. The caller must close the place.
func (w *Workspace) resolve(path string) (*place, error) {
	p, err := w.find(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", clip(path, 300), reason(err))
	}
	return p, nil
}

// resolveToChange is resolve for a file that is to be written. What git keeps
// for itself is not: a hook or a setting in it would run commands later. Nor is
// what sets up kagent: a run would change the limits and prompts of all later ones.
func (w *Workspace) resolveToChange(path string) (*place, error) {
	if strings.HasPrefix(path, artifactPath) {
		return nil, fmt.Errorf("%s: it names a kept output, which only read_file takes", clip(path, 300))
	}
	p, err := w.resolve(path)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(p.rel, "/") {
		if err := reserved(name); err != nil {
			p.close()
			return nil, fmt.Errorf("%s: %w", clip(path, 300), err)
		}
	}
	return p, nil
}

// reserved says why nothing of that name is changed, nil if it may be.
func reserved(name string) error {
	switch strings.ToLower(name) {
	case ".git":
		return errors.New("it belongs to git, whose files the file tools do not change; use git")
	case ".kagent", ".kagent.yaml":
		return errors.New("it sets up kagent, whose files the file tools do not change; tell the user what to write there")
	}
	return nil
}

func (w *Workspace) find(path string) (*place, error) {
	rest, _, err := w.components(path)
	if err != nil {
		return nil, err
	}
	root, err := w.open()
	if err != nil {
		return nil, err
	}
	k := &walk{ws: w, dirs: []*os.Root{root}, rest: rest}
	defer k.close()
	for len(k.rest) > 0 {
		name := k.rest[0]
		k.rest = k.rest[1:]
		if p, err := k.step(name); p != nil || err != nil {
			return p, err
		}
	}
	info, err := k.top().Stat(".")
	if err != nil {
		return nil, err
	}
	return k.place(".", info), nil
}

// walk is a path that is being resolved.
type walk struct {
	ws    *Workspace
	dirs  []*os.Root // from the work directory down to where we stand
	names []string   // names[i] is that of dirs[i+1]
	rest  []string   // still to go
	links int
}

func (k *walk) top() *os.Root { return k.dirs[len(k.dirs)-1] }

func (k *walk) close() {
	for _, d := range k.dirs {
		d.Close()
	}
}

// place ends the walk at a name in the directory where we stand, which is the
// caller's from now on.
func (k *walk) place(base string, info os.FileInfo) *place {
	p := &place{ws: k.ws, dir: k.top(), base: base, info: info}
	p.rel = strings.Join(append(slices.Clone(k.names), base), "/")
	if base == "." && len(k.names) > 0 {
		p.rel = strings.Join(k.names, "/")
	}
	k.dirs = k.dirs[:len(k.dirs)-1]
	return p
}

// up leaves n directories.
func (k *walk) up(n int) {
	for range n {
		k.top().Close()
		k.dirs = k.dirs[:len(k.dirs)-1]
		k.names = k.names[:len(k.names)-1]
	}
}

// step goes one name further. It returns a place when the walk ends there.
func (k *walk) step(name string) (*place, error) {
	switch name {
	case ".":
		return nil, nil
	case "..":
		if len(k.names) == 0 {
			return nil, errOutside
		}
		k.up(1)
		return nil, nil
	}
	info, err := k.top().Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return k.absent(name)
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, k.follow(name)
	case info.IsDir():
		return nil, k.enter(name, info)
	case len(k.rest) > 0:
		return nil, fmt.Errorf("%s is not a directory", name)
	}
	return k.place(name, info), nil
}

func (k *walk) enter(name string, info os.FileInfo) error {
	dir, err := enter(k.ws, k.top(), name, info)
	if err != nil {
		return err
	}
	k.dirs = append(k.dirs, dir)
	k.names = append(k.names, name)
	return nil
}

// enter opens a directory that was seen as info, unless it is a hidden one.
func enter(w *Workspace, parent *os.Root, name string, info os.FileInfo) (*os.Root, error) {
	dir, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	now, err := dir.Stat(".")
	switch {
	case err != nil:
	case !os.SameFile(info, now):
		err = errors.New("it was replaced just now")
	case w.isHidden(now):
		err = errHidden
	default:
		err = boundary(parent, dir, now)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// boundary refuses a step into the kernel's own file systems.
func boundary(parent, dir *os.Root, now os.FileInfo) error {
	before, err := parent.Stat(".")
	if err != nil {
		return err
	}
	if kernel, err := entersKernelFS(dir, before, now); err != nil {
		return err
	} else if kernel {
		return errKernel
	}
	return nil
}

// follow puts the target of a link in the place of its name.
func (k *walk) follow(name string) error {
	if k.links++; k.links > maxLinks {
		return errors.New("it leads through too many links")
	}
	target, err := k.top().Readlink(name)
	if err != nil {
		return err
	}
	names, absolute, err := k.ws.components(target)
	if err != nil {
		return err
	}
	if absolute {
		k.up(len(k.names))
	}
	k.rest = slices.Concat(names, k.rest)
	return nil
}

// absent ends the walk at a name that doesn't exist.
func (k *walk) absent(name string) (*place, error) {
	missing := append([]string{name}, k.rest...)
	missing = slices.DeleteFunc(missing, func(s string) bool { return s == "." })
	if slices.Contains(missing, "..") || len(k.rest) > 0 && k.rest[len(k.rest)-1] == "." {
		return nil, fs.ErrNotExist
	}
	here := k.place(name, nil)
	here.missing = missing
	here.rel = strings.Join(append(slices.Clone(k.names), missing...), "/")
	if k.ws.isHiddenName(filepath.Join(k.ws.real, filepath.FromSlash(here.rel))) {
		here.close()
		return nil, errHidden
	}
	return here, nil
}
