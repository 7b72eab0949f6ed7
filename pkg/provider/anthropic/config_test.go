package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

func TestVersionsAreFoundInNames(t *testing.T) {
	for model, want := range map[string]version{
		"claude-3-5-sonnet-20241022": {3, 5}, "claude-3-opus-latest": {3, 0}, "claude-3.7-sonnet": {3, 7}, "claude-2.1": {2, 1},
		"claude-sonnet-4-20250514": {4, 0}, "claude-opus-4-1@20250805": {4, 1}, "anthropic/claude-haiku-4.5": {4, 5},
		"us.anthropic.claude-opus-4-6-v1:0": {4, 6}, "claude-opus-4-8": {4, 8}, "claude-fable-5": {5, 0}, "claude-sonnet-5-20260701": {5, 0},
		"Claude-Opus-5.5": {5, 5}, "claude-mythos-preview": {5, 0}, "~anthropic/claude-opus-latest": {5, 0},
	} {
		if is, got := claude(model); !is || got != want {
			t.Errorf("%s: %v", model, got)
		}
	}
	if is, _ := claude("kimi-k2"); is {
		t.Error("kimi is no Claude")
	}
}

// configured returns the parts of a request that depend on the model.
func configured(t *testing.T, model string, req provider.Request) string {
	t.Helper()
	_, body := sent(t, Options{Model: model}, req)
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, key := range []string{"max_tokens", "thinking", "output_config", "temperature", "tool_choice"} {
		if v := all[key]; v != nil {
			b.WriteString(key + string(v) + " ")
		}
	}
	return strings.TrimSpace(b.String())
}

func TestModelsAreAskedAsTheyUnderstand(t *testing.T) {
	warm := 0.7
	plain := provider.Request{Messages: hello().Messages, Options: provider.Options{Temperature: &warm}}
	thinking := plain
	thinking.Options.Effort = "medium"
	forced := thinking
	forced.Tools, forced.Choice = []message.ToolSpec{{Name: "f"}}, "f"
	const (
		adaptive = `thinking{"type":"adaptive","display":"summarized"} output_config{"effort":"medium"}`
		bound    = `thinking{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`
		tool     = ` tool_choice{"type":"tool","name":"f"}`
	)
	for model, want := range map[string][3]string{
		"claude-3-haiku-20240307": {"max_tokens4096 temperature0.7", "max_tokens4096 temperature0.7", "max_tokens4096 temperature0.7" + tool},
		"claude-3-5-haiku-latest": {"max_tokens8192 temperature0.7", "max_tokens8192 temperature0.7", "max_tokens8192 temperature0.7" + tool},
		"claude-opus-4-1":         {"max_tokens32000 temperature0.7", `max_tokens32000 thinking{"type":"enabled","budget_tokens":8000}`, "max_tokens32000 temperature0.7" + tool},
		"kimi-k2":                 {"max_tokens8192 temperature0.7", `max_tokens8192 thinking{"type":"enabled","budget_tokens":4096}`, "max_tokens8192 temperature0.7" + tool},
		"claude-opus-4-6":         {"max_tokens64000 temperature0.7", "max_tokens64000 " + adaptive, `max_tokens64000 output_config{"effort":"medium"} temperature0.7` + tool},
		"claude-opus-4-7":         {"max_tokens64000", "max_tokens64000 " + adaptive, `max_tokens64000 output_config{"effort":"medium"}` + tool},
		"claude-sonnet-5":         {"max_tokens64000", "max_tokens64000 " + adaptive, "max_tokens64000 " + adaptive + tool},
		"claude-opus-5-5":         {"max_tokens64000 " + bound, "max_tokens64000 " + bound + ` output_config{"effort":"medium"}`, "max_tokens64000 " + bound + ` output_config{"effort":"medium"}`},
	} {
		for i, req := range []provider.Request{plain, thinking, forced} {
			if got := configured(t, model, req); got != want[i] {
				t.Errorf("%s: %s\nwant %s", model, got, want[i])
			}
		}
	}
}

func TestABudgetLeavesRoomForTheAnswer(t *testing.T) {
	for limit, want := range map[int]string{
		0:    `max_tokens32000 thinking{"type":"enabled","budget_tokens":16000}`,
		5000: `max_tokens5000 thinking{"type":"enabled","budget_tokens":2500}`,
		2048: `max_tokens2048 thinking{"type":"enabled","budget_tokens":1024}`,
		2047: `max_tokens2047`,
	} {
		req := hello()
		req.Options = provider.Options{MaxOutput: limit, Effort: "high"}
		if got := configured(t, "claude-sonnet-4-5", req); got != want {
			t.Errorf("%d: %s, want %s", limit, got, want)
		}
	}
	req := hello()
	req.Options.Effort = "somewhat"
	if got := configured(t, "claude-sonnet-4-5", req); got != "max_tokens32000" {
		t.Errorf("an effort that is none: %s", got)
	}
}

// F035: a turn that another model began has no thoughts of this one, and the
// service demands them when thinking is on.
func TestATurnThatBeganWithoutThoughtsGoesOnWithout(t *testing.T) {
	const on = `max_tokens32000 thinking{"type":"enabled","budget_tokens":4000}`
	own := func(m message.Message) message.Message { m.Model = "anthropic/claude-sonnet-4-5"; return m }
	signed := providertest.ThoughtPart("hm", `{"type":"thinking","signature":"s"}`)
	call := providertest.CallPart("c1", "f", "{}", "")
	for name, c := range map[string]struct {
		messages []message.Message
		want     string
	}{
		"own": {[]message.Message{own(say(message.Assistant, signed, call)), result("c1", "r", false)}, on},
		"own, and on without": {[]message.Message{
			own(say(message.Assistant, signed, call)), result("c1", "r", false),
			own(say(message.Assistant, providertest.CallPart("c2", "f", "{}", ""))), result("c2", "r", false),
		}, on},
		"another's":         {[]message.Message{say(message.Assistant, signed, call), result("c1", "r", false)}, "max_tokens32000"},
		"an earlier turn's": {[]message.Message{say(message.Assistant, signed, call), result("c1", "r", false), say(message.Assistant, message.Text("x")), say(message.User, message.Text("y"))}, on},
		"without option":    {[]message.Message{own(say(message.Assistant, message.Text("I will"), call)), result("c1", "r", false)}, "max_tokens32000"},
		"redacted":          {[]message.Message{own(say(message.Assistant, providertest.ThoughtPart("", `{"type":"redacted_thinking","data":"d"}`), call)), result("c1", "r", false)}, on},
	} {
		req := hello()
		req.Messages = append(req.Messages, c.messages...)
		req.Note = "a note is no turn"
		req.Options.Effort = "low"
		if got := configured(t, "claude-sonnet-4-5", req); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
