// Package message holds the words that pass between a user, a model and its
// tools: messages and their parts, tool specifications, usage. Every other
// package speaks in them; this one knows nobody.
package message

import (
	"encoding/json"
	"strings"
	"time"
)

// Role says who speaks.
type Role string

// The roles of a conversation. The system prompt is not a message: it travels
// beside them, so that there is exactly one.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// PartType says which field of a Part is set.
type PartType string

// The kinds of part.
const (
	TypeText      PartType = "text"
	TypeReasoning PartType = "reasoning"
	TypeCall      PartType = "tool_call"
	TypeResult    PartType = "tool_result"
)

// Message is one turn of speech. A tool message holds exactly one result.
type Message struct {
	Role  Role      `json:"role"`
	Parts []Part    `json:"parts"`
	Time  time.Time `json:"time,omitzero"`   // when it was recorded; not sent to models
	Model string    `json:"model,omitempty"` // who made it, "provider/name"; assistant messages only
}

// Part is a piece of a message; Type says which of the other fields count.
type Part struct {
	Type   PartType    `json:"type"`
	Text   string      `json:"text,omitempty"` // text and reasoning
	Call   *ToolCall   `json:"call,omitempty"`
	Result *ToolResult `json:"result,omitempty"`
	// Opaque is the vendor's own data (signatures, encrypted reasoning). It
	// goes back unchanged to the model that made it and to no other.
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// ToolCall is a model's wish to run a tool.
type ToolCall struct {
	ID        string `json:"id,omitempty"` // as the vendor gave it: may be empty or repeated
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // as the model wrote it: perhaps no JSON at all
}

// ToolResult answers the call with the same ID.
type ToolResult struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Text    string `json:"text"`
	IsError bool   `json:"isError,omitempty"`
}

// ToolSpec describes a tool to a model. Schema is a JSON Schema of type object.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Usage counts tokens. Input includes CacheRead and CacheWrite, Output
// includes Reasoning; Total is what the provider billed as a sum.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Reasoning  int64 `json:"reasoning"`
	Total      int64 `json:"total"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Reasoning: u.Reasoning + v.Reasoning, Total: u.Total + v.Total,
	}
}

// StopReason says why a model stopped speaking.
type StopReason string

// The reasons, whatever the vendor calls them.
const (
	StopEnd     StopReason = "stop"           // it had finished
	StopCalls   StopReason = "tool_calls"     // it waits for results
	StopLength  StopReason = "length"         // cut at the output limit
	StopFilter  StopReason = "content_filter" // the vendor cut it
	StopRefusal StopReason = "refusal"        // the model would not
)

// Text returns a text part.
func Text(s string) Part { return Part{Type: TypeText, Text: s} }

// Call returns a tool call part.
func Call(c ToolCall) Part { return Part{Type: TypeCall, Call: &c} }

// Result returns a tool result part.
func Result(r ToolResult) Part { return Part{Type: TypeResult, Result: &r} }

// Text joins the text parts; reasoning is left out.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Type == TypeText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Calls returns the tool calls in order.
func (m Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range m.Parts {
		if p.Type == TypeCall && p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// FileChange is an effect that can be recognised afterwards: the SHA-256 of a
// file before and after, in hex; "" stands for a file that does not exist.
type FileChange struct {
	Path   string `json:"path"` // relative to the work directory
	Before string `json:"before"`
	After  string `json:"after"`
}

// Artifact is a large output that was kept whole beside the session: Ref is the
// SHA-256 of its bytes in hex. Cut means that the output was longer than may be
// kept; the artifact is its beginning.
type Artifact struct {
	Ref   string `json:"ref"`
	Bytes int64  `json:"bytes"`
	Cut   bool   `json:"cut,omitempty"`
}

// Clean makes text fit to be stored and sent: invalid UTF-8, lone surrogates
// among it, and NUL become U+FFFD. Strict services refuse a history that holds
// one of them, for ever.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}
