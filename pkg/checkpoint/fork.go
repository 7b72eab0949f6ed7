package checkpoint

import (
	"fmt"
	"io"
	"math"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// ForkOptions say how much of a session's past a fork shares; the zero value
// means all of it.
type ForkOptions struct {
	At    int64 // up to this event
	Turns *int  // so many turns of the user; 0: nothing but the settings
}

// Fork is what became of a fork.
type Fork struct {
	From    string
	At      int64          // the last event that both share
	State   *session.State // of the new session
	Missing []string       // artifacts that the old session has lost
}

// CutError says that a session has no such place to be cut at.
type CutError struct{ ID, Why string }

func (e *CutError) Error() string { return fmt.Sprintf("session %s %s", e.ID, e.Why) }

// Fork makes the session as of the past of the session id, which is only read:
// no lock is taken, and its owner may be writing. The new one is there whole or
// not at all; what was begun in it and has no end is in doubt, under the same
// keys. Errors: *NotFoundError, *DamagedError, *VersionError, *CutError, and
// those of Create.
func (s *Store) Fork(id, as string, o ForkOptions) (Fork, error) {
	if id == as {
		return Fork{}, ErrExists
	}
	l, err := s.openLog(id)
	if err != nil {
		return Fork{}, err
	}
	defer l.file.Close()
	at, err := l.placeOf(id, o)
	if err != nil {
		return Fork{}, err
	}
	j, torn, err := s.claim(as)
	if err != nil {
		return Fork{}, err
	}
	defer j.Close()
	f := &forking{j: j, log: l, at: at, as: as, out: Fork{From: id, At: at.seq}}
	err = s.build(j, f.copy, func() error { return f.keep(s.Artifacts(id)) }, func() error { return f.finish(s.owner, torn) })
	if err != nil {
		return Fork{}, err
	}
	f.out.State = j.state
	return f.out, nil
}

// forking makes one fork.
type forking struct {
	j    *Journal
	log  logFile
	at   place
	as   string
	refs []message.Artifact
	out  Fork
}

// copy replays the past that is shared. No line before the cut is missing, so
// that numbers, and with them the ids of calls, stay what they are.
func (f *forking) copy() error {
	var failed error
	_, err := scanLog(io.NewSectionReader(f.log.file, 0, f.at.end), promise{}, func(e session.Event) {
		if failed == nil {
			failed = f.take(e)
		}
	})
	if err == nil && failed == nil && f.j.state.Seq != f.at.seq {
		err = errFenced // it is another file now
	}
	switch {
	case err != nil:
		return readError(f.out.From, f.log.paths.log, err)
	case failed != nil:
		return failed
	}
	return f.j.spill()
}

func (f *forking) take(e session.Event) error {
	rename(e, f.as, f.out.From)
	switch d := e.Data.(type) {
	case *session.Created:
		if f.at.bare {
			d.Task, d.PromptHash = "", ""
		}
	}
	f.refs = append(f.refs, session.Artifacts(e.Data)...)
	return f.j.put(e)
}

// keep takes over the artifacts that the past names.
func (f *forking) keep(old *Artifacts) error {
	done := map[string]bool{}
	for _, a := range f.refs {
		if done[a.Ref] {
			continue
		}
		done[a.Ref] = true
		ok, err := f.j.artifacts.link(old, a)
		if err != nil {
			return storage("link "+f.j.artifacts.path(a.Ref), err)
		}
		if !ok {
			f.out.Missing = append(f.out.Missing, a.Ref)
		}
	}
	return nil
}

// finish says where the past comes from. From here on this process is the
// writer.
func (f *forking) finish(owner session.Opened, torn *session.LogRepaired) error {
	st := f.j.state
	f.j.epoch = st.Epoch + 1
	owner.Attempt = st.Attempts + 1
	data := []session.Data{&owner}
	if torn != nil {
		data = append(data, torn)
	}
	data = append(data, &session.Forked{From: f.out.From, At: f.out.At})
	if t := st.Main().Turn; t.Open {
		data = append(data, &session.TurnEnd{Turn: t.N, Status: session.Interrupted, Reason: session.ReasonForked})
	}
	return f.j.Append("", data...)
}

// place is where a past ends: after the event seq, at the offset end. Bare means
// that nothing is kept but the settings.
type place struct {
	seq, end int64
	bare     bool
}

// placeOf reads a log up to its end and finds the place. What can't be gone on
// with is refused.
func (l logFile) placeOf(id string, o ForkOptions) (place, error) {
	st := &session.State{}
	c := cutter{want: math.MaxInt, at: o.At}
	if o.Turns != nil {
		c.want = *o.Turns
	}
	sc, err := scanLines(newReader(l.file), l.promised, func(rec record, at, end int64) {
		c.see(st, rec.Event, at, end)
		st.Apply(rec.Event)
		st.Forget(rec.Scope)
	})
	if err != nil {
		return place{}, readError(id, l.paths.log, err)
	}
	if err := found(id, l.paths, sc, st, l.unread); err != nil {
		return place{}, err
	}
	if err := writable(id, st); err != nil {
		return place{}, err
	}
	switch {
	case o.At < 0 || o.At > sc.seq:
		return place{}, &CutError{id, fmt.Sprintf("has the events 1 to %d, and no event %d", sc.seq, o.At)}
	case o.Turns != nil && (c.want < 0 || c.want > c.turns):
		return place{}, &CutError{id, fmt.Sprintf("can be cut after 0 to %d turns, not after %d", c.turns, c.want)}
	}
	if c.place.seq == 0 {
		c.place = place{seq: sc.seq, end: sc.end}
	}
	return c.place, nil
}

// cutter looks for the place while a log is read.
type cutter struct {
	want  int   // turns
	at    int64 // event, 0: none
	turns int   // seen
	last  place // the end of the last turn
	place place
}

// see is shown each event before it is folded into the state.
func (c *cutter) see(st *session.State, e session.Event, at, end int64) {
	if e.Seq == 1 && c.want == 0 {
		c.place = place{seq: 1, end: end, bare: true}
	}
	if e.Seq == c.at {
		c.place = place{seq: e.Seq, end: end}
	}
	if e.Scope != "" {
		return
	}
	switch d := e.Data.(type) {
	case *session.TurnEnd:
		c.last = place{seq: e.Seq, end: end}
	case *session.TurnStart:
		t := st.Main().Turn
		if d.Continues != 0 && d.Continues == t.N {
			return
		}
		if c.turns++; c.turns-1 == c.want && c.want > 0 {
			if c.place = c.last; t.Open { // nobody had ended it
				c.place = place{seq: e.Seq - 1, end: at}
			}
		}
	}
}
