package anthropic

import (
	"encoding/json"

	"kagent/pkg/provider"
)

type wireThinking struct {
	Type         string   `json:"type"`
	BudgetTokens int      `json:"budget_tokens,omitempty"`
	Display      string   `json:"display,omitempty"`
	BlockBinding *binding `json:"block_binding,omitempty"`
}

// binding says what becomes of a thinking block before which something has
// changed since. A session changes: notes come and go, old messages are
// trimmed. Then the block is to be dropped, not the whole request refused
// (https://platform.claude.com/docs/en/build-with-claude/preserved-thinking).
type binding struct {
	PrefixMismatchBehavior string `json:"prefix_mismatch_behavior"`
}

type outputConfig struct {
	Effort string      `json:"effort,omitempty"`
	Format *wireFormat `json:"format,omitempty"`
}

type wireFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// configure sets how the model thinks and answers, as far as it can.
func (c *client) configure(w *wireRequest, req provider.Request, left leftOut) {
	var out outputConfig
	switch effort := req.Options.Effort; {
	case c.traits.adaptive:
		out.Effort = effort
		w.Thinking = c.adaptive(w, effort, left)
	case c.traits.manual:
		w.Thinking = w.budget(effort)
	}
	if c.traits.structured && len(req.Output) > 0 {
		if schema, ok := outputSchema(req.Output); ok {
			out.Format = &wireFormat{"json_schema", schema}
		}
	}
	if out != (outputConfig{}) {
		w.OutputConfig = &out
	}
	if t := req.Options.Temperature; t != nil && c.traits.sampling && w.Thinking == nil {
		w.Temperature = new(min(*t, 1)) // the protocol ends there, others at 2
	}
}

// adaptive leaves it to the model how long it thinks. The newest models do so
// anyway. The thoughts are to be shown: left to itself, the service keeps them.
func (c *client) adaptive(w *wireRequest, effort string, left leftOut) *wireThinking {
	t := &wireThinking{Type: "adaptive", Display: "summarized"}
	if c.traits.bound {
		if !left.binding {
			t.BlockBinding = &binding{"drop_block"}
		}
		return t
	}
	if effort == "" || w.ToolChoice != nil && !c.traits.forcedThink {
		return nil
	}
	return t
}

// leastBudget is the smallest that the service takes.
const leastBudget = 1024

// budget returns how many tokens a model may think that has to be told. They
// count as output; at least half of it is left for the answer. A forced call
// and thinking exclude each other, as do thinking and a turn that began
// without: there the service demands thoughts that are not there.
func (w *wireRequest) budget(effort string) *wireThinking {
	n, ok := map[string]int{"low": 4000, "medium": 8000, "high": 16000}[effort]
	n = min(n, w.MaxTokens/2)
	if !ok || n < leastBudget || w.ToolChoice != nil || w.thoughtless() {
		return nil
	}
	return &wireThinking{Type: "enabled", BudgetTokens: n}
}

// thoughtless reports whether the running turn began with calls and no thought
// before them: another model's, or this one's without the option.
func (w *wireRequest) thoughtless() bool {
	first := -1 // the first reply of the turn
	for i, m := range w.Messages {
		if m.Role == "user" && m.Content[0].Type != "tool_result" {
			first = i + 1
		}
	}
	if first < 0 || first >= len(w.Messages) {
		return false
	}
	return !w.Messages[first].Content[0].thinks()
}
