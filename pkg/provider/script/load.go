package script

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxSize is the largest script that is read, in bytes.
const MaxSize = 64 << 20

// Script is a loaded script. It never changes, so that any number of requests
// may be answered at once.
type Script struct {
	name    string
	mark    string // of the file as it was read, see id
	replies []reply
	strict  bool // a request that no reply fits ends the session
}

// Load reads a script from a regular file: a pipe would be empty for the run
// that resumes this one.
func Load(path string) (*Script, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("script %s: not a regular file; it is read again on resume", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a script from data. name stands for it in errors; one that ends
// in .json must hold JSON, any other may hold JSON or YAML.
func Parse(name string, data []byte) (*Script, error) {
	s := &Script{name: name, mark: sumOf(string(data))[:8]}
	if err := s.parse(data); err != nil {
		return nil, fmt.Errorf("script %s: %w", name, err)
	}
	return s, nil
}

func (s *Script) parse(data []byte) error {
	if len(data) > MaxSize {
		return fmt.Errorf("larger than %d MiB", MaxSize>>20)
	}
	if !utf8.Valid(data) {
		return fmt.Errorf("not UTF-8 text")
	}
	root, err := tree(s.name, bytes.TrimPrefix(data, []byte("\uFEFF")))
	if err != nil {
		return err
	}
	if err := sound(root); err != nil {
		return err
	}
	return s.document(root)
}

// document reads the top level.
func (s *Script) document(root *yaml.Node) error {
	var all yaml.Node
	_, err := mapping(root, fields{
		"replies": func(n *yaml.Node) error { all = *n; return nil },
		"strict":  flag(&s.strict),
	})
	if err != nil {
		return err
	}
	if all.Kind != yaml.SequenceNode || len(all.Content) == 0 {
		return faultAt(root, `the top level needs a list "replies" that is not empty`)
	}
	for i, n := range all.Content {
		r, err := newReply(n)
		if err != nil {
			return fmt.Errorf("reply %d: %w", i+1, err)
		}
		s.replies = append(s.replies, r)
	}
	return nil
}

func isJSON(name string) bool { return strings.EqualFold(filepath.Ext(name), ".json") }
