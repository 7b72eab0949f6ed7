package checkpoint

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"kagent/pkg/session"
)

// maxManifest bounds what is read of an export before it is understood.
const maxManifest = 64 << 20

// IsExport reports whether a file begins as an export does.
func IsExport(b []byte) bool {
	return len(b) > 262 && string(b[257:262]) == "ustar" && strings.HasPrefix(string(b), manifestName+"\x00")
}

// Restore makes a session of an export, with the same id, or another where that
// is taken. All is checked before there is a session. Errors: *NoImportError,
// *DamagedError, *VersionError, and those of Create.
func (s *Store) Restore(file string, o ImportOptions) (Import, error) {
	dir, err := mkdirTemp("", "kagent-import-")
	if err != nil {
		return Import{}, storage("make a temporary directory", err)
	}
	defer os.RemoveAll(dir)
	u := &unpacking{file: file, dir: dir}
	if err := u.all(); err != nil {
		return Import{}, err
	}
	return s.restore(u, o)
}

// unpacking is an export on its way into a directory of sessions of its own.
type unpacking struct {
	file, dir string
	m         manifest
}

func (u *unpacking) damaged(format string, args ...any) error {
	return &DamagedError{ID: filepath.Base(u.file), Path: u.file, Offset: -1, Why: fmt.Sprintf(format, args...), Elsewhere: true}
}

// all unpacks the files in the order of the manifest, each as it says.
func (u *unpacking) all() error {
	f, err := os.Open(u.file)
	if err != nil {
		return &NoImportError{u.file, bare(err).Error()}
	}
	defer f.Close()
	t := tar.NewReader(f)
	text, err := u.next(t, manifestName, maxManifest)
	if err != nil {
		return err
	}
	if err := u.understand(text); err != nil {
		return err
	}
	for _, want := range u.m.Files {
		if err := u.unpack(t, want); err != nil {
			return err
		}
	}
	sum, err := u.next(t, manifestSum, 1024)
	if err != nil {
		return err
	}
	if want := sha256.Sum256(text); strings.TrimSpace(string(sum)) != hex.EncodeToString(want[:]) {
		return u.damaged("its manifest is not what its checksum says")
	}
	return nil
}

// next reads a small file of the archive.
func (u *unpacking) next(t *tar.Reader, name string, limit int64) ([]byte, error) {
	h, err := t.Next()
	if err != nil || h.Name != name || h.Typeflag != tar.TypeReg || h.Size > limit {
		return nil, u.damaged("%s is missing: it is cut off, or no export of kagent", name)
	}
	b, err := io.ReadAll(t)
	if err != nil {
		return nil, u.damaged("it is cut off in %s", name)
	}
	return b, nil
}

func (u *unpacking) understand(text []byte) error {
	err := session.ShapeOf(u.m).Check(text)
	if err == nil {
		err = json.Unmarshal(text, &u.m)
	}
	switch {
	case err != nil:
		return u.damaged("its manifest can't be read: %v", err)
	case u.m.Schema != ExportSchema:
		return &VersionError{u.m.SessionID, u.m.Version, fmt.Sprintf("the export has the format %q", u.m.Schema)}
	case CheckID(u.m.SessionID) != nil:
		return u.damaged("its session has the bad id %q", u.m.SessionID)
	}
	return nil
}

// place is where a file of the export goes, "" for one that has no place.
func (u *unpacking) place(name string) string {
	p := pathsOf(u.dir, u.m.SessionID)
	dir, base := filepath.Split(name)
	switch {
	case name == exportedLog:
		return p.log
	case name == exportedFold:
		return p.checkpoint
	case dir == artifactsDir+"/" && isArtifact(base):
		return filepath.Join(p.dir, artifactsDir, base)
	case dir == inboxDir+"/" && strings.HasSuffix(base, letterSuffix) && !strings.HasPrefix(base, "."):
		return filepath.Join(p.dir, inboxDir, base)
	}
	return ""
}

