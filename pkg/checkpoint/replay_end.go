package checkpoint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"kagent/pkg/session"
)

// copy replays all that is sound, durably.
func (r *replay) copy(v *salvage) error {
	for _, f := range v.events {
		rec, err := v.event(f)
		if err != nil {
			return storage("read "+v.path, err)
		}
		if err := r.take(f, rec.Event); err != nil {
			return err
		}
	}
	if len(v.events) == 0 {
		r.holes++
		if err := r.j.put(r.saved.created(r.out.SessionID)); err != nil {
			return err
		}
	}
	if err := r.j.spill(); err != nil {
		return err
	}
	return r.j.sync()
}

// finish writes what follows from the holes for the end of the log, and where
// it comes from, durably. From here on this process is the writer.
func (r *replay) finish(owner session.Opened, tail bool, torn *session.LogRepaired) error {
	if tail {
		r.holes++
	}
	st := r.j.state
	r.j.epoch = st.Epoch + 1
	owner.Attempt = st.Attempts + 1
	data := []session.Data{&owner}
	if torn != nil {
		data = append(data, torn)
	}
	if s, ok := r.newer(); ok {
		data = append(data, &session.SettingsChanged{Settings: s})
	}
	if r.holes > 0 && !st.Main().Begun() {
		data = append(data, &session.UserMessage{Source: session.FromTask})
	}
	if err := r.j.Append("", data...); err != nil {
		return err
	}
	if err := r.doubt(); err != nil {
		return err
	}
	slices.SortStableFunc(r.out.Lost, func(a, b session.Lost) int { return int(min(max(a.Offset-b.Offset, -1), 1)) })
	data = []session.Data{&session.Repaired{From: r.from, Lost: shown(r.out.Lost), Note: r.note()}}
	if t := st.Main().Turn; t.Open {
		data = append(data, &session.TurnEnd{Turn: t.N, Status: session.Interrupted, Reason: session.ReasonCrash})
	}
	if err := r.j.Append("", data...); err != nil {
		return err
	}
	return r.j.sync()
}

// newer returns the settings that the checkpoint tells of and no sound event
// does: what the user had changed last stays in force.
func (r *replay) newer() (session.Settings, bool) {
	now := r.j.state.Settings
	if r.holes == 0 || r.saved == nil || r.saved.Log.Seq <= r.set {
		return now, false
	}
	s := r.saved.settings(now)
	return s, !reflect.DeepEqual(s, now)
}

// doubt looks at the calls that wait for a result. Where further events of
// them may be lost they were begun, as far as anybody knows, and a person's
// word may have been followed: what comes next is no first run.
func (r *replay) doubt() error {
	var scopes []string
	for name := range r.replies {
		if r.j.state.Scope(name) != nil { // a summary that was taken up has left
			scopes = append(scopes, name)
		}
	}
	slices.Sort(scopes)
	for _, name := range scopes {
		for _, c := range r.doubtful(name) {
			if c.Attempt > 0 && c.Verdict == nil {
				continue
			}
			d := &session.ToolCall{Call: c.ID, Tool: c.Wire.Name, Attempt: c.Attempt + 1, Key: c.Key, Change: c.Change}
			if err := r.j.Append(name, d); err != nil {
				return err
			}
		}
		for _, c := range r.j.state.Scope(name).Pending() {
			if c.InDoubt() {
				r.out.InDoubt = append(r.out.InDoubt, Doubt{Call: c.ID, Tool: c.Wire.Name})
			}
		}
	}
	return nil
}

// note is what the model is told of the holes. Their numbers mean nothing to
// it.
func (r *replay) note() string {
	if r.holes == 0 {
		return ""
	}
	among := ""
	slices.Sort(r.missed)
	if tools := slices.Compact(r.missed); len(tools) > 0 {
		among = " (" + strings.Join(tools, ", ") + " among them)"
	}
	return "[A part of this session's record was lost when its files were damaged. Messages may be missing above, " +
		"and tools may have run" + among + " whose calls and results do not stand here. " +
		"Check what is there before you repeat anything that has an effect.]"
}

// shown bounds what the log keeps of very many holes.
func shown(lost []session.Lost) []session.Lost {
	const most = 1000
	if len(lost) <= most {
		return append([]session.Lost{}, lost...)
	}
	rest := lost[most-1]
	rest.Why = fmt.Sprintf("%s; and %d more places", rest.Why, len(lost)-most)
	return append(slices.Clone(lost[:most-1]), rest)
}

// keep copies the artifacts that the new log names. One that is lost is said;
// the log has what the model saw of it.
func (r *replay) keep(old *Artifacts) error {
	done := map[string]bool{}
	for _, a := range r.refs {
		if done[a.Ref] {
			continue
		}
		done[a.Ref] = true
		ok, err := r.j.artifacts.copy(old, a)
		if err != nil {
			return storage("copy "+r.j.artifacts.path(a.Ref), err)
		}
		if !ok {
			r.out.Lost = append(r.out.Lost, session.Lost{Bytes: a.Bytes, Why: "artifact " + a.Ref + " is missing or damaged"})
		}
	}
	return nil
}
