package session

import (
	"time"

	"kagent/pkg/message"
)

// The kinds of event and what each says. DurationMs and DelayMs are
// milliseconds; hashes are SHA-256 in hex.

// Created begins a session. Task is the first prompt, whole: a log cut right
// after this line can still go on.
type Created struct {
	Schema     string   `json:"schema"`
	ID         string   `json:"id"`
	Task       string   `json:"task"`
	PromptHash string   `json:"promptHash"`
	Settings   Settings `json:"settings"`
	Version    string   `json:"version"`
}

// Opened says that a process took the session. Attempt counts the openings
// since the last finished step, from 1.
type Opened struct {
	Attempt int    `json:"attempt"`
	PID     int    `json:"pid"`
	Host    string `json:"host"`
	BootID  string `json:"bootId"`
	Version string `json:"version"`
}

// Removed is the tombstone: readers hide the session.
type Removed struct{}

// SettingsChanged holds the whole settings as they apply from here on.
type SettingsChanged struct {
	Settings Settings `json:"settings"`
}

// TurnStart opens a user's turn. Continues is the number of the turn that
// goes on with its counters kept, 0 for a new one.
type TurnStart struct {
	Turn      int `json:"turn"`
	Continues int `json:"continues,omitempty"`
}

// TurnEnd closes a turn, whatever happened.
type TurnEnd struct {
	Turn    int       `json:"turn"`
	Status  Status    `json:"status"`
	Reason  Reason    `json:"reason,omitempty"`
	Error   *Failure  `json:"error,omitempty"`
	RetryAt time.Time `json:"retryAt,omitzero"`
}

// Failure tells what went wrong. Status is the HTTP status, if there was one.
type Failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Status  int    `json:"status,omitempty"`
}

// StepStart begins a step: one model call with the tools it asks for. Step
// counts the replies of the scope, from 1; a step that was cut before its
// reply starts again under its number.
type StepStart struct {
	Step int `json:"step"`
}

// StepEnd ends a step: its reply and all its results are recorded.
type StepEnd struct {
	Step int `json:"step"`
}

// Source says who speaks in a UserMessage.
type Source string

// The sources. FromTask stands for the text of session/created, which is not
// written a second time.
const (
	FromUser  Source = "user"
	FromTask  Source = "task"
	FromAgent Source = "agent"
)

// UserMessage is the user, or the agent to itself, speaking. Inbox is the id
// of the letter that it came by, if it was sent to the session.
type UserMessage struct {
	Source Source `json:"source"`
	Text   string `json:"text,omitempty"`
	Inbox  string `json:"inbox,omitempty"`
}

// RequestHeader tells what a model is asked with, for audit: Prompt is the
// hash of the system prompt and the tool specifications, Chars the size of all
// that is sent.
type RequestHeader struct {
	Model  string   `json:"model"`
	Tools  []string `json:"tools"`
	Prompt string   `json:"prompt"`
	Chars  int      `json:"chars,omitempty"`
	Sampling
}

// RequestRetried says that an attempt failed and another follows, of the model
// Next where a chain goes on to another. None follows where it was GivenUp: that
// is written only for what the attempt has cost.
type RequestRetried struct {
	Attempt int      `json:"attempt"`
	DelayMs int64    `json:"delayMs"`
	Error   *Failure `json:"error"`
	Next    string   `json:"next,omitempty"`
	GivenUp bool     `json:"givenUp,omitempty"`
	Billed
}

// Billed is what the service counted for an attempt that brought no reply: Model
// was asked, Usage is nil if the service has said nothing. CostUSD is what it
// cost by the prices known at the time, nil where they are not.
type Billed struct {
	Model   string         `json:"model,omitempty"`
	Usage   *message.Usage `json:"usage,omitempty"`
	CostUSD *float64       `json:"costUSD,omitempty"`
}

// AssistantChunk is text streamed since the last chunk. It is not synced and
// void once the reply, or a retry, follows.
type AssistantChunk struct {
	Text string `json:"text"`
}

