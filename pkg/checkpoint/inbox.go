package checkpoint

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Inbox is what others have to say to a session, whoever runs it:
//
//	inbox/TIME-RANDOM.json   a message, whole and durable when it has this name
//	inbox/tmp-…              one that is being written, or was cut
//	inbox/cancel             asks the process that has the session to stop
//
// A message is taken once: its id goes into the log with its text, durably, and
// only then the file is removed. Whoever dies in between leaves a file whose id
// the log has, and which is only removed.
type Inbox struct {
	fs      FS
	now     func() time.Time
	session string // its directory
	dir     string
}

// Letter is a message in an inbox. Its id sorts by the time it was sent.
type Letter struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

const (
	letterLimit  = 64 << 20
	letterSuffix = ".json"
	letterTemp   = "tmp-"
	cancelName   = "cancel"
)

// Inbox returns the inbox of a session that is there. Errors: *NotFoundError,
// *DamagedError, *StorageError.
func (s *Store) Inbox(id string) (*Inbox, error) {
	if _, err := s.Summary(id); err != nil {
		return nil, err
	}
	if t, err := s.foreignAt(id); err == nil {
		return nil, &ForeignError{ID: id, Path: s.Path(id), told: t}
	}
	return newInbox(s.fs, s.now, pathsOf(s.dir, id).dir), nil
}

// Inbox is the session's own.
func (j *Journal) Inbox() *Inbox { return newInbox(j.fs, j.now, j.paths.dir) }

func newInbox(fsys FS, now func() time.Time, session string) *Inbox {
	return &Inbox{fsys, now, session, filepath.Join(session, "inbox")}
}

// Send puts a message into the inbox, durably, and returns its id.
func (b *Inbox) Send(text string) (string, error) {
	if err := b.furnish(); err != nil {
		return "", err
	}
	random := make([]byte, 8)
	rand.Read(random) // never fails
	l := Letter{Time: b.now().UTC(), Text: text}
	l.ID = fmt.Sprintf("%020d-%s", l.Time.UnixNano(), hex.EncodeToString(random))
	if err := b.put(l); err != nil {
		return "", err
	}
	return l.ID, nil
}

func (b *Inbox) put(l Letter) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	name := filepath.Join(b.dir, l.ID+letterSuffix)
	if err := replace(b.fs, filepath.Join(b.dir, letterTemp+l.ID), name, data); err != nil {
		b.fs.Remove(name) // so that whoever sends it again says it once
		return storage("write "+name, err)
	}
	return nil
}

// furnish makes the directory, but never that of a session which is gone.
func (b *Inbox) furnish() error {
	err := b.fs.Mkdir(b.dir, dirMode)
	if err == nil {
		return storage("sync "+b.session, b.fs.SyncDir(b.session))
	}
	if info, serr := b.fs.Lstat(b.dir); serr == nil && info.IsDir() {
		return nil
	}
	return storage("make "+b.dir, err)
}

// Take returns what is in the inbox, the oldest first; it stays there until
// Done. What can't be read is left alone.
func (b *Inbox) Take() ([]Letter, error) {
	entries, err := b.fs.ReadDir(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storage("read "+b.dir, err)
	}
	var letters []Letter
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), letterSuffix)
		if !ok {
			continue
		}
		if l, err := b.read(e.Name()); err == nil && l.ID == id {
			letters = append(letters, l)
		}
	}
	slices.SortStableFunc(letters, func(a, b Letter) int { return strings.Compare(a.ID, b.ID) })
	return letters, nil
}

func (b *Inbox) read(name string) (Letter, error) {
	f, err := b.fs.Open(filepath.Join(b.dir, name), os.O_RDONLY, 0)
	if err != nil {
		return Letter{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, 0, letterLimit))
	if err != nil {
		return Letter{}, err
	}
	var l Letter
	return l, json.Unmarshal(data, &l)
}

// Done removes messages that the log has.
func (b *Inbox) Done(ids []string) error {
	for _, id := range ids {
		name := filepath.Join(b.dir, id+letterSuffix)
		if err := b.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storage("remove "+name, err)
		}
	}
	return nil
}

// Empty reports whether no message waits.
func (b *Inbox) Empty() bool {
	letters, err := b.Take()
	return err == nil && len(letters) == 0
}

// AskToStop asks the process that has the session to stop. The next one that
// takes the session is not asked.
func (b *Inbox) AskToStop() error {
	if err := b.furnish(); err != nil {
		return err
	}
	name := filepath.Join(b.dir, cancelName)
	f, err := b.fs.Open(name, os.O_WRONLY|os.O_CREATE, fileMode)
	if err != nil {
		return storage("write "+name, err)
	}
	return storage("write "+name, f.Close())
}

// Asked reports whether the process that has the session is asked to stop.
func (b *Inbox) Asked() bool {
	_, err := b.fs.Lstat(filepath.Join(b.dir, cancelName))
	return err == nil
}

// heed forgets what an earlier process was asked.
func (b *Inbox) heed() {
	if b.Asked() {
		b.fs.Remove(filepath.Join(b.dir, cancelName))
	}
}
