package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// tsFile is a session file of kagent-ts, in both of its forms: version 1.0.7
// has the times at the top and a state for each agent, others have metadata and
// agentState.
type tsFile struct {
	SessionID    string      `json:"sessionId"`
	AgentType    string      `json:"agentType"`
	Status       string      `json:"status"`
	SystemPrompt string      `json:"systemPrompt"`
	Messages     []tsMessage `json:"messages"`
	CreatedAt    string      `json:"createdAt"`
	UpdatedAt    string      `json:"updatedAt"`
	Metadata     *tsMetadata `json:"metadata"`
	AgentState   *tsState    `json:"agentState"`
	PlanState    *tsState    `json:"planState"`
	FusionState  *tsState    `json:"fusionState"`
	Orchestrator *tsState    `json:"orchestratorState"`
}

type tsMetadata struct {
	CreatedAt  string  `json:"createdAt"`
	UpdatedAt  string  `json:"updatedAt"`
	Iterations float64 `json:"iterations"`
	ToolCalls  float64 `json:"toolCalls"`
	TokenUsage float64 `json:"tokenUsage"`
	Input      string  `json:"input"`
}

type tsMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"` // a string, null or a list of parts
	Name       string          `json:"name"`
	ToolCalls  []tsCall        `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
	Timestamp  float64         `json:"timestamp"` // milliseconds
}

type tsCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string, or an object
	} `json:"function"`
}

var tsShape = session.ShapeOf(tsFile{})

func understandTS(b []byte) (teller, error) {
	if err := tsShape.Check(b); err != nil {
		return nil, broken(err)
	}
	var f tsFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, broken(err)
	}
	if f.Messages == nil || f.AgentType == "" || f.Status == "" {
		return nil, errNoSession
	}
	if !slices.Contains([]string{"react", "plan-solve", "fusion", "orchestrator"}, f.AgentType) {
		return nil, fmt.Errorf("its agentType %q is not known", cut(f.AgentType, 40))
	}
	if !slices.Contains([]string{"active", "interrupted", "completed", "cancelled"}, f.Status) {
		return nil, fmt.Errorf("its status %q is not known", cut(f.Status, 40))
	}
	return &f, nil
}

// salvageTS reads what is whole of a file that was cut off, and says where it is
// not.
func salvageTS(b []byte) (teller, []session.Lost, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if len(b) > maxForeign {
		return nil, nil, errTooLarge
	}
	whole, end := mend(b)
	var f tsFile
	err := tsShape.Check(whole)
	if err == nil {
		err = json.Unmarshal(whole, &f)
	}
	if err != nil {
		return nil, nil, broken(err)
	}
	if f.AgentType == "" {
		return nil, nil, errors.New("nothing of it can be read that tells what it was")
	}
	if f.Messages == nil {
		f.Messages = []tsMessage{}
	}
	if f.Status == "" {
		f.Status = "active" // it was being written
	}
	again, err := json.Marshal(f)
	if err != nil {
		return nil, nil, err
	}
	t, err := understandTS(again)
	return t, []session.Lost{{Offset: end, Bytes: int64(len(b)) - end, Why: "what follows can't be read"}}, err
}

func (f *tsFile) format() string { return "kagent-ts" }
func (f *tsFile) origin() string { return f.SessionID }

func (f *tsFile) settings() session.Settings {
	system := f.SystemPrompt
	for _, m := range f.Messages {
		if strings.TrimSpace(system) == "" && m.Role == "system" {
			system = m.text()
		}
	}
	s := careful()
	s.Agent, s.System, s.Limits.MaxSteps, s.Tools = f.AgentType, system, 20, []string{}
	return s
}

// task is what the user had said first: a resume of kagent-ts may have put its
// own words into metadata.
func (f *tsFile) task() string {
	for _, m := range f.Messages {
		if text := m.text(); m.Role == "user" && !m.brought() && strings.TrimSpace(text) != "" {
			return text
		}
	}
	if f.Metadata != nil {
		return f.Metadata.Input
	}
	return ""
}

// brought reports whether a message in the user's name is the result of a node.
func (m tsMessage) brought() bool { return strings.HasPrefix(m.Name, "subagent:") }

// text is the content, whatever its form.
func (m tsMessage) text() string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return string(m.Content)
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func (m tsMessage) statement() statement {
	s := statement{role: m.Role, text: m.text(), answer: m.ToolCallID, at: millis(m.Timestamp)}
	for _, c := range m.ToolCalls {
		args := string(c.Function.Arguments)
		var text string
		if json.Unmarshal(c.Function.Arguments, &text) == nil && args != "null" {
			args = text
		}
		s.calls = append(s.calls, message.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: args})
	}
	return s
}

// statements are the messages that belong to the session's own conversation.
// There is one system prompt, and it is no message; what else was said in its
// name stays as a note.
func (f *tsFile) statements(nodes []node) (out []statement) {
	prompt := ""
	for _, m := range f.Messages {
		switch {
		case m.Role == "system" && (prompt == "" || sameSystem(prompt, m.text())):
			prompt = m.text()
		case m.Role == "system":
			out = append(out, statement{role: "note", text: m.text(), at: millis(m.Timestamp)})
		case m.brought() && slices.ContainsFunc(nodes, func(n node) bool { return n.done && strings.HasSuffix(m.Name, ":"+n.was) }):
			// its node has it
		case m.brought():
			out = append(out, statement{role: "note", text: m.text(), at: millis(m.Timestamp)})
		default:
			out = append(out, m.statement())
		}
	}
	if f.Status == "completed" && len(out) > 0 && f.AgentType != "react" {
		last := &out[len(out)-1]
		last.text = finalAnswer(*last)
	}
	return out
}

// sameSystem reports whether two system messages are one, but for the progress
// of the plan that stands at their end.
func sameSystem(a, b string) bool {
	const mark = "=== Current Plan"
	a, _, _ = strings.Cut(a, mark)
	b, _, _ = strings.Cut(b, mark)
	return strings.TrimSpace(a) == strings.TrimSpace(b)
}

// finalAnswer is what the user was shown of a reply that has the form which
// plan-solve of kagent-ts asks for.
func finalAnswer(m statement) string {
	if m.role != "assistant" || len(m.calls) > 0 {
		return m.text
	}
	if _, answer, ok := strings.Cut(m.text, "[Final Answer]"); ok && strings.TrimSpace(answer) != "" {
		return strings.TrimSpace(answer)
	}
	var said struct {
		Answer string `json:"answer"`
	}
	if json.Unmarshal([]byte(m.text), &said) == nil && said.Answer != "" {
		return said.Answer
	}
	return m.text
}

// outcomeOf reads how a call ended from what the model was told: kagent-ts marks
// what failed at the beginning of the text.
func outcomeOf(text string) session.Outcome {
	if strings.HasPrefix(text, "⚠️ --- BEGIN ") {
		_, text, _ = strings.Cut(text, "\n")
	}
	switch {
	case strings.HasPrefix(text, "[FATAL:APPROVAL_DENIED]"):
		return session.OutcomeDenied
	case strings.HasPrefix(text, "[FATAL:"), strings.HasPrefix(text, "[RETRYABLE:"):
		return session.OutcomeError
	}
	return session.OutcomeOK
}

// millis is a time in milliseconds, none where it can't be one.
func millis(ms float64) time.Time {
	if !(ms > 0 && ms < 253402300799000) { // the year 9999
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// stamp is a time as text, none where it is not well written.
func stamp(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.UTC()
}
