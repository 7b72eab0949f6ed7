package agent_test

import (
	"fmt"
	"strings"

	"kagent/pkg/session"
)

// Sessions whose requests would pass their budget, and whose logs are cut. What
// is told of a call in doubt has another length, so that there is none.
func boundedRepertoire() []play {
	within := func(chars int) func(*session.Settings) { return func(s *session.Settings) { s.ContextChars = chars } }
	long := strings.Repeat("读 ", 150)
	looks := func(from, to int) string {
		return fmt.Sprintf("  - {when: {ordinal: {min: %d, max: %d}}, text: \"step {{ordinal}}\", tool_calls: [{name: look, id: c, arguments: {v: \"{{ordinal}} %s\"}}]}\n", from, to, long)
	}
	return []play{
		{name: "a long turn with summaries", set: within(3000), end: session.Completed, script: `
replies:
  - {when: {scope: "summarise-*"}, text: "so far, in short: {{ordinal}}", pieces: 3}
` + looks(1, 8) + `  - text: done`},

		{name: "a long turn whose summaries are empty", set: within(3000), end: session.Completed, script: `
replies:
  - {when: {scope: "summarise-*"}, text: " "}
` + looks(1, 6) + `  - text: done`},

		{name: "a long plan with summaries", agent: "plan-solve", set: within(3600), end: session.Completed, script: `
replies:
  - {when: {scope: plan-1}, tool_calls: [{name: set_plan, arguments: {steps: [look, act]}}]}
  - {when: {scope: "summarise-*"}, text: "so far, in short"}
` + looks(1, 5) + `  - {when: {ordinal: 6}, tool_calls: [{name: mark_step, arguments: {step: 1}}, {name: ping, arguments: {v: x}}]}
` + looks(7, 8) + `  - {when: {ordinal: 9}, tool_calls: [{name: mark_step, arguments: {step: 2}}]}
  - text: done`},

		{name: "a long node", agent: "orchestrator", set: within(3600), end: session.Completed, script: `
replies:
  - {when: {scope: split-1}, tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: look around}]}}]}
  - {when: {scope: "node/a/summarise-*"}, text: "so far, in short"}
  - {when: {scope: join-1}, text: done}
` + looks(1, 6) + `  - text: looked around`},
	}
}
