package checkpoint

import "kagent/pkg/session"

// Mark closes the session's turn by a word from outside, durably: the turn that
// is over goes on only to end as end says, and what was said and not taken up
// belongs to it.
func (j *Journal) Mark(end session.TurnEnd) error {
	t := j.state.Main().Turn
	var data []session.Data
	if !t.Open {
		start := &session.TurnStart{Turn: max(t.N, 1), Continues: t.N}
		data, t.N = append(data, start), start.Turn
	}
	end.Turn = t.N
	if err := j.Append("", append(data, &end)...); err != nil {
		return err
	}
	return j.Commit()
}

// Unowned is how a session stands where no process has it.
func Unowned(s *session.State) (session.Status, session.Reason) {
	status, reason := s.Status()
	return effective(status, reason, false)
}
