package checkpoint

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"

	"kagent/pkg/message"
)

// link takes over an artifact by a second name for the same bytes. Where that
// can't be it is copied; it reports whether there is such an artifact.
func (a *Artifacts) link(old *Artifacts, m message.Artifact) (bool, error) {
	from := old.path(m.Ref)
	var info fs.FileInfo
	err := old.check()
	if err == nil {
		info, err = a.fs.Lstat(from)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotDirectory), !isArtifact(m.Ref):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, nil
	}
	if err := a.furnish(); err != nil {
		return false, err
	}
	if a.fs.Link(from, a.path(m.Ref)) != nil { // another file system, or one without links
		return a.copy(old, m)
	}
	return true, a.sync()
}

// copy takes over an artifact, if it is sound.
func (a *Artifacts) copy(old *Artifacts, m message.Artifact) (bool, error) {
	if !isArtifact(m.Ref) {
		return false, nil
	}
	from, _, err := old.Open(m.Ref)
	if err != nil {
		return false, nil
	}
	defer from.Close()
	to, err := a.Create()
	if err != nil {
		return false, err
	}
	defer to.Discard()
	if _, err := io.Copy(to, from); err != nil {
		return false, to.err // nil where it is the old one that can't be read
	}
	if hex.EncodeToString(to.sum.Sum(nil)) != m.Ref {
		return false, nil
	}
	_, err = to.Keep()
	return err == nil, err
}
