package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"kagent/pkg/message"
)

// markTool marks steps of a plan, which the note shows.
const markTool = "mark_step"

// decide answers a question that has to be answered by a tool. It knows those
// of kagent's agents; of another it says what it was asked.
func (t *turn) decide(tool string) message.ToolCall {
	var args any
	switch tool {
	case "set_plan":
		args = map[string]any{"steps": t.plan()}
	case "set_route":
		args = t.route()
	case "give_verdict":
		args = map[string]any{"ok": true, "feedback": "The demo finds nothing to mend."}
	case "set_graph":
		args = map[string]any{"nodes": []any{
			map[string]any{"id": "look", "task": "What is in this directory?", "needs": []string{}},
			map[string]any{"id": "answer", "task": cut(t.task(), maxQuestion), "needs": []string{"look"}},
		}}
	default:
		args = map[string]any{"text": cut(t.question, maxQuestion)}
	}
	b, err := json.Marshal(args)
	if err != nil {
		panic(err) // texts always encode
	}
	return message.ToolCall{Name: tool, Arguments: string(b)}
}

func (t *turn) plan() []string {
	if !strings.Contains(t.question, listTool) { // the tools that there will be are named
		return []string{"Answer."}
	}
	return []string{"List the directory.", "Read a few of its files.", "Answer."}
}

// route takes what has several sentences or lines for complex.
func (t *turn) route() map[string]string {
	task := t.question[strings.LastIndex(t.question, "# Task")+len("# Task"):]
	n := len(strings.FieldsFunc(strings.TrimSpace(task), func(r rune) bool { return strings.ContainsRune(".!?;\n。！？", r) }))
	if n > 1 {
		return map[string]string{"complexity": "complex", "reason": fmt.Sprintf("It says %d things.", n)}
	}
	return map[string]string{"complexity": "simple", "reason": "It says one thing."}
}

// unmarked are the numbers of a plan's steps that are not done.
var unmarked = pattern(`(?m)^(\d+)\. \[ \] `)

// marks marks all that is left of a plan: the demo has done what it can.
func (t *turn) marks() []message.ToolCall {
	if !t.offers(markTool) {
		return nil
	}
	var calls []message.ToolCall
	for _, m := range unmarked().FindAllStringSubmatch(t.note, -1) {
		calls = append(calls, message.ToolCall{Name: markTool, Arguments: `{"step":` + m[1] + `}`})
	}
	return calls
}
