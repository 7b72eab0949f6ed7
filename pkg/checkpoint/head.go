package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"kagent/pkg/session"
)

var errBadCheckpoint = errors.New("bad checkpoint")

// How much of a checkpoint, and of the end of its log, is read to list it:
// together 8 KiB.
const (
	headSize = 8<<10 - tailSize
	tailSize = 512
)

// readHead reads the fields of a checkpoint up to metadata.
func readHead(fsys FS, name string) (head, error) {
	b, err := readUpTo(fsys, name, headSize)
	if err != nil {
		return head{}, err
	}
	return parseHead(b)
}

// readCheckpoint reads a checkpoint of at most limit bytes; all of it must be sound.
// With errBadCheckpoint the Log field may still have been found.
func readCheckpoint(fsys FS, name string, limit int64) ([]byte, head, error) {
	b, err := readUpTo(fsys, name, limit+1)
	if err != nil {
		return nil, head{}, err
	}
	h, err := parseHead(b)
	switch {
	case err != nil:
	case int64(len(b)) > limit:
		err = fmt.Errorf("%w: it is too large for its log", errBadCheckpoint)
	case !json.Valid(b):
		err = fmt.Errorf("%w: it is not valid JSON", errBadCheckpoint)
	default:
		err = checkKeys(b)
	}
	return b, h, err
}

// checkpointLimit bounds what is read as a checkpoint. It is a projection: the
// longest texts of a log stand in it a few times.
func checkpointLimit(log int64) int64 { return 4*log + 64<<20 }

var checkpointShape = session.ShapeOf(saved{})

// checkKeys refuses a checkpoint that other tools would read otherwise.
func checkKeys(b []byte) error {
	if err := checkpointShape.Check(b); err != nil {
		return fmt.Errorf("%w: %v", errBadCheckpoint, err)
	}
	return nil
}

// unread reports whether err is the disk's, and neither a missing nor a bad
// checkpoint.
func unread(err error) bool {
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errBadCheckpoint)
}

func readUpTo(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if errors.Is(err, errNotRegular) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
		return nil, fmt.Errorf("%w: %v", errBadCheckpoint, err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(info.Size(), limit))
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return b[:n], nil
}

// parseHead decodes key by key, because the rest of the object may be cut off.
func parseHead(b []byte) (head, error) {
	var h head
	targets := map[string]any{
		"schema": &h.Schema, "sessionId": &h.SessionID, "agentType": &h.AgentType, "status": &h.Status,
		"reason": &h.Reason, "owner": &h.Owner, "usage": &h.Usage, "costUSD": &h.CostUSD,
		"attempts": &h.Attempts, "retryAt": &h.RetryAt, "log": &h.Log, "metadata": &h.Metadata,
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return h, fmt.Errorf("%w: it is no JSON object", errBadCheckpoint)
	}
	for {
		t, err := dec.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return h, fmt.Errorf("%w: it ends before its metadata", errBadCheckpoint)
		}
		target := targets[key]
		if target == nil {
			target = new(json.RawMessage)
		}
		if err := dec.Decode(target); err != nil {
			return h, fmt.Errorf("%w: field %s: %v", errBadCheckpoint, key, err)
		}
		if key == "metadata" {
			break
		}
	}
	if err := checkKeys(append(b[:dec.InputOffset():dec.InputOffset()], '}')); err != nil {
		return h, err
	}
	if h.Schema != Schema {
		return h, fmt.Errorf("%w: its schema is %q, want %q", errBadCheckpoint, h.Schema, Schema)
	}
	return h, nil
}