// AssistantMessage is a complete reply. Model is the model that was asked,
// as configured; AnsweredBy what the provider said. CostUSD is what it cost by
// the prices known at the time, nil where they are not. Masked names what was
// masked in its text, each once: the service had said it.
type AssistantMessage struct {
	Parts      []message.Part     `json:"parts"`
	Stop       message.StopReason `json:"stop"`
	Usage      message.Usage      `json:"usage"`
	Model      string             `json:"model"`
	AnsweredBy string             `json:"answeredBy,omitempty"`
	CostUSD    *float64           `json:"costUSD,omitempty"`
	Masked     []string           `json:"masked,omitempty"`
}

// ToolCall says that attempt n of a call is about to begin; it is durable
// before a tool with an effect starts. Key is the same for all attempts.
type ToolCall struct {
	Call    CallID              `json:"call"`
	Tool    string              `json:"tool"`
	Attempt int                 `json:"attempt"`
	Key     string              `json:"key"`
	Change  *message.FileChange `json:"change,omitempty"`
}

// Artifacts are those that an event names.
func Artifacts(d Data) []message.Artifact {
	switch d := d.(type) {
	case *ToolResult:
		if d.Artifact != nil {
			return []message.Artifact{*d.Artifact}
		}
	case *ChildCreated:
		return d.Artifacts
	}
	return nil
}

// ToolResult is how a call ended. Artifact is the whole of an output that Text
// leaves something out of; it is durable before the line that names it.
type ToolResult struct {
	Call       CallID            `json:"call"`
	Outcome    Outcome           `json:"outcome"`
	Text       string            `json:"text"`
	ExitCode   *int              `json:"exitCode,omitempty"`
	Omitted    int64             `json:"omitted,omitempty"` // bytes that Text leaves out
	Artifact   *message.Artifact `json:"artifact,omitempty"`
	DurationMs int64             `json:"durationMs,omitempty"`
}

// OutcomeSettled is a person's word on a call in doubt.
type OutcomeSettled struct {
	Call    CallID  `json:"call"`
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text,omitempty"`
}

// LogRepaired says that a torn end was cut off at Offset, Bytes long, and is
// kept in File beside the log.
type LogRepaired struct {
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	File   string `json:"file"`
}

// Repaired says that the events before it are those that were sound in the log
// of the session From, and what else there was. Note is what the model is told
// of it, empty if nothing is missing.
type Repaired struct {
	From string `json:"from"`
	Lost []Lost `json:"lost"`
	Note string `json:"note,omitempty"`
}

// Type returns "session/created".
func (*Created) Type() Type { return "session/created" }

// Type returns "session/opened".
func (*Opened) Type() Type { return "session/opened" }

// Type returns "session/removed".
func (*Removed) Type() Type { return "session/removed" }

// Type returns "settings/changed".
func (*SettingsChanged) Type() Type { return "settings/changed" }

// Type returns "turn/start".
func (*TurnStart) Type() Type { return "turn/start" }

// Type returns "turn/end".
func (*TurnEnd) Type() Type { return "turn/end" }

// Type returns "step/start".
func (*StepStart) Type() Type { return "step/start" }

// Type returns "step/end".
func (*StepEnd) Type() Type { return "step/end" }

// Type returns "user/message".
func (*UserMessage) Type() Type { return "user/message" }

// Type returns "request/header".
func (*RequestHeader) Type() Type { return "request/header" }

// Type returns "request/retried".
func (*RequestRetried) Type() Type { return "request/retried" }

// Type returns "assistant/chunk".
func (*AssistantChunk) Type() Type { return "assistant/chunk" }

// Type returns "assistant/message".
func (*AssistantMessage) Type() Type { return "assistant/message" }

// Type returns "tool/call".
func (*ToolCall) Type() Type { return "tool/call" }

// Type returns "tool/result".
func (*ToolResult) Type() Type { return "tool/result" }

// Type returns "outcome/settled".
func (*OutcomeSettled) Type() Type { return "outcome/settled" }

// Type returns "log/repaired".
func (*LogRepaired) Type() Type { return "log/repaired" }

// Type returns "session/repaired".
func (*Repaired) Type() Type { return "session/repaired" }
