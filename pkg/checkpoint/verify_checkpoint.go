package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"kagent/pkg/session"
)

// checkpointFile is a checkpoint that is compared with the log.
type checkpointFile struct {
	data     []byte
	promised promise
	bad      error  // why it can't be read, fs.ErrNotExist among it
	schema   string // as it says
	differs  string // in what it is not what the log says
	version  string // of the kagent that wrote it
}

// load reads the checkpoint whole. What it promises counts also where the rest
// of it is bad. An error is the disk's.
func (c *checkpointFile) load(fsys FS, p paths) error {
	var size int64
	if info, err := fsys.Lstat(p.log); err == nil {
		size = info.Size()
	}
	b, h, err := readCheckpoint(fsys, p.checkpoint, checkpointLimit(size))
	if unread(err) {
		return storage("read "+p.checkpoint, err)
	}
	c.promised, c.schema, c.bad = h.Log, h.Schema, err
	if err == nil {
		c.data = b
	}
	return nil
}

// importCut reports whether an import ended before the checkpoint took the place
// of the file that it was made of.
func (s *Store) importCut(p paths) bool {
	file, err := readUpTo(s.fs, p.checkpoint, maxForeign+1)
	kept, kerr := readUpTo(s.fs, filepath.Join(p.dir, importedName), maxForeign+1)
	return err == nil && kerr == nil && len(file) > 0 && bytes.Equal(file, kept)
}

// missing is fs.ErrNotExist if there is no checkpoint, nil if there is one.
func (c *checkpointFile) missing() error {
	if errors.Is(c.bad, fs.ErrNotExist) {
		return c.bad
	}
	return nil
}

// compare is called where the log is as long as it was for the checkpoint, and
// so is its fold: a checkpoint is written by the owner, and says the same
// whoever lives now.
func (c *checkpointFile) compare(s *session.State, at promise) {
	if c.data == nil {
		return
	}
	c.version = s.Version
	var im image
	want, err := im.encode(s, at, true)
	switch {
	case err != nil:
		c.differs = err.Error()
	case !bytes.Equal(want, c.data):
		c.differs = differences(c.data, want)
	}
	c.data = nil
}

// differences names the fields in which two checkpoints differ.
func differences(a, b []byte) string {
	var fa, fb map[string]json.RawMessage
	if json.Unmarshal(a, &fa) != nil || json.Unmarshal(b, &fb) != nil {
		return "its form"
	}
	var names []string
	for name := range fb {
		if !sameJSON(fa[name], fb[name]) {
			names = append(names, name)
		}
	}
	for name := range fa {
		if _, ok := fb[name]; !ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "its form"
	}
	slices.Sort(names)
	return strings.Join(names[:min(len(names), 5)], ", ")
}

func sameJSON(a, b []byte) bool {
	var ca, cb bytes.Buffer
	return json.Compact(&ca, a) == nil && json.Compact(&cb, b) == nil && bytes.Equal(ca.Bytes(), cb.Bytes())
}
