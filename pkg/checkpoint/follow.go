package checkpoint

import (
	"context"
	"io"
	"math"
	"time"

	"kagent/pkg/session"
)

// pollEvery is how often a log that is followed is looked at.
const pollEvery = 100 * time.Millisecond

// Events hands each event of a log to visit and keeps none, so that a log of
// any size can be read. With follow it goes on with what the owner appends, and
// ends when nobody holds the session or ctx ends, with its cause. Errors: as
// those of Read.
func (s *Store) Events(ctx context.Context, id string, follow bool, visit func(session.Event)) error {
	l, err := s.openLog(id)
	if a := s.foreign(err); a != nil {
		for _, e := range a.events {
			visit(e)
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer l.file.Close()
	removed := &session.State{}
	see := func(e session.Event) {
		_, removed.Removed = e.Data.(*session.Removed)
		visit(e)
	}
	alive := s.holder(l.paths) != nil // asked before the end is reached: nothing may come after it
	sc, err := scanLog(newReader(l.file), l.promised, see)
	if err != nil {
		return readError(id, l.paths.log, err)
	}
	if err := found(id, l.paths, sc, removed, l.unread); err != nil {
		return err
	}
	for follow && alive {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollEvery):
		}
		alive = s.holder(l.paths) != nil
		if sc, err = l.more(sc, see); err != nil {
			return readError(id, l.paths.log, err)
		}
	}
	return nil
}

// more reads the lines after those of sc. A line that is not whole yet is left
// for the next time.
func (l logFile) more(sc scan, visit func(session.Event)) (scan, error) {
	br := newReaderAt(io.NewSectionReader(l.file, sc.end, math.MaxInt64-sc.end))
	for {
		line, n, err := readLine(br)
		if err != nil && err != io.EOF {
			return sc, err
		}
		rec, lerr := decodeLine(line)
		if lerr != nil || sc.follow(rec) != nil {
			return sc, nil
		}
		sc.end += n
		sc.seq, sc.crc = rec.Seq, rec.crc
		visit(rec.Event)
	}
}
