package checkpoint

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// Schema names the format of the checkpoint.
const Schema = "kagent/checkpoint/v1"

// head is the checkpoint without its messages. Small fields come first, so
// that reading the beginning is enough to list a session; what may grow stands
// behind metadata.
type head struct {
	Schema       string           `json:"schema"`
	SessionID    string           `json:"sessionId"`
	AgentType    string           `json:"agentType"`
	Status       session.Status   `json:"status"`
	Reason       session.Reason   `json:"reason"`
	Owner        Owner            `json:"owner"`
	Usage        message.Usage    `json:"usage"`
	CostUSD      *float64         `json:"costUSD"`
	Error        *session.Failure `json:"error"`
	Attempts     int              `json:"attempts"`
	RetryAt      *time.Time       `json:"retryAt"`
	Log          promise          `json:"log"`
	Omitted      omitted          `json:"omitted"`
	Metadata     metadata         `json:"metadata"`
	Settings     settings         `json:"settings"`
	Answer       *string          `json:"answer"`
	Partial      string           `json:"partial,omitempty"`
	AgentState   json.RawMessage  `json:"agentState"`
	Pending      []pendingCall    `json:"pending"`
	SystemPrompt string           `json:"systemPrompt"`
	ContextNote  string           `json:"contextNote,omitempty"` // sent after it: see session.State.Aside
}

// Owner is the process that runs the session, all zero when none does.
type Owner struct {
	PID       int    `json:"pid"`
	Host      string `json:"host"`
	BootID    string `json:"bootId"`
	StartedAt string `json:"startedAt"`
}

// omitted is what has left the messages.
type omitted struct {
	Turns     int   `json:"turns"`
	BeforeSeq int64 `json:"beforeSeq"`
}

type metadata struct {
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Iterations int       `json:"iterations"`
	ToolCalls  int       `json:"toolCalls"`
	TokenUsage int64     `json:"tokenUsage"`
	Input      string    `json:"input"`
}

type settings struct {
	Model   string         `json:"model"`
	Workdir string         `json:"workdir"`
	Tools   []string       `json:"tools"`
	Limits  session.Limits `json:"limits"`
}

type pendingCall struct {
	Call  session.CallID `json:"call"`
	Tool  string         `json:"tool"`
	State string         `json:"state"` // "unknown" when begun, else "waiting"
}

// chatMessage is a message as the checkpoint shows it.
type chatMessage struct {
	Role       message.Role   `json:"role"`
	ToolCallID string         `json:"tool_call_id,omitempty"`
	Name       string         `json:"name,omitempty"`
	Content    string         `json:"content"`
	Timestamp  int64          `json:"timestamp,omitempty"` // milliseconds, of what the user said
	ToolCalls  []chatCall     `json:"tool_calls,omitempty"`
	Reasoning  []message.Part `json:"reasoning,omitempty"`
}

type chatCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function chatFunction    `json:"function"`
	Opaque   json.RawMessage `json:"opaque,omitempty"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func headOf(s *session.State, at promise) head {
	status, reason := s.Status()
	sc := s.Main()
	h := head{
		Schema: Schema, SessionID: s.ID, AgentType: s.Settings.Agent, Status: status, Reason: reason,
		Usage: s.Usage, CostUSD: s.Cost(), Attempts: s.Attempts, Error: shorter(sc.Turn.Error), Log: at,
		Metadata: metadata{
			CreatedAt: s.Created, UpdatedAt: s.Updated, Iterations: s.Iterations, ToolCalls: s.ToolCalls,
			TokenUsage: s.Usage.Total, Input: cut(s.Task, 200),
		},
		Settings: settings{s.Settings.Model, s.Settings.Workdir, s.Settings.Tools, s.Settings.Limits},
		Omitted:  omitted{sc.Cut.Dropped + sc.Cut.Covered, sc.Cut.Before},
		Pending:  pendingOf(s.Live()...), SystemPrompt: s.Settings.System, ContextNote: s.Aside(sc),
	}
	if status == session.Active {
		h.Owner = Owner{s.Owner.PID, s.Owner.Host, s.Owner.BootID, s.OwnedSince.Format(time.RFC3339Nano)}
	}
	if !sc.Turn.RetryAt.IsZero() {
		h.RetryAt = &sc.Turn.RetryAt
	}
	switch status {
	case session.Completed:
		a := sc.Answer()
		h.Answer = &a
	case session.Active: // what was said so far stands among the messages
		h.Partial = sc.Partial()
	default:
		h.Partial = sc.Draft()
	}
	if h.Settings.Tools == nil {
		h.Settings.Tools = []string{}
	}
	return h
}

// shorter keeps a long error from pushing metadata out of the part that is
// read for a list; the log has it whole.
func shorter(f *session.Failure) *session.Failure {
	if f == nil {
		return nil
	}
	out := *f
	out.Message = cut(out.Message, 500)
	return &out
}

func chat(m message.Message) chatMessage {
	c := chatMessage{Role: m.Role, Content: m.Text()}
	if m.Role == message.User {
		c.Timestamp = m.Time.UnixMilli()
	}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			c.ToolCalls = append(c.ToolCalls, chatCall{p.Call.ID, "function", chatFunction{p.Call.Name, p.Call.Arguments}, p.Opaque})
		case p.Result != nil:
			c.ToolCallID, c.Name, c.Content = p.Result.ID, p.Result.Name, p.Result.Text
		case p.Type == message.TypeReasoning || len(p.Opaque) > 0:
			c.Reasoning = append(c.Reasoning, p)
		}
	}
	return c
}

// cut returns the first n characters of s.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	if !utf8.ValidString(s) {
		return message.Clean(s)
	}
	return s
}
