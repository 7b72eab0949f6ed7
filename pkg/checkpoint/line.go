package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"strconv"

	"kagent/pkg/session"
)

// A line begins with a field of fixed length, {"crc":"9f3a01c7", and the crc
// covers what follows it up to the newline.
const (
	crcOpen = `{"crc":"`
	crcLen  = len(crcOpen) + 8 + len(`",`)
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func crcText(c uint32) string {
	s := strconv.FormatUint(uint64(c), 16)
	return "00000000"[len(s):] + s
}

// record is a line: an event, and how it is tied to the lines around it.
type record struct {
	session.Event
	crc  uint32
	prev uint32 // crc of the line before, 0 for the first
	dur  int64  // highest seq known to be durable when it was written
}

type wireLine struct {
	Prev string `json:"prev"`
	Dur  int64  `json:"dur"`
	session.Event
}

// appendLine adds the line of r to buf and returns its crc.
func appendLine(buf *bytes.Buffer, r record) (uint32, error) {
	start := buf.Len()
	buf.WriteString(crcOpen + `00000000"`)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(wireLine{Prev: crcText(r.prev), Dur: r.dur, Event: r.Event}); err != nil {
		buf.Truncate(start)
		return 0, err
	}
	if buf.Len()-start > maxLine {
		buf.Truncate(start)
		return 0, errLongLine // readers would take it for torn
	}
	line := buf.Bytes()[start:]
	line[crcLen-1] = ',' // over the encoder's opening brace
	if err := readable(line[crcLen : len(line)-1]); err != nil {
		buf.Truncate(start)
		return 0, err
	}
	crc := checksum(line[crcLen : len(line)-1])
	copy(line[len(crcOpen):], crcText(crc))
	return crc, nil
}

var (
	errTornLine = errors.New("not a whole line")
	errChecksum = errors.New("its checksum does not fit")
	errLongLine = errors.New("the event is too large for a line of the log")
)

// decodeLine reads a line, newline included, and keeps nothing of it. An error
// other than the two above means that the bytes are what was once written, but
// make no sense.
func decodeLine(line []byte) (record, error) {
	n := len(line)
	if n < crcLen+2 || line[n-1] != '\n' || string(line[:len(crcOpen)]) != crcOpen {
		return record{}, errTornLine
	}
	if string(line[crcLen-2:crcLen]) != `",` {
		return record{}, errTornLine
	}
	body := line[crcLen : n-1]
	crc := checksum(body)
	// As text, so that a flipped bit can't hide in the case of a digit.
	if string(line[len(crcOpen):len(crcOpen)+8]) != crcText(crc) {
		return record{}, errChecksum
	}
	r, err := decodeBody(body)
	r.crc = crc
	return r, err
}
