package cmd

import (
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// verdictsOn is what can be said of a call in doubt.
func verdictsOn(id session.CallID) string { return id.String() + "=done|not-done|rerun" }

// parseOutcomes reads CALL=done|not-done|rerun[:text].
func parseOutcomes(args []string, secrets *tool.Masker) ([]*session.OutcomeSettled, error) {
	var out []*session.OutcomeSettled
	for _, arg := range args {
		v := &session.OutcomeSettled{}
		call, said, ok := strings.Cut(arg, "=")
		verdict, text, _ := strings.Cut(said, ":")
		v.Verdict, v.Text = session.Verdict(verdict), secrets.Mask(message.Clean(text))
		err := v.Call.UnmarshalText([]byte(call))
		known := v.Verdict == session.VerdictDone || v.Verdict == session.VerdictNotDone || v.Verdict == session.VerdictRerun
		for _, other := range out {
			if err == nil && other.Call == v.Call {
				return nil, usageErrorf("give one", "--outcome: two of call %s", v.Call)
			}
		}
		if !ok || err != nil || !known {
			return nil, usageErrorf("want CALL=done, CALL=not-done or CALL=rerun, with :text after it if you like", "--outcome %q", arg)
		}
		out = append(out, v)
	}
	return out, nil
}

func inDoubt(s *session.State, id session.CallID) bool {
	_, c := s.Find(id)
	return c != nil && c.InDoubt()
}
