package agent_test

import (
	"slices"

	"kagent/pkg/session"
)

// repertoire are the sessions whose logs are cut.
func repertoire() []play {
	return slices.Concat(plainRepertoire(), plannedRepertoire(), graphRepertoire(), boundedRepertoire())
}

// Sessions of react. No reply depends on what a call in doubt brought, so that
// only what is told of it may differ.
func plainRepertoire() []play {
	return []play{
		{name: "a plain answer", end: session.Completed, script: `
replies: [{text: "a rather long answer to {{last_user}}", reasoning: hm, pieces: 5}]`},

		{name: "several steps, ids as they come", end: session.Completed, script: `
replies:
  - {when: {ordinal: 1}, text: look, tool_calls: [{name: look, id: c, arguments: {v: a}}]}
  - {when: {ordinal: 2}, tool_calls: [{name: put, id: c, arguments: {v: new, path: f}}]}
  - {when: {ordinal: 3}, tool_calls: [{name: act, id: "", arguments: {v: b}}]}
  - {when: {ordinal: 4}, tool_calls: [{name: ping, id: "shell:0", arguments: {v: d}}]}
  - {when: {ordinal: 5}, tool_calls: [{name: act, id: "", arguments: {v: b}}]}
  - text: "{{n_tool_results}} results"`},

		{name: "parallel calls", end: session.Completed, script: `
replies:
  - when: {ordinal: 1}
    tool_calls:
      - {name: act, arguments: {v: a}}
      - {name: look, arguments: {v: b}}
      - {name: put, arguments: {v: one, path: f}}
      - {name: act, arguments: {v: a}}
      - {name: put, arguments: {v: two, path: f}}
      - {name: put, arguments: {v: three, path: g}}
      - {name: ping, arguments: {v: c}}
  - text: done`},

		{name: "calls that can't run", end: session.Completed, script: `
replies:
  - when: {ordinal: 1}
    tool_calls:
      - {name: look, id: "call_x|fc_1", arguments: "{broken"}
      - {name: ghost, id: "call_x|fc_2", arguments: {v: a}}
      - {name: forbidden, id: a, arguments: {v: a}}
      - {name: act, id: a, arguments: {v: a}}
  - {when: {ordinal: 2}, tool_calls: [{name: "no such\n", arguments: "[1]"}]}
  - text: done`},

		{name: "retries", end: session.Completed, retry: true, script: `
replies:
  - {when: {ordinal: 1, attempt: {max: 2}}, text: half an answer, error: {kind: overloaded}}
  - {when: {ordinal: 1}, tool_calls: [{name: act, arguments: {v: a}}]}
  - {when: {attempt: 1}, error: {kind: network}}
  - text: done`},

		{name: "interrupted and gone on with", end: session.Completed, script: `
replies:
  - {when: {ordinal: 1}, tool_calls: [{name: act, arguments: {v: a}}]}
  - {when: {attempt: 1}, text: half an answer, error: {kind: network}}
  - {when: {attempt: 2}, error: {kind: rate_limit, retry_after: 1h}}
  - text: done`},

		{name: "a cut reply", end: session.Completed, script: `
replies:
  - {when: {ordinal: 1}, text: "one ", stop: length}
  - {when: {ordinal: 2}, text: "two ", stop: length}
  - text: three`},

		{name: "a blank reply", end: session.Completed, script: `
replies:
  - {when: {ordinal: 1}, text: "\n"}
  - {when: {ordinal: 2}, tool_calls: [{name: act, arguments: {v: a}}]}
  - {when: {ordinal: 3}, text: ""}
  - text: done`},

		{name: "three turns", end: session.Completed, prompts: []string{"second", "third"}, script: `
replies:
  - {when: {tool_results: 0}, tool_calls: [{name: act, arguments: {v: "{{last_user}}"}}]}
  - {when: {tool_results: 1, last_user: second}, tool_calls: [{name: put, arguments: {v: x, path: f}}]}
  - text: "an answer to {{last_user}}"`},

		{name: "one that says nothing", end: session.Failed, script: `replies: [{text: " "}]`},
		{name: "one that never ends", end: session.Paused, script: `replies: [{text: "x", stop: length}]`},
		{name: "one that refuses", end: session.Failed, script: `
replies:
  - {when: {ordinal: 1}, tool_calls: [{name: act, arguments: {v: a}}]}
  - {text: no, stop: refusal}`},
	}
}
