package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"kagent/pkg/message"
)

// An attachment is a file given with --file.
type attachment struct{ path, text string }

func readFiles(paths []string) ([]attachment, error) {
	var files []attachment
	for _, path := range paths {
		data, err := readRegular(path, inputLimit)
		switch {
		case errors.Is(err, errTooLarge):
			return nil, tooLarge("--file " + path)
		case errors.Is(err, fs.ErrNotExist):
			return nil, usageErrorf("check the path, it is relative to the current directory", "--file %s: no such file", path)
		case errors.Is(err, errNotRegular):
			return nil, usageErrorf("attach regular files; pipe anything else into stdin", "--file %s: not a regular file", path)
		case err != nil:
			return nil, usageErrorf("check the path and its permissions", "--file %s: %v", path, cause(err))
		}
		files = append(files, attachment{path, string(data)})
	}
	return files, nil
}

var (
	errTooLarge   = errors.New("too large")
	errNotRegular = errors.New("not a regular file")
)

// readRegular reads a file of at most limit bytes. It doesn't block on a named
// pipe, and doesn't trust a size that may grow.
func readRegular(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errTooLarge
	}
	return data, err
}

// cause strips the operation and the path, which the message has already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// fence marks text as coming from elsewhere. The tag gets a number where the
// text itself holds the closing tag, so that a text can't end its own fence.
func fence(tag, attrs, text string) string {
	name := tag
	for n := 2; strings.Contains(text, "</"+name+">"); n++ {
		name = fmt.Sprintf("%s-%d", tag, n)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fmt.Sprintf("<%s%s>\n%s</%s>", name, attrs, text, name)
}

// A cleaner makes texts fit to be stored and remembers which were not.
type cleaner struct{ dirty []string }

func (c *cleaner) clean(what, text string) string {
	clean := message.Clean(text)
	if clean != text {
		c.dirty = append(c.dirty, what)
	}
	return clean
}

func (c *cleaner) warnings() []string {
	if len(c.dirty) == 0 {
		return nil
	}
	return []string{message.Clean(strings.Join(c.dirty, ", ")) + ": bytes that are not UTF-8 text, or NUL, were replaced by U+FFFD"}
}