func (u *unpacking) unpack(t *tar.Reader, want manifestFile) error {
	to := u.place(want.Name)
	h, err := t.Next()
	switch {
	case to == "":
		return u.damaged("%q is no file of a session", want.Name)
	case err != nil || h.Name != want.Name || h.Typeflag != tar.TypeReg || h.Size != want.Size:
		return u.damaged("%s is missing, or not %d bytes long", want.Name, want.Size)
	}
	if err := makeDirs(OS{}, filepath.Dir(to)); err != nil {
		return storage("make "+filepath.Dir(to), err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return storage("write "+to, err)
	}
	defer f.Close()
	if err := f.Chmod(fileMode); err != nil { // whatever the umask
		return storage("write "+to, err)
	}
	sum := sha256.New()
	wrote := &counter{w: f}
	_, err = io.Copy(io.MultiWriter(sum, wrote), t)
	switch {
	case err != nil && wrote.n < want.Size && isCut(err):
		return u.damaged("it is cut off in %s", want.Name)
	case err != nil:
		return storage("write "+to, err)
	case hex.EncodeToString(sum.Sum(nil)) != want.SHA256:
		return u.damaged("%s is not what its checksum says", want.Name)
	}
	return nil
}

func isCut(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, tar.ErrHeader)
}

// restore makes the session of what was unpacked, as a fork is made of one that
// stands beside it.
func (s *Store) restore(u *unpacking, o ImportOptions) (Import, error) {
	from := NewStore(u.dir, Options{Owner: s.owner, Now: s.now})
	id := u.m.SessionID
	l, err := from.openLog(id)
	if err != nil {
		return Import{}, err
	}
	defer l.file.Close()
	at, err := l.placeOf(id, ForkOptions{})
	if err != nil {
		return Import{}, err
	}
	v, err := from.Read(id)
	if err != nil {
		return Import{}, err
	}
	settings := v.State.Settings
	if o.Settings != nil {
		if settings, err = o.Settings(settings, true); err != nil {
			return Import{}, err
		}
	}
	j, torn, err := s.fresh(o.As, func(n int) string {
		if n == 0 {
			return id
		}
		return derived(id, "-imported", n)
	})
	if err != nil {
		return Import{}, err
	}
	defer j.Close()
	f := &forking{j: j, log: l, at: at, as: filepath.Base(j.paths.dir), out: Fork{From: id, At: at.seq}}
	artifacts := func() error { return f.keep(from.Artifacts(id)) }
	letters := func() error { return moveLetters(newInbox(from.fs, from.now, l.paths.dir), j.Inbox()) }
	finish := func() error { return f.arrive(s.owner, torn, settings) }
	if err := s.build(j, f.copy, artifacts, letters, finish); err != nil {
		return Import{}, err
	}
	return Import{Format: ExportSchema, Origin: id, State: j.state}, nil
}

// arrive says where the past comes from. From here on this process is the
// writer.
func (f *forking) arrive(owner session.Opened, torn *session.LogRepaired, settings session.Settings) error {
	st := f.j.state
	f.j.epoch = st.Epoch + 1
	owner.Attempt = st.Attempts + 1
	data := []session.Data{&owner}
	if torn != nil {
		data = append(data, torn)
	}
	data = append(data, &session.Imported{Format: ExportSchema, Origin: f.out.From})
	if !reflect.DeepEqual(settings, st.Settings) {
		data = append(data, &session.SettingsChanged{Settings: settings})
	}
	if t := st.Main().Turn; t.Open {
		data = append(data, &session.TurnEnd{Turn: t.N, Status: session.Interrupted, Reason: session.ReasonCrash})
	}
	return f.j.Append("", data...)
}

// moveLetters puts the letters of one inbox into another, under their ids.
func moveLetters(from, to *Inbox) error {
	letters, err := from.Take()
	if err != nil || len(letters) == 0 {
		return err
	}
	if err := to.furnish(); err != nil {
		return err
	}
	for _, l := range letters {
		if err := to.put(l); err != nil {
			return err
		}
	}
	return nil
}
