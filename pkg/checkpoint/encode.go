package checkpoint

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// image encodes checkpoints of one session. Messages that can't change any
// more are encoded once; where a watermark has moved, those that are left.
type image struct {
	project session.Projection
	text    bytes.Buffer // room for a head, then those messages, separated by commas
	room    int
	likely  int // how long they are likely to become
}

// encode shows the state as its owner does; a reader knows whether it lives.
// What it returns is good until the next call.
func (im *image) encode(s *session.State, at promise, alive bool) ([]byte, error) {
	top := headOf(s, at)
	top.Status, top.Reason = effective(top.Status, top.Reason, alive)
	if !alive {
		top.Owner = Owner{}
	}
	var err error
	if top.AgentState, err = agentState(s, alive); err != nil {
		return nil, err
	}
	h, err := encodeJSON(top)
	if err != nil {
		return nil, err
	}
	h = append(h[:len(h)-1], `,"messages":[`...)
	if im.project.Moved(s.Main()) {
		im.text.Truncate(im.room)
	}
	im.widen(len(h))
	if err := im.add(im.project.Settled(s.Main())); err != nil {
		return nil, err
	}
	settled := im.text.Len()
	defer im.text.Truncate(settled)
	if err := im.add(im.project.Rest(s.Main())); err != nil {
		return nil, err
	}
	im.text.WriteString("]}\n")
	whole := im.text.Bytes()[im.room-len(h):]
	copy(whole, h)
	return whole, nil
}

// widen makes room for a head of n bytes, and for some that are longer.
func (im *image) widen(n int) {
	if n <= im.room {
		return
	}
	var wider bytes.Buffer
	wider.Grow(2*n + max(im.text.Cap()-im.room, im.likely))
	wider.Write(make([]byte, 2*n))
	wider.Write(im.text.Bytes()[im.room:])
	im.text, im.room = wider, 2*n
}

// add encodes messages.
func (im *image) add(msgs []message.Message) error {
	enc := newEncoder(&im.text)
	for _, m := range msgs {
		if im.text.Len() > im.room {
			im.text.WriteByte(',')
		}
		if err := enc.Encode(chat(m)); err != nil {
			return err
		}
		im.text.Truncate(im.text.Len() - 1) // its newline
	}
	return nil
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
		im.likely = int(min(info.Size(), at.Offset))
	}
	want, err := im.encode(s, at, true)
	if err != nil {
		return false
	}
	r, buf := newReader(f), make([]byte, 64<<10)
	for len(want) > 0 {
		n, err := r.Read(buf[:min(len(want), len(buf))])
		if err != nil || !bytes.Equal(buf[:n], want[:n]) {
			return false
		}
		want = want[n:]
	}
	_, err = r.ReadByte()
	return err == io.EOF
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
