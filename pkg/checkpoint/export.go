package checkpoint

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"kagent/pkg/session"
)

// An export is a session in one file: a tar archive, so that others can look
// into it, of
//
//	manifest.json     what there is, each with its size and SHA-256
//	events.jsonl      the log, up to the event that was the last one then
//	checkpoint.json   the checkpoint at that event
//	artifacts/HASH    what the log names
//	inbox/ID.json     messages that nobody had taken yet
//	manifest.sha256   the SHA-256 of manifest.json; last, so that a cut shows

// ExportSchema names the format of an export.
const ExportSchema = "kagent/export/v1"

const (
	manifestName = "manifest.json"
	manifestSum  = "manifest.sha256"
	exportedLog  = "events.jsonl"
	exportedFold = "checkpoint.json"
	inboxDir     = "inbox"
)

// manifest is the first file of an export.
type manifest struct {
	Schema    string         `json:"schema"`
	SessionID string         `json:"sessionId"`
	Version   string         `json:"version"`
	Seq       int64          `json:"seq"` // of the last event
	CreatedAt time.Time      `json:"createdAt"`
	Files     []manifestFile `json:"files"`
}

type manifestFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Export is what was exported.
type Export struct {
	Seq     int64
	Bytes   int64
	SHA256  string   // of the whole
	Missing []string // artifacts that the session has lost
	Open    bool     // a turn was open: the session runs, or has crashed
}

// exporting is one export.
type exporting struct {
	store *Store
	id    string
	log   logFile
	state *session.State
	at    promise
	refs  map[string]bool
	parts []part
	out   Export
}

// part is a file of the export.
type part struct {
	name string
	size int64
	open func() (io.ReadCloser, error)
}

// Export writes a session to w. It is only read: no lock is taken, and its owner
// may be writing. Errors: *NotFoundError, *DamagedError, *StorageError, and
// those of w.
func (s *Store) Export(id string, w io.Writer) (Export, error) {
	l, err := s.openLog(id)
	if err != nil {
		return Export{}, err
	}
	defer l.file.Close()
	x := &exporting{store: s, id: id, log: l, state: &session.State{}, refs: map[string]bool{}}
	if err := x.read(); err != nil {
		return Export{}, err
	}
	if err := x.collect(); err != nil {
		return Export{}, err
	}
	sum := sha256.New()
	counted := &counter{w: io.MultiWriter(w, sum)}
	if err := x.write(tar.NewWriter(counted)); err != nil {
		return Export{}, err
	}
	x.out.Bytes, x.out.SHA256, x.out.Seq = counted.n, hex.EncodeToString(sum.Sum(nil)), x.at.Seq
	return x.out, nil
}

// read folds the log and notes which artifacts it names.
func (x *exporting) read() error {
	sc, err := scanLog(newReader(x.log.file), x.log.promised, func(e session.Event) {
		x.state.Apply(e)
		for _, a := range session.Artifacts(e.Data) {
			x.refs[a.Ref] = true
		}
	})
	if err != nil {
		return readError(x.id, x.log.paths.log, err)
	}
	x.at = promise{Seq: sc.seq, Offset: sc.end, CRC: crcText(sc.crc)}
	x.out.Open = x.state.Main().Turn.Open
	return found(x.id, x.log.paths, sc, x.state, x.log.unread)
}

// collect lists the files.
func (x *exporting) collect() error {
	var im image
	fold, err := im.encode(x.state, x.at, false)
	if err != nil {
		return storage("encode the checkpoint of "+x.id, err)
	}
	x.parts = []part{
		{exportedLog, x.at.Offset, func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(x.log.file, 0, x.at.Offset)), nil
		}},
		inMemory(exportedFold, fold),
	}
	artifacts := x.store.Artifacts(x.id)
	for _, ref := range slices.Sorted(maps.Keys(x.refs)) {
		p, ok := x.artifact(artifacts, ref)
		if !ok {
			x.out.Missing = append(x.out.Missing, ref)
			continue
		}
		x.parts = append(x.parts, p)
	}
	letters, err := newInbox(x.store.fs, x.store.now, x.log.paths.dir).Take()
	if err != nil {
		return err
	}
	for _, l := range letters {
		if text, err := json.Marshal(l); err == nil && !x.state.Took(l.ID) {
			x.parts = append(x.parts, inMemory(path.Join(inboxDir, l.ID+letterSuffix), text))
		}
	}
	return nil
}

func (x *exporting) artifact(artifacts *Artifacts, ref string) (part, bool) {
	if !isArtifact(ref) {
		return part{}, false
	}
	name := filepath.Join(artifacts.dir, ref)
	info, err := x.store.fs.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return part{}, false
	}
	return part{path.Join(artifactsDir, ref), info.Size(), func() (io.ReadCloser, error) {
		f, err := x.store.fs.Open(name, os.O_RDONLY, 0)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.NewSectionReader(f, 0, math.MaxInt64), f}, nil
	}}, true
}

func inMemory(name string, b []byte) part {
	return part{name, int64(len(b)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

// write writes the archive. Each file is read twice: its sum stands before it.
func (x *exporting) write(w *tar.Writer) error {
	m := manifest{Schema: ExportSchema, SessionID: x.id, Version: x.store.owner.Version, Seq: x.at.Seq, CreatedAt: x.store.now().UTC()}
	for _, p := range x.parts {
		sum := sha256.New()
		if err := p.copy(sum); err != nil {
			return err
		}
		m.Files = append(m.Files, manifestFile{p.name, p.size, hex.EncodeToString(sum.Sum(nil))})
	}
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	all := append([]part{inMemory(manifestName, text)}, x.parts...)
	all = append(all, inMemory(manifestSum, []byte(hex.EncodeToString(sum[:])+"\n")))
	for _, p := range all {
		if err := w.WriteHeader(&tar.Header{Name: p.name, Mode: int64(fileMode), Size: p.size, ModTime: m.CreatedAt.Truncate(time.Second), Format: tar.FormatPAX}); err != nil {
			return err
		}
		if err := p.copy(w); err != nil {
			return err
		}
	}
	return w.Close()
}

// copy copies a file that has to be as long as it was.
func (p part) copy(w io.Writer) error {
	r, err := p.open()
	if err != nil {
		return storage("open "+p.name, err)
	}
	defer r.Close()
	n, err := io.CopyN(w, r, p.size)
	if errors.Is(err, io.EOF) {
		return storage("read "+p.name, fmt.Errorf("it became shorter: %d bytes of %d", n, p.size))
	}
	return err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
