package agent_test

import "kagent/pkg/session"

// Sessions of the orchestrator whose logs are cut.
func graphRepertoire() []play {
	return []play{
		{name: "a graph", agent: "orchestrator", end: session.Completed, script: `
replies:
  - when: {scope: split-1, ordinal: 1}
    tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: look, needs: [b]}, {id: b, task: act, needs: [a]}]}}]
  - when: {scope: split-1}
    text: "like so: {\"nodes\": [{\"id\": \"a\", \"task\": \"look\"}, {\"id\": \"乙\", \"task\": \"act\", \"deps\": []}, {\"id\": \"c\", \"task\": \"put\", \"depends_on\": [\"a\", \"乙\"]}, {\"id\": \"d\", \"task\": \"alone\"},]}"
  - {when: {scope: node/a, ordinal: 1}, tool_calls: [{name: look, arguments: {v: a}}, {name: ping, arguments: {v: a}}]}
  - {when: {scope: node/乙, ordinal: 1}, tool_calls: [{name: act, arguments: {v: b}}, {name: put, arguments: {v: b, path: b}}]}
  - {when: {scope: node/乙, ordinal: 2}, tool_calls: [{name: act, arguments: {v: bb}}]}
  - {when: {scope: node/c, ordinal: 1}, tool_calls: [{name: put, arguments: {v: c, path: c}}]}
  - {when: {scope: node/d, ordinal: 1}, text: "half ", stop: length}
  - {when: {scope: join-1}, text: "all of it"}
  - text: "brought by {{ordinal}}"`},

		{name: "nodes that fail", agent: "orchestrator", end: session.Failed, script: `
replies:
  - when: {scope: split-1}
    tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: a}, {id: b, task: b}, {id: c, task: c, needs: [b]}, {id: d, task: d, needs: [c, a]}]}}]
  - {when: {scope: node/a}, error: {kind: content_filter}}
  - {when: {scope: node/a/try-2}, text: "a"}
  - {when: {scope: "node/b*", ordinal: 1}, tool_calls: [{name: act, arguments: {v: b}}]}
  - {when: {scope: "node/b*"}, text: ""}
  - {when: {scope: join-1}, text: "a part of it"}`},

		{name: "a join that finds gaps", agent: "orchestrator", end: session.Completed, script: `
replies:
  - {when: {scope: split-1}, tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: a}]}}]}
  - {when: {scope: join-1, ordinal: 1}, tool_calls: [{name: add_nodes, arguments: {nodes: [{id: a, task: again}]}}]}
  - {when: {scope: join-1}, tool_calls: [{name: add_nodes, arguments: {nodes: [{id: b, task: b, needs: [a]}, {id: c, task: c}]}}]}
  - {when: {scope: join-2}, tool_calls: [{name: add_nodes, arguments: {nodes: [{id: d, task: d, needs: [b, c]}]}}]}
  - {when: {scope: join-3, ordinal: 1}, tool_calls: [{name: add_nodes, arguments: {nodes: [{id: e, task: e}]}}]}
  - {when: {scope: join-3}, text: "all of it"}
  - {when: {scope: node/b, ordinal: 1}, tool_calls: [{name: act, arguments: {v: b}}]}
  - {when: {scope: "node/*"}, text: "brought"}`},

		{name: "a join that fails", agent: "orchestrator", end: session.Failed, script: `
replies:
  - {when: {scope: split-1, ordinal: {max: 2}}, text: "no"}
  - {when: {scope: "node/task", ordinal: 1}, tool_calls: [{name: act, arguments: {v: b}}]}
  - {when: {scope: "node/*"}, text: "brought"}
  - {when: {scope: "join-*"}, text: " "}`},

		{name: "interrupted nodes", agent: "orchestrator", end: session.Completed, script: `
replies:
  - when: {scope: split-1}
    tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: a}, {id: b, task: b}, {id: c, task: c, needs: [a, b]}]}}]
  - {when: {scope: split-1}, error: {kind: network}}
  - {when: {scope: "node/a", ordinal: 2, attempt: 1}, text: "ha", error: {kind: network}}
  - {when: {scope: "node/b", ordinal: 2, attempt: 1}, error: {kind: rate_limit, retry_after: 1h}}
  - {when: {scope: "node/*", ordinal: 1}, tool_calls: [{name: act, arguments: {v: b}}, {name: look, arguments: {v: b}}]}
  - {when: {scope: "node/*"}, text: "brought {{n_tool_results}}"}
  - {when: {scope: join-1, attempt: 1}, error: {kind: server}}
  - {when: {scope: "join-*"}, text: joined}`},

		{name: "two tasks with a graph each", agent: "orchestrator", prompts: []string{"and now?"}, end: session.Completed, script: `
replies:
  - {when: {scope: "split-*"}, tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: a}, {id: b, task: b, needs: [a]}]}}]}
  - {when: {scope: "node/a"}, text: ""}
  - {when: {scope: "node/b/task-2"}, text: ""}
  - {when: {scope: "node/*", ordinal: 1}, tool_calls: [{name: act, arguments: {v: b}}]}
  - {when: {scope: "node/*"}, text: "brought {{n_tool_results}}"}
  - {when: {scope: "join-1"}, text: "joined first"}
  - {when: {scope: "join-*"}, text: "joined then"}`},

		{name: "interrupted nodes that are told", agent: "orchestrator", midway: "in rhyme", end: session.Completed, script: `
replies:
  - {when: {scope: "split-*"}, tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: a}, {id: b, task: b, needs: [a]}]}}]}
  - {when: {scope: "node/a", ordinal: 2, attempt: 1}, error: {kind: network}}
  - {when: {scope: "node/*", ordinal: 1}, tool_calls: [{name: act, arguments: {v: b}}]}
  - {when: {scope: "node/*"}, text: "brought for {{last_user}}"}
  - {when: {scope: "join-*"}, text: "joined for {{last_user}}"}`},
	}
}
