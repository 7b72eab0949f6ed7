package agent_test

import (
	"testing"

	"kagent/pkg/session"
)

// An answer counts only when the tools that are required have worked.
func TestRequiredToolsMustHaveWorked(t *testing.T) {
	for name, c := range map[string]struct {
		required []string
		status   session.Status
		reason   session.Reason
	}{
		"none":           {nil, session.Completed, ""},
		"one that did":   {[]string{"look"}, session.Completed, ""},
		"one that erred": {[]string{"look", "bad"}, session.Failed, session.ReasonTool},
		"one not called": {[]string{"other"}, session.Failed, session.ReasonTool},
	} {
		t.Run(name, func(t *testing.T) {
			bad := read("bad")
			r := newRig(t, `
replies:
  - when: {tool_results: 0}
    tool_calls: [{name: look, arguments: {v: a}}, {name: bad, arguments: {}}]
  - text: done
`, read("look"), bad, read("other"))
			r.set(func(s *session.Settings) { s.RequireTools = c.required })
			r.run("", c.status, c.reason)
			r.answer("done")
			asked := len(r.asked)
			r.run("", c.status, c.reason) // going on asks nothing again
			check(t, "requests", len(r.asked), asked)
		})
	}
}
