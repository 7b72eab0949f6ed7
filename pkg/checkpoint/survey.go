package checkpoint

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"

	"kagent/pkg/session"
)

// A survey looks at each line of a log for itself: what a chain can't lead to
// any more may still be whole.

// find is a line that is good alone. Its text has size bytes without the
// newline, which may be missing; what follows it begins at next.
type find struct {
	seq            int64
	at, size, next int64
	crc, prev      uint32
	hole           bool // something is missing before it
}

// region is a run of bytes that are no event.
type region struct {
	at, size int64
	why      string
	copied   bool // an event that is there a second time
	used     bool
}

// survey is what there is in a log, in the order of its bytes.
type survey struct {
	finds []find
	bad   []region
	size  int64
}

// look reads a log once and hands each good event to visit.
func look(r io.Reader, visit func(record) error) (survey, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	var v survey
	for {
		line, n, err := readLine(br)
		if err != nil && err != io.EOF {
			return v, err
		}
		if n == 0 {
			return v, nil
		}
		if verr := v.line(line, n, visit); verr != nil {
			return v, verr
		}
		if err == io.EOF {
			return v, nil
		}
	}
}

// line takes n bytes up to a newline: an event, or what can be found in them.
// Each event begins with the same bytes, so that one behind a damaged newline
// is found too.
func (v *survey) line(line []byte, n int64, visit func(record) error) error {
	if left := n - int64(len(line)); left > 0 { // readLine keeps not all of what is no line
		why := errTornLine
		if line == nil {
			why = errLongLine
		}
		v.spoil(left, why)
		n -= left
	}
	if rec, text, err := decodePiece(line); err == nil {
		return v.found(rec, text, n, visit)
	}
	for len(line) > 0 {
		piece := line
		if i := bytes.Index(line[1:], []byte(crcOpen)); i >= 0 {
			piece = line[:i+1]
		}
		line = line[len(piece):]
		rec, text, err := decodePiece(piece)
		if err != nil {
			v.spoil(int64(len(piece)), err)
			continue
		}
		if err := v.found(rec, text, int64(len(piece)), visit); err != nil {
			return err
		}
	}
	return nil
}

// found takes an event whose text begins n bytes.
func (v *survey) found(rec record, text []byte, n int64, visit func(record) error) error {
	f := find{seq: rec.Seq, at: v.size, size: int64(len(text)), crc: rec.crc, prev: rec.prev}
	v.size += f.size
	if rest := n - f.size; rest <= 1 { // the newline, whatever it is now
		v.size += rest
	} else {
		v.spoil(rest, errTornLine)
	}
	f.next = v.size
	v.finds = append(v.finds, f)
	return visit(rec)
}

// decodePiece reads bytes that hold one event and end with its last brace,
// whatever has become of the newline.
func decodePiece(b []byte) (record, []byte, error) {
	text := b[:bytes.LastIndexByte(b, '}')+1]
	rec, err := decodeText(text)
	if err == nil && rec.Seq < 1 {
		err = fmt.Errorf("its number is %d", rec.Seq)
	}
	return rec, text, err
}

// decodeText reads a line that has lost its newline.
func decodeText(text []byte) (record, error) {
	return decodeLine(append(text[:len(text):len(text)], '\n'))
}

// spoil passes over bytes that are no event; those beside each other are one
// run.
func (v *survey) spoil(n int64, why error) {
	i := len(v.bad) - 1
	if i >= 0 && v.bad[i].at+v.bad[i].size == v.size {
		v.bad[i].size += n
	} else {
		v.bad = append(v.bad, region{at: v.size, size: n, why: why.Error()})
	}
	v.size += n
}

// order puts the events into the order of their numbers, one for each: lines
// that were swapped are back in their places, of two that claim one number the
// one that follows the event before it counts. The rest is spoiled.
func (v *survey) order() []find {
	byNumber := slices.Clone(v.finds)
	slices.SortStableFunc(byNumber, func(a, b find) int { return cmp.Compare(a.seq, b.seq) })
	var out []find
	var crc uint32
	for len(byNumber) > 0 {
		n := slices.IndexFunc(byNumber, func(f find) bool { return f.seq != byNumber[0].seq })
		if n < 0 {
			n = len(byNumber)
		}
		same := byNumber[:n]
		byNumber = byNumber[n:]
		pick := max(slices.IndexFunc(same, func(f find) bool { return f.prev == crc }), 0)
		for i, f := range same {
			b := region{at: f.at, size: f.next - f.at, why: fmt.Sprintf("another event %d", f.seq)}
			if b.copied = f.crc == same[pick].crc; b.copied {
				b.why = fmt.Sprintf("a second copy of event %d", f.seq)
			}
			if i != pick {
				v.bad = append(v.bad, b)
			}
		}
		out, crc = append(out, same[pick]), same[pick].crc
	}
	slices.SortStableFunc(v.bad, func(a, b region) int { return cmp.Compare(a.at, b.at) })
	return out
}

// losses says what is missing between the events, given how many there had
// been. It marks those that stand behind a hole and tells whether something
// may be missing at the end: bytes that no hole accounts for may have been
// anything.
func (v *survey) losses(events []find, promised int64) (lost []session.Lost, tail bool) {
	var last find
	for i := range events {
		f := &events[i]
		switch {
		case f.seq != last.seq+1:
			lost = append(lost, v.missing(last, f.at, session.Lost{First: last.seq + 1, Last: f.seq - 1}))
		case f.prev != last.crc:
			lost = append(lost, session.Lost{Offset: f.at, Why: fmt.Sprintf("event %d does not follow event %d", f.seq, last.seq)})
		}
		f.hole = f.seq != last.seq+1 || f.prev != last.crc
		last = *f
	}
	end := v.missing(last, v.size, session.Lost{First: last.seq + 1, Last: promised})
	if promised <= last.seq {
		end.Last = 0
	}
	if tail = promised > last.seq || end.Bytes > 0; tail {
		lost = append(lost, end)
	}
	for _, b := range v.bad {
		if !b.used {
			lost = append(lost, session.Lost{Offset: b.at, Bytes: b.size, Why: b.why})
			tail = tail || !b.copied
		}
	}
	slices.SortStableFunc(lost, func(a, b session.Lost) int { return cmp.Compare(a.Offset, b.Offset) })
	return lost, tail
}

// missing adds the bytes between the event before a hole and what follows it.
func (v *survey) missing(before find, to int64, l session.Lost) session.Lost {
	l.Offset, l.Why = before.next, "missing"
	i := sort.Search(len(v.bad), func(i int) bool { return v.bad[i].at >= before.at+before.size })
	for ; i < len(v.bad) && v.bad[i].at < to; i++ {
		b := &v.bad[i]
		if b.used || b.copied {
			continue
		}
		if l.Bytes == 0 {
			l.Why = b.why
		}
		b.used = true
		l.Bytes += b.size
	}
	return l
}
