package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// files looks at the files of a session: who may read them, what is foreign
// among them, and whether the artifacts are what their names say.
func (v *verification) files() error {
	if err := v.private(v.paths.checkpoint); err != nil {
		return err
	}
	info, err := v.stat(v.paths.dir)
	if err != nil || info == nil || !info.IsDir() {
		return err
	}
	v.open(v.paths.dir, info)
	entries, err := v.store.fs.ReadDir(v.paths.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it is being removed
		return storage("read "+v.paths.dir, err)
	}
	for _, e := range entries {
		if err := v.entry(e); err != nil {
			return err
		}
	}
	return v.artifacts()
}

// stat describes a file, nil if it is not there (any more).
func (v *verification) stat(name string) (fs.FileInfo, error) {
	info, err := v.store.fs.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, storage("stat "+name, err)
}

func (v *verification) private(name string) error {
	info, err := v.stat(name)
	if info != nil {
		v.open(name, info)
	}
	return err
}

// open reports what others could do with a file.
func (v *verification) open(name string, info fs.FileInfo) {
	if info.Mode()&fs.ModeSymlink != 0 {
		return // what counts is that of its target
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		v.report.add(KindPermissions, name, -1, "its mode is %04o: others may use it", mode)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		v.report.add(KindPermissions, name, -1, "it belongs to user %d, not to you", st.Uid)
	}
}

// entry looks at one name in the session's directory.
func (v *verification) entry(e fs.DirEntry) error {
	name := filepath.Join(v.paths.dir, e.Name())
	info, err := v.stat(name)
	if err != nil || info == nil {
		return err
	}
	v.open(name, info)
	switch {
	case name == v.paths.lock, name == v.paths.tools:
		if !info.Mode().IsRegular() {
			v.report.add(KindFile, name, -1, "it is not a regular file")
		}
	case e.Name() == artifactsDir:
		if !info.IsDir() {
			v.report.add(KindFile, name, -1, "it is not a directory")
		}
	case !ours(e.Name()):
		v.report.add(KindNote, name, -1, "kagent did not put it there")
	}
	return nil
}

const artifactsDir = "artifacts"

// ours reports whether kagent gives such a name to a file of a session.
func ours(name string) bool {
	switch name {
	case "events.jsonl", "checkpoint.tmp", "events.tmp", importedTemp, "inbox", statusName, statusTemp, undeliveredName, modesTemp:
		return true
	}
	return strings.HasPrefix(name, "torn-") || strings.HasPrefix(name, "checkpoint.damaged") || strings.HasPrefix(name, importedName)
}

// artifacts compares what the log names with what there is.
func (v *verification) artifacts() error {
	dir := filepath.Join(v.paths.dir, artifactsDir)
	info, err := v.stat(dir)
	if err != nil {
		return err
	}
	var entries []fs.DirEntry
	if info != nil && info.IsDir() {
		if entries, err = v.store.fs.ReadDir(dir); err != nil {
			return storage("read "+dir, err)
		}
	}
	there := map[string]bool{}
	for _, e := range entries {
		if err := v.artifact(filepath.Join(dir, e.Name()), there); err != nil {
			return err
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(v.refs)) {
		if !there[ref] {
			v.report.add(KindArtifact, filepath.Join(dir, ref), -1, "it is missing; the event at byte %d of the log names it", v.refs[ref])
		}
	}
	return nil
}

// artifact looks at one file among the artifacts.
func (v *verification) artifact(name string, there map[string]bool) error {
	ref := filepath.Base(name)
	if err := v.private(name); err != nil {
		return err
	}
	if !isArtifact(ref) {
		if !strings.HasPrefix(ref, artifactTemp) {
			v.report.add(KindNote, name, -1, "kagent did not put it there")
		}
		return nil
	}
	there[ref] = true
	f, err := v.store.fs.Open(name, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it is being removed
	case errors.Is(err, errNotRegular), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENXIO):
		v.report.add(KindArtifact, name, -1, "it is not a regular file")
		return nil
	case err != nil:
		return storage("open "+name, err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, newReader(f)); err != nil {
		return storage("read "+name, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != ref {
		v.report.add(KindArtifact, name, -1, "its content is not what its name says")
	} else if _, ok := v.refs[ref]; !ok && !v.owned && !v.report.Damaged() {
		v.report.add(KindNote, name, -1, "no event names it")
	}
	return nil
}
