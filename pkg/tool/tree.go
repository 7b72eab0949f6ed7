package tool

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// found is an entry of a directory that is open.
type found struct {
	dir  *os.Root
	name string
	rel  string      // relative to the work directory
	sub  string      // relative to where the search began
	mode fs.FileMode // its type only
}

// below visits what is below the directory rel, which is free of links.
func (s *search) below(rel string) error {
	dir, err := s.ws.open()
	if err != nil {
		return err
	}
	defer func() { dir.Close() }()
	rules, at := readIgnores(dir, ".", nil), "."
	for _, name := range split(rel) {
		if name == "." {
			continue
		}
		info, err := dir.Lstat(name)
		if err != nil {
			return fmt.Errorf("%s: %w", rel, reason(err))
		}
		next, err := enter(s.ws, dir, name, info)
		if err != nil {
			return fmt.Errorf("%s: %w", rel, reason(err))
		}
		dir.Close()
		dir, at = next, join(at, name)
		rules = readIgnores(dir, at, rules)
	}
	return s.walk(dir, spot{rel: at, sub: ".", rules: rules})
}

// spot is where a directory is.
type spot struct {
	rel, sub string
	depth    int
	rules    *ignores
}

func (s *search) walk(dir *os.Root, at spot) error {
	entries, err := s.read(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		f := found{dir, e.Name(), join(at.rel, e.Name()), join(at.sub, e.Name()), e.Type()}
		if err := s.entry(f, at); err != nil {
			return err
		}
	}
	return nil
}

// read returns the entries of a directory in the order of their paths: that of
// a directory goes on with a slash.
func (s *search) read(dir *os.Root) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var entries []fs.DirEntry
	for {
		batch, err := f.ReadDir(1024)
		entries = append(entries, batch...)
		s.scanned += len(batch)
		switch {
		case errors.Is(err, io.EOF):
			slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(pathKey(a), pathKey(b)) })
			return entries, nil
		case err != nil:
			return nil, err
		case s.ctx.Err() != nil:
			return nil, s.ctx.Err()
		case s.scanned > s.limits.entries:
			s.cut = fmt.Sprintf("after %d names", s.scanned)
			return nil, errEnough
		}
	}
}

func pathKey(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

// entry visits one entry and what is below it.
func (s *search) entry(f found, at spot) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if f.name == ".git" {
		return nil
	}
	if at.rules.match(f.rel, f.name, f.mode.IsDir()) {
		s.ignored++
		return nil
	}
	if !f.mode.IsDir() {
		return s.visit(f)
	}
	info, err := f.dir.Lstat(f.name)
	if err != nil || s.ws.isHidden(info) {
		return nil
	}
	if err := s.visit(f); err != nil {
		return err
	}
	if at.depth++; at.depth >= s.levels {
		if s.levels == maxLevels {
			s.fail(f.rel, fmt.Errorf("it is more than %d levels deep", maxLevels))
		}
		return nil
	}
	return s.descend(f, info, at)
}

// descend visits what is in a directory. One that can't be read is noted, and
// the search goes on beside it.
func (s *search) descend(f found, info fs.FileInfo, at spot) error {
	dir, err := enter(s.ws, f.dir, f.name, info)
	if err == nil {
		defer dir.Close()
		at.rel, at.sub, at.rules = f.rel, f.sub, readIgnores(dir, f.rel, at.rules)
		err = s.walk(dir, at)
	}
	if err == nil || s.ctx.Err() != nil || errors.Is(err, errEnough) {
		return err
	}
	s.fail(f.rel, err)
	return nil
}

// join adds a name to a path, which may be ".".
func join(path, name string) string {
	if path == "." {
		return name
	}
	return path + "/" + name
}
