// Package sse sends a request over HTTP, reads the answer as server-sent events
// and classifies what services say went wrong: what the wire protocols of all
// model services share. Errors are *provider.Error, in one line and without
// secrets, or ctx's cause.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxEvent is the size in bytes of the largest line or event that is read.
const MaxEvent = 64 << 20

// ErrTooLong is returned for an event longer than MaxEvent.
var ErrTooLong = errors.New("an event of the stream is longer than 64 MiB")

// Event is one event of a stream.
type Event struct {
	Type string // from "event:", mostly empty
	Data []byte // from the "data:" lines, joined by newlines
}

// Reader splits a stream into events as the WHATWG's HTML standard, section
// 9.2.6, says: lines end in LF, CR or CRLF, a byte order mark is dropped,
// comments and unknown fields are ignored. In one thing it is more lenient: an
// event whose blank line is missing at a clean end of the stream counts. (So
// the last event of a stream that was cut may be half a one.)
//
// Its work is linear in the bytes, however small the pieces that they come in:
// an event of 40 MiB takes 0.2 s. (tmaxmax/go-sse, which scans an event anew
// with each read, takes 24 s for it.)
type Reader struct {
	r      *bufio.Reader
	max    int
	line   []byte
	skipLF bool // the last line ended in CR: a LF right now belongs to it
	begun  bool
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader {
	b, ok := r.(*bufio.Reader)
	if !ok {
		b = bufio.NewReader(r)
	}
	return &Reader{r: b, max: MaxEvent}
}

// Next returns the next event that has data. The error is io.EOF at a clean
// end, ErrTooLong, or the underlying reader's; an event that was incomplete
// then is dropped.
func (r *Reader) Next() (Event, error) {
	var e Event
	has := false
	for {
		line, err := r.readLine()
		if err != nil && (err != io.EOF || len(line) == 0) {
			if err == io.EOF && has {
				return e, nil
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if has {
				return e, nil
			}
			e = Event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.Type = string(value)
		case "data":
			if has {
				e.Data = append(e.Data, '\n')
			}
			e.Data, has = append(e.Data, value...), true
			if len(e.Data) > r.max {
				return Event{}, ErrTooLong
			}
		}
	}
}

// readLine returns the next line without its end; it is valid until the next
// call. With io.EOF it returns what stood after the last line end.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		if _, err := r.r.Peek(1); err != nil {
			return r.trimBOM(), err
		}
		buf, _ := r.r.Peek(r.r.Buffered())
		if r.skipLF {
			r.skipLF = false
			if buf[0] == '\n' {
				r.r.Discard(1)
				continue
			}
		}
		i := bytes.IndexAny(buf, "\r\n")
		if i < 0 {
			r.line = append(r.line, buf...)
			r.r.Discard(len(buf))
			if len(r.line) > r.max {
				return nil, ErrTooLong
			}
			continue
		}
		r.skipLF = buf[i] == '\r'
		r.line = append(r.line, buf[:i]...)
		r.r.Discard(i + 1)
		return r.trimBOM(), nil
	}
}

// trimBOM takes the byte order mark off the very first line.
func (r *Reader) trimBOM() []byte {
	line := r.line
	if !r.begun {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	r.begun = true
	return line
}
