package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"kagent/pkg/session"
)

// decodeBody reads what the crc covers. Its fields are those that appendLine
// writes, each once, in that order and form, so that no two readers can see
// different events in one line. Only data may hold more than is known here.
func decodeBody(b []byte) (record, error) {
	r, data, err := openBody(b)
	if err != nil {
		return record{}, err
	}
	if r.Data, err = session.DecodeData(r.Type, data); err != nil {
		return record{}, err
	}
	return r, nil
}

// readable reports what of a body that was just encoded its readers would
// refuse: it would be a session that is damaged as soon as it is written.
func readable(b []byte) error {
	r, data, err := openBody(b)
	if err != nil {
		return err
	}
	return session.CheckData(r.Type, data)
}

// openBody reads all of a body but its data.
func openBody(b []byte) (record, []byte, error) {
	f := envelope{rest: b}
	var r record
	r.prev = f.checksum("prev")
	r.dur, r.Seq, r.Epoch = f.number("dur"), f.number("seq"), f.number("epoch")
	if raw := f.field("time", '"'); f.err == nil && r.Time.UnmarshalJSON(raw) != nil {
		f.fail("time")
	}
	r.Scope, r.Type = f.text("scope"), session.Type(f.text("type"))
	data := f.last("data")
	return r, data, f.err
}

// envelope takes fields from the beginning of an object, up to the first that is
// not as it should be.
type envelope struct {
	rest []byte
	err  error
}

func (f *envelope) fail(name string) {
	if f.err == nil {
		f.err = fmt.Errorf("its field %s is missing, in another place or not well written", name)
	}
}

// open passes over a name.
func (f *envelope) open(name string) bool {
	n := len(name)
	ok := f.err == nil && len(f.rest) > n+3 && f.rest[0] == '"' && string(f.rest[1:n+1]) == name && f.rest[n+1] == '"' && f.rest[n+2] == ':'
	if !ok {
		f.fail(name)
		return false
	}
	f.rest = f.rest[n+3:]
	return true
}

// field takes a field that is no object or list and is followed by another. A
// quote says that it is a string.
func (f *envelope) field(name string, quote byte) []byte {
	if !f.open(name) {
		return nil
	}
	end := 0
	if quote != 0 {
		if f.rest[0] != quote {
			f.fail(name)
			return nil
		}
		for end = 1; end < len(f.rest) && f.rest[end] != quote; end++ {
			if f.rest[end] == '\\' {
				end++
			}
		}
		end++
	} else {
		end = bytes.IndexByte(f.rest, ',')
	}
	if end < 0 || end >= len(f.rest) || f.rest[end] != ',' {
		f.fail(name)
		return nil
	}
	raw := f.rest[:end]
	f.rest = f.rest[end+1:]
	return raw
}

// number takes a whole number as it is written: no sign but minus, no zeros
// before it.
func (f *envelope) number(name string) int64 {
	raw := f.field(name, 0)
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != string(raw) {
		f.fail(name)
	}
	return n
}

func (f *envelope) checksum(name string) uint32 {
	raw := bytes.Trim(f.field(name, '"'), `"`)
	n, err := strconv.ParseUint(string(raw), 16, 32)
	if err != nil || crcText(uint32(n)) != string(raw) {
		f.fail(name)
	}
	return uint32(n)
}

func (f *envelope) text(name string) string {
	raw := f.field(name, '"')
	for _, c := range raw {
		if c < ' ' || c == '\\' || c >= 0x80 {
			var s string
			if json.Unmarshal(raw, &s) != nil {
				f.fail(name)
			}
			return s
		}
	}
	return string(bytes.Trim(raw, `"`))
}

// last takes the value of the last field: all up to the end of the object.
func (f *envelope) last(name string) []byte {
	if !f.open(name) {
		return nil
	}
	n := len(f.rest) - 1
	if n == 0 || f.rest[n] != '}' {
		f.fail(name)
	}
	return f.rest[:n]
}
