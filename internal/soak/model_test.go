//go:build soak

package soak

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// model is a service that speaks Chat Completions. What it says is a function
// of the request, so that it knows where a session is only by what that sends.
type model struct {
	world  *world
	mu     sync.Mutex
	random *rand.Rand
}

type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type asked struct {
	Model    string
	Messages []struct {
		Role       string
		Content    json.RawMessage
		ToolCalls  []wireCall `json:"tool_calls"`
		ToolCallID string     `json:"tool_call_id"`
	}
	Tools []struct{ Function struct{ Name string } }
}

// said is a reply: words, or calls.
type said struct {
	text  string
	calls []wireCall
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var a asked
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		return // it was cut
	}
	if why := a.wrong(); why != "" {
		m.world.problem("a request of %s is wrong: %s", a.Model, why)
	}
	m.serve(w, r, a.reply())
}

// wrong says what a real service would refuse.
func (a asked) wrong() string {
	open := map[string]bool{}
	for i, msg := range a.Messages {
		if msg.Role == "tool" {
			if !open[msg.ToolCallID] {
				return fmt.Sprintf("message %d answers no open call", i+1)
			}
			delete(open, msg.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Sprintf("message %d comes before the results of %d calls", i+1, len(open))
		}
		for _, c := range msg.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("%d calls have no result", len(open))
	}
	return ""
}

// text is all that stands in it.
func (a asked) text() string {
	var b strings.Builder
	for _, m := range a.Messages {
		var content string
		if json.Unmarshal(m.Content, &content) != nil {
			content = string(m.Content)
		}
		b.WriteString(content + "\n")
		for _, c := range m.ToolCalls {
			b.WriteString(c.Function.Arguments + "\n")
		}
	}
	return b.String()
}

func (a asked) offers(name string) bool {
	return slices.ContainsFunc(a.Tools, func(t struct{ Function struct{ Name string } }) bool { return t.Function.Name == name })
}

var (
	partOf = regexp.MustCompile(`# Your part\s+work (\S+): (\d+) steps`)
	workOf = regexp.MustCompile(`work (\S+): (\d+) steps`)
	openOf = regexp.MustCompile(`(?m)^(\d+)\. \[ \] `)
)

// work is what is to be done, and how far that is.
func work(text string) (label string, steps, done int) {
	m := partOf.FindStringSubmatch(text)
	if strings.Contains(text, "# Your part") && m == nil {
		return "", 0, 0
	}
	if all := workOf.FindAllStringSubmatch(text, -1); m == nil && all != nil {
		m = all[len(all)-1]
	}
	if m == nil {
		return "", 0, 0
	}
	steps, _ = strconv.Atoi(m[2])
	for _, n := range regexp.MustCompile(regexp.QuoteMeta(m[1])+` step (\d+)`).FindAllStringSubmatch(text, -1) {
		k, _ := strconv.Atoi(n[1])
		done = max(done, k)
	}
	return m[1], steps, done
}

// afterLast is where the task stands in a briefing; what was said before does
// not count. A note that came late is a turn without work.
func afterLast(text, mark string) string { return text[strings.LastIndex(text, mark)+1:] }

func call(name string, args map[string]any) wireCall {
	raw, _ := json.Marshal(args)
	c := wireCall{Type: "function"}
	c.Function.Name, c.Function.Arguments = name, string(raw)
	return c
}

func calls(all ...wireCall) said { return said{calls: all} }

func (a asked) reply() said {
	text := a.text()
	label, steps, done := work(text)
	switch {
	case label == "":
		return said{text: "There is no work."}
	case a.offers("set_route"):
		complexity := map[bool]string{true: "complex", false: "simple"}[steps%2 == 0 && !strings.HasSuffix(label, "3")]
		return calls(call("set_route", map[string]any{"complexity": complexity, "reason": "it looks so"}))
	case a.offers("set_plan"):
		return calls(call("set_plan", map[string]any{"steps": []string{"the first half of it", "the other half"}}))
	case a.offers("give_verdict"):
		ok := !strings.HasSuffix(label, "2") || strings.Contains(text, "revised")
		return calls(call("give_verdict", map[string]any{"ok": ok, "feedback": "say that it was revised"}))
	case a.offers("set_graph") && !workOf.MatchString(afterLast(text, "# Task\n")):
		return calls(call("set_graph", map[string]any{"nodes": []any{map[string]any{"id": "a", "task": "nothing but a note"}}}))
	case a.offers("set_graph"):
		return calls(call("set_graph", map[string]any{"nodes": graph(label, steps)}))
	case strings.Contains(text, "You summarise"):
		return said{text: fmt.Sprintf("goal: work %s: %d steps\ndone: %s step %d", label, steps, label, done)}
	case !a.offers("shell"):
		return said{text: "done " + label}
	case done < steps:
		return calls(act(label, steps, done+1)...)
	}
	if open := openOf.FindAllStringSubmatch(text, -1); a.offers("mark_step") && len(open) > 0 {
		var marks []wireCall
		for _, m := range open {
			n, _ := strconv.Atoi(m[1])
			marks = append(marks, call("mark_step", map[string]any{"step": n}))
		}
		return calls(marks...)
	}
	if strings.Contains(text, "falls short") {
		return said{text: "done " + label + ", revised"}
	}
	return said{text: "done " + label}
}

// graph is a part of the steps each: two side by side, then one, then one.
func graph(label string, steps int) []map[string]any {
	node := func(id string, needs ...string) map[string]any {
		return map[string]any{"id": id, "task": fmt.Sprintf("work %s.%s: %d steps", label, id, steps/4), "needs": needs}
	}
	return []map[string]any{node("a"), node("b"), node("c", "a", "b"), node("d", "c")}
}

// act is a step: an effect, something to read, and now and then a second
// effect, a file, or an output that is too long for a result.
func act(label string, steps, n int) []wireCall {
	more := ""
	switch n % 5 {
	case 0:
		more = "; seq 1 9000"
	case 3:
		more = "; sleep 0.1"
	}
	all := []wireCall{effect(label, n, more), call("read_file", map[string]any{"path": "notes.txt"})}
	if n%4 == 2 && n < steps {
		all = append(all, effect(label, n+1, ""))
	}
	if n%6 == 5 {
		all = append(all, call("write_file", map[string]any{"path": "out/" + label, "content": fmt.Sprint(n)}))
	}
	return all
}

// effect says on the outside who has done what.
func effect(label string, n int, more string) wireCall {
	id, _, _ := strings.Cut(label, ".")
	return call("shell", map[string]any{"command": fmt.Sprintf(`printf '%%s\n' "$KAGENT_IDEMPOTENCY_KEY %s step %d" >>"$EFFECTS/%s"%s`, label, n, id, more)})
}
