package checkpoint

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// MaxArtifact bounds what is kept of one output.
const MaxArtifact = 64 << 20

// Artifacts are the large outputs of one session, each in a file named by the
// SHA-256 of its bytes. Errors are those of package os: an artifact that can't
// be kept does not end a run. It is safe for concurrent use.
type Artifacts struct {
	fs      FS
	session string // its directory
	dir     string
	limit   int64 // of one artifact

	mu    sync.Mutex
	busy  map[int]bool // numbers of the temp files in use
	named bool         // dir is durable in session
}

func newArtifacts(fsys FS, session string) *Artifacts {
	return &Artifacts{fs: fsys, session: session, dir: filepath.Join(session, "artifacts"), limit: MaxArtifact, busy: map[int]bool{}}
}

// Artifacts is where the session keeps large outputs. It may be used while the
// journal is.
func (j *Journal) Artifacts() *Artifacts { return j.artifacts }

// Temp files are named tmp-0, tmp-1, …: as many as are written at once.
const artifactTemp = "tmp-"

// path is where an artifact is.
func (a *Artifacts) path(ref string) string { return filepath.Join(a.dir, ref) }

// Create begins an artifact.
func (a *Artifacts) Create() (*Artifact, error) {
	if err := a.furnish(); err != nil {
		return nil, err
	}
	out := &Artifact{store: a, number: a.take(), sum: sha256.New()}
	out.temp = filepath.Join(a.dir, artifactTemp+strconv.Itoa(out.number))
	err := a.fs.Remove(out.temp) // a kill may have left it
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		out.file, err = a.fs.Open(out.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	}
	if err != nil {
		a.give(out.number)
		return nil, err
	}
	return out, nil
}

// furnish makes sure that the directory is there and is one.
func (a *Artifacts) furnish() error {
	err := a.fs.Mkdir(a.dir, dirMode)
	switch {
	case err == nil:
		a.mu.Lock()
		defer a.mu.Unlock()
		a.named = false
		return nil
	case errors.Is(err, fs.ErrExist):
		return a.check()
	}
	return err
}

var errNotDirectory = errors.New("not a directory")

// check refuses a link in the place of the directory.
func (a *Artifacts) check() error {
	info, err := a.fs.Lstat(a.dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: a.dir, Err: errNotDirectory}
	}
	return err
}

func (a *Artifacts) take() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for a.busy[n] {
		n++
	}
	a.busy[n] = true
	return n
}

func (a *Artifacts) give(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, n)
}

// sync makes the names of the artifacts durable, and that of their directory.
func (a *Artifacts) sync() error {
	if err := a.fs.SyncDir(a.dir); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.named {
		return nil
	}
	err := a.fs.SyncDir(a.session)
	a.named = err == nil
	return err
}
