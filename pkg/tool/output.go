package tool

import (
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"kagent/pkg/message"
)

// output keeps the head and the tail of a stream of any length, and has the
// whole of it spilled once it is longer than these.
type output struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring goes on
	keep  int    // bytes of each
	total int64
	spill spill
	log   *jobLog       // takes all of it too; nil: there is none
	mask  *StreamMasker // nil: what comes is kept as it is
}

func newOutput(keep int, store Artifacts, mask *Masker) *output {
	o := &output{keep: keep, spill: spill{store: store}}
	if mask != nil {
		o.mask = mask.Stream()
	}
	return o
}

// readFrom reads until the stream ends, in whatever way.
func (o *output) readFrom(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		o.write(buf[:n])
		if err != nil {
			return
		}
	}
}

// write takes what a command said. Secrets are masked before anything is cut
// or kept: half of one would not be recognised any more.
func (o *output) write(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mask != nil {
		b = []byte(o.mask.Write(string(b)))
	}
	o.take(b)
}

// flush takes what the masker held back; the output is at its end.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mask != nil {
		o.take([]byte(o.mask.Flush()))
	}
}

func (o *output) take(b []byte) {
	o.log.write(b)
	before := o.total
	o.total += int64(len(b))
	switch bound := int64(2 * o.keep); {
	case o.total <= bound:
	case before <= bound: // the ring has lost nothing yet
		o.spill.write(o.head, o.tail, b)
	default:
		o.spill.write(b)
	}
	if room := o.keep - len(o.head); room > 0 {
		n := min(room, len(b))
		o.head = append(o.head, b[:n]...)
		b = b[n:]
	}
	if extra := len(b) - o.keep; extra > 0 {
		b = b[extra:] // would be overwritten at once
	}
	if room := o.keep - len(o.tail); room > 0 {
		n := min(room, len(b))
		o.tail = append(o.tail, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(o.tail[o.next:], b)
		o.next = (o.next + n) % o.keep
		b = b[n:]
	}
}

// storing reports whether a piece of the output is being put away right now.
func (o *output) storing() bool {
	if o.mu.TryLock() {
		o.mu.Unlock()
		return false
	}
	return true
}

// text returns what was kept, fit to be sent, with note in what it says at the
// gap, and the number of bytes left out. The cuts fall between runes, so that
// none of them makes a character unreadable.
func (o *output) text(note string) (text string, omitted int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	head := o.head
	tail := append(append([]byte(nil), o.tail[o.next:]...), o.tail[:o.next]...)
	if o.total == int64(len(head)+len(tail)) {
		return message.Clean(string(head) + string(tail)), 0
	}
	head = wholeRunes(head)
	for range utf8.UTFMax - 1 {
		if len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	omitted = o.total - int64(len(head)+len(tail))
	return fmt.Sprintf("%s\n[… %d bytes omitted%s …]\n%s",
		message.Clean(string(head)), omitted, note, message.Clean(string(tail))), omitted
}
