package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"kagent/pkg/session"
)

// What can't be used is kept beside the session, never deleted.

// setAside keeps a checkpoint that can't be read, and warns: it is a
// projection, the log is the session, and the next Commit makes it anew.
func (j *Journal) setAside(rec *Recovery, why error) error {
	if j.imported() {
		return nil
	}
	name, err := j.unused("checkpoint.damaged")
	if err != nil {
		return err
	}
	aside := filepath.Join(j.paths.dir, name)
	if err := j.fs.Rename(j.paths.checkpoint, aside); err != nil {
		return storage("set aside "+j.paths.checkpoint, err)
	}
	private(j.fs, aside)
	rec.Warnings = append(rec.Warnings, fmt.Sprintf("the checkpoint was damaged (%v); kept as %s and made anew from the log", why, aside))
	return nil
}

// imported reports whether what stands in the place of the checkpoint is the file
// that the session was made of: it is kept already.
func (j *Journal) imported() bool {
	kept, err := j.fs.Lstat(filepath.Join(j.paths.dir, importedName))
	if err != nil {
		return false
	}
	there, err := j.fs.Lstat(j.paths.checkpoint)
	return err == nil && os.SameFile(kept, there)
}

// unused returns a name that nothing in the session's directory has yet.
func (j *Journal) unused(base string) (string, error) {
	name := base
	for n := 1; ; n++ {
		_, err := j.fs.Lstat(filepath.Join(j.paths.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", storage("stat "+name, err)
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
}

// cutTorn sets the torn end aside, durably, before it cuts it off.
func (j *Journal) cutTorn(sc scan) (*session.LogRepaired, error) {
	file, err := j.unused(fmt.Sprintf("torn-%d", sc.end))
	if err != nil {
		return nil, err
	}
	r := &session.LogRepaired{Offset: sc.end, Bytes: sc.size - sc.end, File: file}
	name := filepath.Join(j.paths.dir, file)
	if err := replaceFrom(j.fs, name+".tmp", name, io.NewSectionReader(j.log, sc.end, r.Bytes)); err != nil {
		return nil, storage("write "+name, err)
	}
	if err := j.log.Truncate(sc.end); err != nil {
		return nil, storage("truncate "+j.paths.log, err)
	}
	return r, nil
}
