package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// statusName is a file for those who watch a run: what it does right now. It
// promises nothing and nothing is read from it.
const (
	statusName = "status.json"
	statusTemp = "status.tmp"
)

// PutStatus replaces the session's status.json in one step, not durably. It may
// be called while the journal is used.
func (j *Journal) PutStatus(text []byte) error {
	temp := filepath.Join(j.paths.dir, statusTemp)
	if err := j.fs.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := j.fs.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = j.fs.Rename(temp, filepath.Join(j.paths.dir, statusName))
	}
	if err != nil {
		j.fs.Remove(temp)
	}
	return err
}
