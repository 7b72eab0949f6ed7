package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var errNoArtifact = errors.New("no such artifact in this session")

// Open opens the artifact that ref, a hash or the beginning of one, names, and
// returns its size. The texts of errors name no paths.
func (a *Artifacts) Open(ref string) (io.ReadCloser, int64, error) {
	name, err := a.find(ref)
	var f File
	if err == nil {
		f, err = a.fs.Open(filepath.Join(a.dir, name), os.O_RDONLY, 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errNoArtifact
	}
	if err != nil {
		return nil, 0, bare(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = sound(f, info.Size(), name)
	}
	if err != nil {
		f.Close()
		return nil, 0, bare(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, 0, info.Size()), f}, info.Size(), nil
}

// sound checks that an artifact is what its name says.
func sound(f File, size int64, name string) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != name {
		return errors.New("the artifact was changed since it was kept: its content is not what its name says")
	}
	return nil
}

// find returns the one artifact whose name begins with ref.
func (a *Artifacts) find(ref string) (string, error) {
	if strings.Trim(ref, "0123456789abcdef") != "" || ref == "" {
		return "", errors.New("a reference is the beginning of a hash, in lower-case hex digits")
	}
	if err := a.check(); err != nil {
		return "", err
	}
	entries, err := a.fs.ReadDir(a.dir)
	if err != nil {
		return "", err
	}
	found := ""
	for _, e := range entries {
		switch {
		case !isArtifact(e.Name()) || !strings.HasPrefix(e.Name(), ref):
		case found != "":
			return "", fmt.Errorf("more than one artifact begins with %s; give more of the hash", ref)
		default:
			found = e.Name()
		}
	}
	if found == "" {
		return "", errNoArtifact
	}
	return found, nil
}

// isArtifact reports whether a name is that of an artifact.
func isArtifact(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == 32 && strings.ToLower(name) == name
}

// sweep removes what a killed process had begun. It is in nobody's way: a
// failure is none.
func (a *Artifacts) sweep() {
	if a.check() != nil {
		return
	}
	entries, err := a.fs.ReadDir(a.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), artifactTemp) {
			_ = a.fs.Remove(filepath.Join(a.dir, e.Name()))
		}
	}
}

// Artifacts returns those of a session, to be read.
func (s *Store) Artifacts(id string) *Artifacts { return newArtifacts(s.fs, pathsOf(s.dir, id).dir) }
