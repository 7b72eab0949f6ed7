package script

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// Recorded is a reply that was given once, and what it was given to.
type Recorded struct {
	Scope    string
	Ordinal  int
	LastUser string   // the newest user message, "" if there was none
	Tools    []string // that were offered, nil where that is not known
	Agent    string   // "" where that is not known
	System   string   // what a person gave of the system prompt

	Parts   []message.Part
	Stop    message.StopReason
	Usage   message.Usage
	Results []*Result // of the calls among Parts, in their order; nil where none came

	// Fail stands in the place of a reply; Tries is how many tries met it.
	Fail  *provider.Error
	Tries int
}

// longSystem is the same for a system prompt, which is the same for all replies.
const longSystem = 200

// longText is the length from which on a text is compared by its hash.
const longText = 4 << 10

const noResult = "the recording ends before this call had a result"

// The fields of a script, as far as a recording has them.
type (
	script struct {
		Strict  bool      `json:"strict"`
		Replies []written `json:"replies"`
	}
	written struct {
		When      condition      `json:"when"`
		Verbatim  bool           `json:"verbatim,omitempty"`
		Reasoning string         `json:"reasoning,omitempty"`
		Text      *string        `json:"text,omitempty"`
		ToolCalls []writtenCall  `json:"tool_calls,omitempty"`
		Usage     *writtenUsage  `json:"usage,omitempty"`
		Stop      string         `json:"stop,omitempty"`
		Error     *writtenFailed `json:"error,omitempty"`
	}
	condition struct {
		Scope       string        `json:"scope"`
		Ordinal     int           `json:"ordinal"`
		Attempt     *writtenRange `json:"attempt,omitempty"`
		LastUserIs  string        `json:"last_user_is,omitempty"`
		LastUserSum string        `json:"last_user_sha256,omitempty"`
		Agent       string        `json:"agent,omitempty"`
		Tools       []string      `json:"tools_are,omitzero"`
		SystemIs    *string       `json:"system_is,omitempty"`
		SystemSum   string        `json:"system_sha256,omitempty"`
	}
	writtenRange struct {
		Max int `json:"max"`
	}
	writtenCall struct {
		Name      string        `json:"name"`
		Arguments any           `json:"arguments"`
		Result    writtenResult `json:"result"`
	}
	writtenResult struct {
		Outcome  string `json:"outcome"`
		Text     string `json:"text"`
		ExitCode *int   `json:"exit_code,omitempty"`
	}
	writtenUsage struct {
		Input      int64 `json:"input"`
		Output     int64 `json:"output"`
		CacheRead  int64 `json:"cacheRead,omitempty"`
		CacheWrite int64 `json:"cacheWrite,omitempty"`
		Reasoning  int64 `json:"reasoning,omitempty"`
	}
	writtenFailed struct {
		Kind    provider.Kind `json:"kind"`
		Message string        `json:"message,omitempty"`
		Status  int           `json:"status,omitempty"`
		From    string        `json:"from,omitempty"`
	}
)

// Write writes a script that gives the replies again to the same requests, and
// the results to their calls. To other requests it gives none.
func Write(w io.Writer, all []Recorded) error {
	s := script{Strict: true, Replies: []written{}}
	for _, r := range all {
		s.Replies = append(s.Replies, r.written())
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(s)
}

func (r Recorded) written() written {
	out := written{When: condition{Scope: r.Scope, Ordinal: r.Ordinal, LastUserIs: r.LastUser, Agent: r.Agent, Tools: r.Tools}, Verbatim: true}
	if len(r.System) > longSystem {
		out.When.SystemSum = sumOf(r.System)
	} else {
		out.When.SystemIs = &r.System
	}
	if len(r.LastUser) > longText {
		out.When.LastUserIs, out.When.LastUserSum = "", sumOf(r.LastUser)
	}
	if r.Fail != nil {
		out.When.Attempt = &writtenRange{max(r.Tries, 1)}
		out.Error = &writtenFailed{Kind: r.Fail.Kind, Message: r.Fail.Message, Status: r.Fail.Status, From: r.Fail.Provider}
		return out
	}
	said := message.Message{Parts: r.Parts}
	text := said.Text()
	out.Text, out.Usage = &text, usageOf(r.Usage)
	for _, p := range r.Parts {
		if p.Type == message.TypeReasoning {
			out.Reasoning += p.Text
		}
	}
	for i, c := range said.Calls() {
		out.ToolCalls = append(out.ToolCalls, callOf(c, resultAt(r.Results, i)))
	}
	if slices.Contains(stops(), r.Stop) {
		out.Stop = string(r.Stop)
	}
	return out
}

func resultAt(all []*Result, i int) Result {
	if i < len(all) && all[i] != nil {
		return *all[i]
	}
	return Result{Outcome: "error", Text: noResult}
}

func callOf(c message.ToolCall, r Result) writtenCall {
	out := writtenCall{Name: cmp.Or(c.Name, "unnamed"), Arguments: c.Arguments, Result: writtenResult(r)}
	if exact(c.Arguments) {
		out.Arguments = json.RawMessage(c.Arguments)
	}
	return out
}

// usageOf makes the parts fit into their sums: not every service counts so.
func usageOf(u message.Usage) *writtenUsage {
	out := writtenUsage{Input: max(u.Input, 0), Output: max(u.Output, 0)}
	out.CacheRead = min(max(u.CacheRead, 0), out.Input)
	out.CacheWrite = min(max(u.CacheWrite, 0), out.Input-out.CacheRead)
	out.Reasoning = min(max(u.Reasoning, 0), out.Output)
	return &out
}
