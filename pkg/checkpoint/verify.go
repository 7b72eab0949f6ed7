package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"kagent/pkg/session"
)

// IDs returns the ids of all sessions, sorted; some may be no session when they
// are looked at.
func (s *Store) IDs() ([]string, error) { return s.ids() }

// verification is one look at a session.
type verification struct {
	store  *Store
	id     string
	paths  paths
	report Report
	state  session.State
	owned  bool
	dur    int64
	refs   map[string]int64 // artifacts, by the line that names them first
	saved  checkpointFile
}

// Verify looks at everything that a session has. As all readers it takes no
// lock and changes nothing; of one that is being written the part that is
// there is looked at. Errors: *NotFoundError, *StorageError.
func (s *Store) Verify(id string) (Report, error) {
	if CheckID(id) != nil {
		return Report{}, &NotFoundError{ID: id}
	}
	v := &verification{store: s, id: id, paths: pathsOf(s.dir, id), refs: map[string]int64{}}
	v.report = Report{SessionID: id, OK: true, Problems: []Problem{}}
	err := v.run()
	if as[*ForeignError](err) {
		v.report.add(KindNote, v.paths.checkpoint, -1, "another program wrote it, and it is not imported yet; `kagent resume %s` does that", id)
		err = nil
	}
	var d *DamagedError
	if errors.As(err, &d) {
		v.report.add(v.kindOf(d.Path), d.Path, d.Offset, "%s", d.Why)
		v.report.Problems[len(v.report.Problems)-1].Orphan = d.Orphan
		err = nil
	}
	if err == nil {
		err = v.files()
	}
	return v.report, err
}

func (v *verification) kindOf(path string) Kind {
	if path == v.paths.log || path == v.paths.checkpoint { // which has lost its log
		return KindLog
	}
	return KindFile
}

func (v *verification) run() error {
	// Readers take the checkpoint first: what it promises must be in the log.
	if err := v.saved.load(v.store.fs, v.paths); err != nil {
		return err
	}
	l, err := v.store.openLog(v.id)
	if err != nil {
		return err
	}
	defer l.file.Close()
	v.owned = v.store.holder(v.paths) != nil
	sc, err := scanLines(newReader(l.file), v.saved.promised, v.line)
	if err != nil {
		return v.damaged(l.file, err)
	}
	if err := found(v.id, v.paths, sc, &v.state, v.saved.missing()); err != nil {
		return err
	}
	if sc.size > sc.end && !v.owned {
		v.report.add(KindTorn, v.paths.log, sc.end, "the end of the log was torn: %d bytes that had never been promised", sc.size-sc.end)
	}
	v.checkpoint()
	return nil
}

// damaged reports the first bad place, and what else is lost.
func (v *verification) damaged(f File, err error) error {
	var d *damage
	if !errors.As(err, &d) {
		return storage("read "+v.paths.log, err)
	}
	v.report.add(KindLog, v.paths.log, d.offset, "%s", d.why)
	seen, err := look(newReader(f), func(record) error { return nil })
	if err != nil {
		return storage("read "+v.paths.log, err)
	}
	lost, _ := seen.losses(seen.order(), v.saved.promised.Seq)
	for _, l := range lost {
		if l.Offset > d.offset {
			v.report.add(KindLog, v.paths.log, l.Offset, "%s", l.What())
		}
	}
	if v.saved.bad != nil {
		v.report.add(KindCheckpoint, v.paths.checkpoint, -1, "%v", v.saved.bad)
	}
	return nil
}

