package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// listing gathers entries level by level, so that a large directory deep down
// doesn't use up the bound before its neighbours are shown.
type listing struct {
	ctx     context.Context
	ws      *Workspace
	root    *os.Root
	shown   []item
	scanned int
	dropped bool // not everything was shown, or looked at
}

// item is an entry to show. Its info is that of the entry itself, links not
// followed; nil when it can't be had.
type item struct {
	names []string // from the listed directory down
	info  fs.FileInfo
	note  string // why a directory's content is missing
}

func (i item) isDir() bool { return i.info != nil && i.info.IsDir() }

func (l *listing) collect(depth int) error {
	level := []item{{}} // the directory itself
	for d := 0; d < depth && len(level) > 0; d++ {
		var next []item
		for _, dir := range level {
			if len(l.shown) >= maxShown {
				l.dropped = true
				return nil
			}
			entries, err := l.read(dir)
			if err != nil && (d == 0 || l.ctx.Err() != nil) {
				return err
			}
			if err != nil {
				l.remark(dir, err)
			}
			for _, e := range entries {
				l.shown = append(l.shown, e)
				if e.isDir() {
					next = append(next, e)
				}
			}
		}
		level = next
	}
	return nil
}

// remark notes at a shown directory why it could not be read.
func (l *listing) remark(dir item, err error) {
	for i := range l.shown {
		if slices.Equal(l.shown[i].names, dir.names) {
			l.shown[i].note = reason(err).Error()
		}
	}
}

// read returns the entries of a directory that come first by name, as many as
// there is still room for.
func (l *listing) read(dir item) ([]item, error) {
	room := maxShown - len(l.shown)
	handle, err := l.open(dir)
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	f, err := handle.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var first []fs.DirEntry
	for {
		batch, err := f.ReadDir(1024)
		l.scanned += len(batch)
		for _, e := range batch {
			if !l.hides(handle, e) {
				first = append(first, e)
			}
		}
		slices.SortFunc(first, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
		if len(first) > room {
			first, l.dropped = first[:room], true
		}
		switch {
		case errors.Is(err, io.EOF):
			return items(handle, dir.names, first), nil
		case err != nil:
			return nil, err
		case l.ctx.Err() != nil:
			return nil, l.ctx.Err()
		case l.scanned >= maxScanned:
			l.dropped = true
			return items(handle, dir.names, first), nil
		}
	}
}

// open opens a directory below the listed one, if it is still the one seen.
func (l *listing) open(dir item) (*os.Root, error) {
	if len(dir.names) == 0 {
		return l.root.OpenRoot(".")
	}
	return enter(l.ws, l.root, strings.Join(dir.names, "/"), dir.info)
}

// hides reports whether an entry must not even be named.
func (l *listing) hides(dir *os.Root, e fs.DirEntry) bool {
	if len(l.ws.hidden) == 0 || !e.IsDir() {
		return false
	}
	info, err := dir.Lstat(e.Name())
	return err == nil && l.ws.isHidden(info)
}

func items(dir *os.Root, parents []string, entries []fs.DirEntry) []item {
	list := make([]item, len(entries))
	for i, e := range entries {
		info, _ := dir.Lstat(e.Name())
		list[i] = item{names: append(slices.Clone(parents), e.Name()), info: info}
	}
	return list
}

func (l *listing) text() string {
	if len(l.shown) == 0 {
		return "[the directory is empty]"
	}
	slices.SortFunc(l.shown, func(a, b item) int { return slices.Compare(a.names, b.names) })
	var b strings.Builder
	for _, i := range l.shown {
		b.WriteString(l.line(i))
		b.WriteByte('\n')
	}
	if l.dropped {
		fmt.Fprintf(&b, "[cut at %d entries; list a directory further down to see others]\n", len(l.shown))
	}
	return b.String()
}

func (l *listing) line(i item) string {
	name := printable(strings.Join(i.names, "/"))
	switch {
	case i.info == nil:
		return name + "\t(can't be looked at)"
	case i.note != "":
		return name + "/\t(" + i.note + ")"
	case i.info.IsDir():
		return name + "/"
	case i.info.Mode().IsRegular():
		return fmt.Sprintf("%s\t%d", name, i.info.Size())
	case i.info.Mode()&fs.ModeSymlink != 0:
		target, err := l.root.Readlink(strings.Join(i.names, "/"))
		if err != nil {
			return name + " -> ?"
		}
		return name + " -> " + printable(target)
	}
	return name + "\t(" + kindOf(i.info.Mode()) + ")"
}

// printable quotes a name that would break its line or is not text.
func printable(name string) string {
	if utf8.ValidString(name) && strings.IndexFunc(name, unicode.IsControl) < 0 {
		return name
	}
	return strconv.Quote(name)
}
