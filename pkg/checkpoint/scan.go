package checkpoint

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"kagent/pkg/session"
)

// maxLine bounds what is read as one line; a longer one can't have been
// written by kagent.
const maxLine = 256 << 20

// badLine is how much is kept of the end of what doesn't begin as a line does:
// a good one may stand there, see lastIn.
const badLine = 1 << 20

// promise is what the checkpoint says of the log: up to here it was durable.
type promise struct {
	Seq    int64  `json:"seq"`
	Offset int64  `json:"offset"`
	CRC    string `json:"crc"`
}

// scan is a log as it was read: its good part, and what follows it.
type scan struct {
	end  int64  // offset after the last good line
	seq  int64  // of the last good line
	crc  uint32 // of the last good line
	size int64  // bytes read in all; size > end means a torn end
}

// damage is a bad line that had been promised.
type damage struct {
	offset int64
	why    string
}

func (d *damage) Error() string { return fmt.Sprintf("byte %d: %s", d.offset, d.why) }

// scanLog reads a log once and hands its good events to apply. The first bad
// line X splits it: X is damage if and only if a good line after it, or the
// checkpoint, says that seq X was durable; otherwise everything from X on is
// torn, since unsynced lines may reach a disk in any order.
func scanLog(r io.Reader, promised promise, apply func(session.Event)) (scan, error) {
	return scanLines(r, promised, func(rec record, _, _ int64) { apply(rec.Event) })
}

// scanLines is scanLog for who wants to know where each line begins and ends.
func scanLines(r io.Reader, promised promise, apply func(rec record, at, end int64)) (scan, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	var s scan
	var bad *damage
	// It stops at the first end: the owner may be writing, and what comes later
	// would seem to follow a torn line.
	for eof := false; !eof; {
		line, n, err := readLine(br)
		if err != nil && err != io.EOF {
			return s, err
		}
		if eof = err == io.EOF; n == 0 {
			break
		}
		at := s.size
		s.size += n
		rec, lerr := decodeLine(line)
		if lerr != nil {
			rec = lastIn(line)
		}
		switch {
		case bad != nil:
			if rec.dur > s.seq {
				return s, bad
			}
			continue
		case lerr == nil:
			lerr = s.follow(rec)
		case lerr != errTornLine && lerr != errChecksum:
			return s, &damage{at, lerr.Error()}
		}
		if lerr != nil {
			bad = &damage{at, fmt.Sprintf("event %d is bad: %v", s.seq+1, lerr)}
			if promised.Seq > s.seq || rec.dur > s.seq {
				return s, bad
			}
			continue
		}
		s.end, s.seq, s.crc = s.size, rec.Seq, rec.crc
		if rec.Seq == promised.Seq && crcText(rec.crc) != promised.CRC {
			return s, &damage{at, fmt.Sprintf("event %d is not the one that the checkpoint names", rec.Seq)}
		}
		apply(rec, at, s.end)
	}
	if promised.Seq > s.seq {
		return s, &damage{s.end, fmt.Sprintf("the log ends at event %d, the checkpoint has seen event %d", s.seq, promised.Seq)}
	}
	return s, nil
}

// lastIn returns the good line that a bad one ends with: the newline between
// them was damaged, and what the good one promises still counts.
func lastIn(line []byte) record {
	i := bytes.LastIndex(line, []byte(crcOpen))
	if i <= 0 {
		return record{}
	}
	rec, err := decodeLine(line[i:])
	if err != nil {
		return record{}
	}
	return rec
}

// follow checks that rec is the line after the ones read.
func (s *scan) follow(rec record) error {
	if rec.Seq != s.seq+1 {
		return fmt.Errorf("event %d stands in its place", rec.Seq)
	}
	if rec.prev != s.crc {
		return fmt.Errorf("it does not follow the line before it")
	}
	return nil
}

// readLine returns the next line with its newline and its length; of a line
// over maxLine only the length. The line is good until the next one is read.
func readLine(br *bufio.Reader) (line []byte, n int64, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if n == 0 && err != bufio.ErrBufferFull {
			return part, int64(len(part)), err // not copied
		}
		n += int64(len(part))
		if n <= maxLine {
			line = append(line, part...)
		} else {
			line = nil
		}
		if len(line) > 2*badLine && !bytes.HasPrefix(line, []byte(crcOpen)) {
			line = append(line[:0], line[len(line)-badLine:]...)
			line[0] = 0 // so that it is not taken for a whole line
		}
		if err != bufio.ErrBufferFull {
			return line, n, err
		}
	}
}