// line looks at a line of the sound part of the log: at what the chain does
// not show.
func (v *verification) line(rec record, at, end int64) {
	bad := func(format string, args ...any) {
		v.report.add(KindEvent, v.paths.log, at, "event %d (%s): %s", rec.Seq, rec.Type, fmt.Sprintf(format, args...))
	}
	switch {
	case rec.dur < v.dur:
		bad("it says that less is durable than an event before it")
	case rec.dur >= rec.Seq:
		bad("it says that itself is durable already")
	case rec.Epoch < v.state.Epoch:
		bad("its epoch %d comes after %d", rec.Epoch, v.state.Epoch)
	}
	v.dur = max(v.dur, rec.dur)
	if why := v.sense(rec.Event); why != "" {
		bad("%s", why)
	}
	v.note(rec, at)
	v.state.Apply(rec.Event)
	if rec.Seq == v.saved.promised.Seq {
		v.saved.compare(&v.state, promise{Seq: rec.Seq, Offset: end, CRC: crcText(rec.crc)})
	}
}

// sense says why an event makes no sense after those before it.
func (v *verification) sense(e session.Event) string {
	sc := v.state.Scope(e.Scope)
	if sc == nil {
		sc = &session.Scope{}
	}
	_, creates := e.Data.(*session.Created)
	if first := v.state.Seq == 0; creates != first {
		return "a log begins with session/created, and only there it stands"
	}
	switch d := e.Data.(type) {
	case *session.TurnStart:
		if sc.Turn.Open {
			return fmt.Sprintf("turn %d was still open", sc.Turn.N)
		}
	case *session.TurnEnd:
		if !sc.Turn.Open {
			return "no turn was open"
		}
	case *session.ToolCall:
		return openCall(sc, d.Call)
	case *session.ToolResult:
		return openCall(sc, d.Call)
	case *session.OutcomeSettled:
		return openCall(sc, d.Call)
	}
	return ""
}

func openCall(sc *session.Scope, id session.CallID) string {
	switch c := callOf(sc, id); {
	case c == nil:
		return fmt.Sprintf("the last reply has no call %s", id)
	case c.Result != nil:
		return fmt.Sprintf("call %s has its result already", id)
	}
	return ""
}

// note takes down what is no damage, and what the artifacts must hold.
func (v *verification) note(rec record, at int64) {
	switch d := rec.Data.(type) {
	case *session.Created:
		if d.ID != v.id {
			v.report.add(KindNote, v.paths.log, at, "it was created as session %q, and copied or renamed since", d.ID)
		}
		if d.Schema != session.Schema {
			v.report.add(KindNewer, v.paths.log, at, "its log has the format %q, written by kagent %s", d.Schema, d.Version)
		}
	case session.Unknown:
		v.report.add(KindNewer, v.paths.log, at, "event %d is of the unknown kind %q", rec.Seq, d.Kind)
	}
	for _, a := range session.Artifacts(rec.Data) {
		if _, ok := v.refs[a.Ref]; !ok {
			v.refs[a.Ref] = at
		}
	}
}

// checkpoint reports what is wrong with it, once the log is read.
func (v *verification) checkpoint() {
	c := &v.saved
	name := v.paths.checkpoint
	switch {
	case errors.Is(c.bad, fs.ErrNotExist):
		if !v.owned {
			v.report.add(KindNote, name, -1, "there is no checkpoint; the log has all that it would show")
		}
	case c.bad != nil && v.store.importCut(v.paths):
		v.report.add(KindNote, name, -1, "it is still the file that the session was made of; the log has all that it would show")
	case c.bad != nil && c.schema != Schema && strings.HasPrefix(c.schema, "kagent/checkpoint/"):
		v.report.add(KindNewer, name, -1, "it has the format %q", c.schema)
	case c.bad != nil:
		v.report.add(KindCheckpoint, name, -1, "%v", c.bad)
	case c.promised.Seq == 0:
		v.report.add(KindCheckpoint, name, -1, "it names no event of the log")
	case c.differs == "":
	case c.version != v.store.owner.Version:
		v.report.add(KindNote, name, -1, "kagent %s wrote it, and this version would write %s otherwise", c.version, c.differs)
	default:
		v.report.add(KindCheckpoint, name, -1, "it differs from the log in %s", c.differs)
	}
}
