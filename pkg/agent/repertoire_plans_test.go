package agent_test

import "kagent/pkg/session"

// Sessions of plan-solve and fusion whose logs are cut.
func plannedRepertoire() []play {
	confirm := func(s *session.Settings) { s.ConfirmPlan = true }
	return []play{
		{name: "a plan", agent: "plan-solve", end: session.Completed, script: `
replies:
  - {when: {scope: plan-1, ordinal: 1}, text: "I would look first."}
  - {when: {scope: plan-1}, text: "<think>{\"steps\":[\"no\"]}</think> Here:\n` + "```json" + `\n{\"steps\": [\"look\", \"写\", \"act\",]}\n` + "```" + `"}
  - {when: {ordinal: 1}, tool_calls: [{name: look, arguments: {v: a}}, {name: mark_step, arguments: {step: 3}}]}
  - {when: {ordinal: 2}, tool_calls: [{name: mark_step, arguments: {step: 9}}, {name: put, arguments: {v: x, path: f}}, {name: mark_step, arguments: {step: "写"}}]}
  - {when: {ordinal: 3}, text: "all done, I think"}
  - {when: {ordinal: 4}, tool_calls: [{name: act, arguments: {v: b}}, {name: mark_step, arguments: {step: 1}}, {name: mark_step, arguments: {step: 1}}]}
  - text: "done with {{n_tool_results}}"`},

		{name: "plans that fail", agent: "plan-solve", end: session.Completed, script: `
replies:
  - {when: {scope: plan-1}, tool_calls: [{name: set_plan, arguments: {steps: [first, second]}}]}
  - {when: {scope: plan-2}, tool_calls: [{name: set_plan, arguments: {steps: [other]}}]}
  - {when: {scope: plan-3}, tool_calls: [{name: set_plan, arguments: {steps: [last]}}]}
  - {when: {ordinal: 1}, tool_calls: [{name: look, arguments: {v: a}}, {name: mark_step, arguments: {step: 1}}]}
  - {when: {ordinal: {min: 2, max: 5}}, tool_calls: [{name: miss, arguments: {v: "{{ordinal}}"}}]}
  - {when: {ordinal: 6}, tool_calls: [{name: ping, arguments: {v: c}}, {name: mark_step, arguments: {step: 2}}]}
  - text: "done at last"`},

		{name: "no plan left", agent: "plan-solve", end: session.Failed, script: `
replies:
  - {when: {scope: "plan-*"}, tool_calls: [{name: set_plan, arguments: {steps: [one]}}]}
  - {text: "I try.", tool_calls: [{name: miss, arguments: {v: "{{ordinal}}"}}, {name: forbidden, arguments: {v: x}}]}`},

		{name: "no plan to be had", agent: "plan-solve", end: session.Completed, script: `
replies:
  - {when: {scope: plan-1, ordinal: 1}, tool_calls: [{name: set_plan, arguments: {steps: []}}, {name: ghost}]}
  - {when: {scope: plan-1}, text: "", stop: refusal}
  - {when: {ordinal: 1}, tool_calls: [{name: act, arguments: {v: a}}]}
  - text: done`},

		{name: "steps left over", agent: "plan-solve", end: session.Failed, script: `
replies:
  - {when: {scope: plan-1}, tool_calls: [{name: set_plan, arguments: {steps: [one, two]}}]}
  - {when: {ordinal: 1}, tool_calls: [{name: act, arguments: {v: a}}, {name: mark_step, arguments: {step: 1}}]}
  - text: "I think that will do"`},

		{name: "a plan that is shown and changed", agent: "plan-solve", set: confirm, prompts: []string{"shorter"}, approve: true, end: session.Completed, script: `
replies:
  - {when: {scope: plan-1}, tool_calls: [{name: set_plan, arguments: {steps: [one, two, three]}}]}
  - {when: {scope: plan-2}, tool_calls: [{name: set_plan, arguments: {steps: [all]}}]}
  - {when: {ordinal: 1}, tool_calls: [{name: act, arguments: {v: a}}, {name: mark_step, arguments: {step: 1}}]}
  - text: done`},

		{name: "two tasks with a plan each", agent: "plan-solve", prompts: []string{"and now?"}, end: session.Completed, script: `
replies:
  - {when: {scope: "plan-*"}, tool_calls: [{name: set_plan, arguments: {steps: ["a step of {{ordinal}}"]}}]}
  - {when: {tool_results: 0}, tool_calls: [{name: act, arguments: {v: a}}, {name: mark_step, arguments: {step: 1}}]}
  - {when: {tool_results: 2, last_user: "and now?"}, tool_calls: [{name: put, arguments: {v: b, path: f}}, {name: mark_step, arguments: {step: 1}}]}
  - text: "an answer to {{last_user}}"`},

		{name: "interrupted while it plans", agent: "plan-solve", midway: "and mind the gap", end: session.Completed, script: `
replies:
  - {when: {scope: "plan-1", attempt: 1}, error: {kind: network}}
  - {when: {scope: "plan-1*"}, tool_calls: [{name: set_plan, arguments: {steps: ["of {{last_user}}"]}}]}
  - {when: {ordinal: 1}, tool_calls: [{name: act, arguments: {v: a}}, {name: mark_step, arguments: {step: 1}}]}
  - text: done`},

		{name: "a simple task", agent: "fusion", prompts: []string{"once more"}, end: session.Completed, script: `
replies:
  - {when: {scope: "route-*"}, tool_calls: [{name: set_route, arguments: {complexity: SIMPLE, reason: 一句话}}]}
  - {when: {tool_results: 0}, tool_calls: [{name: act, arguments: {v: a}}]}
  - text: "an answer to {{last_user}}"`},

		{name: "an answer that is revised", agent: "fusion", prompts: []string{"once more"}, end: session.Completed, script: `
replies:
  - {when: {scope: "route-1", ordinal: 1}, text: "hard"}
  - {when: {scope: "route-*"}, text: "{\"complexity\": \"complex\", \"reason\": \"parts\"}"}
  - {when: {scope: "plan-*"}, tool_calls: [{name: set_plan, arguments: {steps: [one]}}]}
  - {when: {scope: verify-1}, tool_calls: [{name: give_verdict, arguments: {ok: false, feedback: "too short"}}]}
  - {when: {scope: verify-2, ordinal: 1}, text: "I am not sure."}
  - {when: {scope: "verify-*"}, tool_calls: [{name: give_verdict, arguments: {ok: true, feedback: ""}}]}
  - {when: {tool_results: 0}, tool_calls: [{name: act, arguments: {v: a}}, {name: mark_step, arguments: {step: 1}}]}
  - {when: {tool_results: 2, last_user: "too short"}, tool_calls: [{name: look, arguments: {v: c}}]}
  - {when: {tool_results: 3, last_user: "once more"}, tool_calls: [{name: mark_step, arguments: {step: 1}}]}
  - text: "answer {{ordinal}}"`},

		{name: "an answer that falls short three times", agent: "fusion", end: session.Failed, script: `
replies:
  - {when: {scope: "route-*"}, text: "no idea"}
  - {when: {scope: "plan-*"}, tool_calls: [{name: set_plan, arguments: {steps: [one]}}]}
  - {when: {scope: "verify-*"}, tool_calls: [{name: give_verdict, arguments: {ok: false, feedback: "no"}}]}
  - {when: {ordinal: 1}, tool_calls: [{name: act, arguments: {v: a}}, {name: mark_step, arguments: {step: 1}}]}
  - text: "answer {{ordinal}}"`},

		{name: "an answer that nobody judges", agent: "fusion", end: session.Failed, script: `
replies:
  - {when: {scope: "route-*"}, tool_calls: [{name: set_route, arguments: {complexity: complex, reason: parts}}]}
  - {when: {scope: "plan-*"}, text: "{\"plan\": [{\"step\": \"one\"}]}"}
  - {when: {scope: "verify-*"}, text: "fine"}
  - {when: {ordinal: 1}, tool_calls: [{name: mark_step, arguments: {step: 1}}]}
  - text: "the answer"`},

		{name: "interrupted while it is judged", agent: "fusion", midway: "in rhyme", end: session.Completed, script: `
replies:
  - {when: {scope: "route-*"}, tool_calls: [{name: set_route, arguments: {complexity: complex, reason: parts}}]}
  - {when: {scope: "plan-*"}, tool_calls: [{name: set_plan, arguments: {steps: [one]}}]}
  - {when: {scope: verify-1, attempt: 1}, text: "hm", error: {kind: overloaded}}
  - {when: {scope: "verify-*"}, tool_calls: [{name: give_verdict, arguments: {ok: true, feedback: ""}}]}
  - {when: {ordinal: 1}, tool_calls: [{name: act, arguments: {v: a}}, {name: mark_step, arguments: {step: 1}}]}
  - text: "answer {{ordinal}}"`},
	}
}
