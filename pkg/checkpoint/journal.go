package checkpoint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kagent/pkg/session"
)

// Journal is an open session: its log, and the state that is the log's fold.
// Only its owner has one. It is not safe for concurrent use: appends are
// serial.
type Journal struct {
	fs     FS
	now    func() time.Time
	paths  paths
	log    File
	lock   File
	tools  File
	handed *os.File // a duplicate of tools, for children to inherit
	made   bool     // the session's directory was made by this journal

	state *session.State
	end   int64  // offset after the last line
	room  int64  // offset up to which room is reserved, 0 for none
	crc   uint32 // of the last line
	dur   int64  // highest seq known to be durable
	epoch int64
	dead  error // set for ever by a failed sync, or a write that can't be undone

	artifacts *Artifacts

	buf     bytes.Buffer
	image   image
	pending []session.Event // not yet reported as durable
	report  func(session.Event)
}

// State returns the fold of the log. It changes with each Append.
func (j *Journal) State() *session.State { return j.state }

// ToolsLock is the descriptor that tools inherit: while one of them holds it,
// nothing runs in this session.
func (j *Journal) ToolsLock() *os.File { return j.handed }

// Append writes events to the log, not yet durably, and folds them into the
// state. After an error nothing was appended.
func (j *Journal) Append(scope string, data ...session.Data) error {
	if j.dead != nil {
		return j.dead
	}
	if err := j.fence(); err != nil {
		return err
	}
	j.buf.Reset()
	crc, seq := j.crc, j.state.Seq
	events := make([]session.Event, len(data))
	for i, d := range data {
		seq++
		events[i] = session.Event{Seq: seq, Epoch: j.epoch, Time: j.now().UTC(), Scope: scope, Type: d.Type(), Data: d}
		var err error
		if crc, err = appendLine(&j.buf, record{Event: events[i], prev: crc, dur: j.dur}); err != nil {
			return storage("encode "+string(d.Type()), err)
		}
	}
	if err := j.write(j.buf.Bytes()); err != nil {
		return err
	}
	j.crc = crc
	for _, e := range events {
		j.state.Apply(e)
		j.keep(e)
	}
	if j.buf.Cap() > 1<<20 {
		j.buf = bytes.Buffer{}
	}
	return nil
}

// keep holds an event back until it is durable; chunks are in the log only.
func (j *Journal) keep(e session.Event) {
	if _, chunk := e.Data.(*session.AssistantChunk); j.report != nil && !chunk {
		j.pending = append(j.pending, e)
	}
}

// write puts b at the end of the log. A failed or short write is cut back; if
// that fails too, the journal is dead.
func (j *Journal) write(b []byte) error {
	n, err := j.log.WriteAt(b, j.end)
	if err == nil {
		j.end += int64(n)
		return nil
	}
	err = storage("write "+j.paths.log, err)
	if terr := j.cutBack(); terr != nil {
		j.dead = err
	}
	return err
}

// cutBack takes from the log what stands behind its last line: bytes of a
// failed write, room that was reserved.
func (j *Journal) cutBack() error {
	j.room = 0
	return j.log.Truncate(j.end)
}

// Sync makes all appended events durable. A failed sync is final: the kernel
// may have dropped the pages, so that a second one would prove nothing.
func (j *Journal) Sync() error {
	if err := j.sync(); err != nil {
		return err
	}
	j.flush()
	return nil
}

func (j *Journal) sync() error {
	if j.dead != nil {
		return j.dead
	}
	if j.dur == j.state.Seq {
		return nil
	}
	if err := j.log.Sync(); err != nil {
		j.dead = storage("sync "+j.paths.log, err)
		return j.dead
	}
	j.dur = j.state.Seq
	return nil
}

// Commit makes all appended events durable and replaces the checkpoint; only
// then are they reported.
func (j *Journal) Commit() error {
	if err := j.sync(); err != nil {
		return err
	}
	if err := j.fence(); err != nil {
		return err
	}
	data, err := j.image.encode(j.state, promise{Seq: j.state.Seq, Offset: j.end, CRC: crcText(j.crc)}, true)
	if err == nil {
		err = replace(j.fs, j.paths.temp, j.paths.checkpoint, data)
	}
	if full(err) && j.release() { // perhaps that was all that was missing
		err = replace(j.fs, j.paths.temp, j.paths.checkpoint, data)
	}
	if err != nil {
		return storage(fmt.Sprintf("the log is stored up to event %d, but not the checkpoint %s", j.dur, j.paths.checkpoint), err)
	}
	j.flush()
	return nil
}

func (j *Journal) flush() {
	for _, e := range j.pending {
		j.report(e)
	}
	j.pending = nil
}

// fence checks that the log and the lock are still the files this journal
// opened, and the log as long as it left it: an owner that was stopped for
// long may have lost them.
func (j *Journal) fence() error {
	if j.dead != nil {
		return j.dead
	}
	for _, f := range []struct {
		file File
		path string
		size int64
	}{{j.log, j.paths.log, j.end}, {j.lock, j.paths.lock, -1}} {
		mine, err := f.file.Stat()
		if err != nil {
			return storage("stat "+f.path, err)
		}
		there, err := j.fs.Lstat(f.path)
		if err != nil || !os.SameFile(mine, there) || f.size >= 0 && there.Size() != f.size {
			j.dead = storage("fence "+f.path, errFenced)
			return j.dead
		}
	}
	return nil
}

// Close gives the session up. It does not sync: what matters was synced.
func (j *Journal) Close() error {
	j.release()
	var first error
	if j.handed != nil {
		first = j.handed.Close()
	}
	for _, f := range []File{j.log, j.tools, j.lock} {
		if f == nil {
			continue
		}
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// paths are the files of one session.
type paths struct {
	dir, log, lock, tools, temp, checkpoint string
}

func pathsOf(dir, id string) paths {
	d := filepath.Join(dir, id)
	return paths{
		dir: d, log: filepath.Join(d, "events.jsonl"), lock: filepath.Join(d, "lock"),
		tools: filepath.Join(d, "tools.lock"), temp: filepath.Join(d, "checkpoint.tmp"),
		checkpoint: filepath.Join(dir, id+".json"),
	}
}
