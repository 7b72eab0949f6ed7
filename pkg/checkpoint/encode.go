package checkpoint

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// image encodes checkpoints of one session. Messages that can't change any
// more are encoded once.
type image struct {
	project session.Projection
	settled bytes.Buffer // encoded, separated by commas
	out     []byte       // the last checkpoint
}

// encode shows the state as its owner does; a reader knows whether it lives.
// What it returns is good until the next call.
func (im *image) encode(s *session.State, at promise, alive bool) ([]byte, error) {
	parts, err := im.parts(s, at, alive)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	im.out = slices.Grow(im.out[:0], n)
	for _, p := range parts {
		im.out = append(im.out, p...)
	}
	return im.out, nil
}

// parts are a checkpoint in pieces.
func (im *image) parts(s *session.State, at promise, alive bool) ([][]byte, error) {
	top := headOf(s, at)
	top.Status, top.Reason = effective(top.Status, top.Reason, alive)
	if !alive {
		top.Owner = Owner{}
	}
	h, err := encodeJSON(top)
	if err != nil {
		return nil, err
	}
	if err := appendMessages(&im.settled, im.project.Settled(s.Main())); err != nil {
		return nil, err
	}
	var rest bytes.Buffer
	if err := appendMessages(&rest, im.project.Rest(s.Main())); err != nil {
		return nil, err
	}
	comma := ""
	if im.settled.Len() > 0 && rest.Len() > 0 {
		comma = ","
	}
	return [][]byte{h[:len(h)-1], []byte(`,"messages":[`), im.settled.Bytes(), []byte(comma), rest.Bytes(), []byte("]}\n")}, nil
}

// shows reports whether a file is the checkpoint that the owner wrote of the
// state.
func (im *image) shows(fsys FS, name string, s *session.State, at promise) bool {
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		im.settled.Grow(int(min(info.Size(), at.Offset))) // about as much as there is
	}
	parts, err := im.parts(s, at, true)
	if err != nil {
		return false
	}
	r := newReader(f)
	buf := make([]byte, 64<<10)
	for _, p := range parts {
		for len(p) > 0 {
			n, err := r.Read(buf[:min(len(p), len(buf))])
			if err != nil || !bytes.Equal(buf[:n], p[:n]) {
				return false
			}
			p = p[n:]
		}
	}
	_, err = r.ReadByte()
	return err == io.EOF
}

func appendMessages(out *bytes.Buffer, msgs []message.Message) error {
	enc := newEncoder(out)
	for _, m := range msgs {
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		if err := enc.Encode(chat(m)); err != nil {
			return err
		}
		out.Truncate(out.Len() - 1) // its newline
	}
	return nil
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := newEncoder(&b).Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
