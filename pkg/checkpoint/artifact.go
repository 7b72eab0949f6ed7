package checkpoint

import (
	"encoding/hex"
	"errors"
	"hash"

	"kagent/pkg/message"
)

// Artifact is one output that is being written.
type Artifact struct {
	store  *Artifacts
	number int
	temp   string
	file   File // nil once it is closed
	sum    hash.Hash
	size   int64
	cut    bool
	err    error // why nothing more is written
}

// Write takes what the limit leaves room for and passes over the rest. A
// failure gives up at once what was written: a full disk needs the room.
func (a *Artifact) Write(b []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	part := b
	if room := a.store.limit - a.size; int64(len(part)) > room {
		part, a.cut = part[:room], true
	}
	if len(part) == 0 {
		return len(b), nil
	}
	n, err := a.file.WriteAt(part, a.size)
	if err != nil {
		a.end(err)
		return n, err
	}
	a.sum.Write(part)
	a.size += int64(n)
	return len(b), nil
}

// Keep makes the artifact durable, under the name that it returns.
func (a *Artifact) Keep() (message.Artifact, error) {
	if a.err != nil {
		return message.Artifact{}, a.err
	}
	kept := message.Artifact{Ref: hex.EncodeToString(a.sum.Sum(nil)), Bytes: a.size, Cut: a.cut}
	err := a.file.Sync()
	if cerr := a.close(); err == nil {
		err = cerr
	}
	if err == nil {
		// Over the same bytes, if they were kept before.
		err = a.store.fs.Rename(a.temp, a.store.path(kept.Ref))
	}
	if err != nil {
		a.end(err)
		return message.Artifact{}, err
	}
	a.err = errEnded
	a.store.give(a.number)
	if err := a.store.sync(); err != nil {
		return message.Artifact{}, err
	}
	return kept, nil
}

var errEnded = errors.New("the artifact is closed")

// Discard gives the artifact up, unless it was kept.
func (a *Artifact) Discard() {
	if a.err == nil {
		a.end(errEnded)
	}
}

// end removes what was written.
func (a *Artifact) end(why error) {
	a.err = why
	a.close()
	_ = a.store.fs.Remove(a.temp) // or the next opening does
	a.store.give(a.number)
}

func (a *Artifact) close() error {
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}
