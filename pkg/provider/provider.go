// Package provider turns a conversation into one request to a model and its
// stream back into one reply. It knows no sessions and no agents.
//
// A [Provider] has one method, and the example shows one of one's own; [Retry],
// [StepTimeout] and [Fallback] wrap any. The packages below speak the protocols
// of services.
package provider

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"kagent/pkg/message"
)

// Provider is a way to a model.
//
// Stream sends req, calls emit for each piece as it arrives, and returns the
// whole reply. It returns a reply only when the stream reached its terminal
// event: a stream that ends without it is a network error, never an answer.
// Errors are *Error, or ctx's cause when ctx ended first. emit is called from
// the calling goroutine, before Stream returns, never concurrently.
type Provider interface {
	Stream(ctx context.Context, req Request, emit func(Event)) (Reply, error)
}

// Request is all that a model is sent.
type Request struct {
	System   string
	Messages []message.Message // never ends with an assistant message
	// Note is said last, by the agent itself: where a plan stands, for example.
	// It changes from request to request, so that what stands before it stays a
	// stable prefix for caches. "" for none.
	Note   string
	Tools  []message.ToolSpec
	Choice string // the tool that the model has to call; "" leaves it to the model
	// Output is a JSON Schema that the answer has to fit; nil for free text. An
	// adapter whose service knows no such thing ignores it, as it does Choice:
	// whoever asks checks what comes.
	Output  json.RawMessage
	Options Options
	Label   Label
}

// Options shape the reply; the zero value leaves all to the service.
type Options struct {
	Effort      string   // of reasoning: low, medium, high
	Temperature *float64 // 0 to 2
	MaxOutput   int      // tokens of the reply
}

// Conversation returns the messages with the note at the end of the last one. A
// message of its own would be taken for a new turn of the user's by some models
// and servers. What the user says in a row, in a turn that was cut and the next,
// is one message: templates of open models refuse roles that don't take turns,
// again and again.
func (r Request) Conversation() []message.Message {
	all := joined(r.Messages)
	if strings.TrimSpace(r.Note) == "" {
		return all
	}
	if n := len(all); n == 0 || all[n-1].Role == message.Assistant || len(all[n-1].Parts) == 0 {
		return append(all, message.Message{Role: message.User, Parts: []message.Part{message.Text(r.Note)}})
	}
	last := &all[len(all)-1]
	last.Parts = slices.Clone(last.Parts)
	if p := &last.Parts[len(last.Parts)-1]; p.Result != nil {
		noted := *p.Result
		noted.Text += "\n\n" + r.Note
		p.Result = &noted
	} else {
		last.Parts = append(last.Parts, message.Text("\n\n"+r.Note))
	}
	return all
}

// joined returns a copy in which no two messages of the user are neighbours.
func joined(messages []message.Message) []message.Message {
	var all []message.Message
	for _, m := range messages {
		if n := len(all) - 1; n >= 0 && m.Role == message.User && all[n].Role == message.User {
			all[n].Parts = slices.Concat(all[n].Parts, m.Parts)
			continue
		}
		all = append(all, m)
	}
	return all
}

// Label tells requests apart for scripts; real providers ignore it.
type Label struct {
	Scope   string // "" for the session itself
	Ordinal int    // number of the reply in its scope, from 1
	Attempt int    // tries of this very request, resumes included, from 1
	Agent   string // that asks
	System  string // the part of the system prompt that a person gave, "" where all of it is built in
}

// Event is a piece of a stream; exactly one of Text, Reasoning, Retry and Lost
// is set.
type Event struct {
	Text      string // answer text
	Reasoning string // visible thinking
	Retry     *Retrying
	Lost      *message.Usage // what the service counted for an answer that is no reply: it is paid for all the same
	Asked     string         // the model of a chain that it comes from, "" where there is no chain
}

// Lose tells, once an answer has failed with err, what the service had counted
// for it by then; nothing if it had not said.
func Lose(emit func(Event), counted message.Usage, err error) {
	if err != nil && counted != (message.Usage{}) {
		emit(Event{Lost: &counted})
	}
}

// Retrying says that an attempt failed and another follows after Delay. What
// the failed attempt had streamed is void.
type Retrying struct {
	Attempt int // the one that failed, from 1
	Delay   time.Duration
	Err     *Error
	Next    string // the model of a chain that is asked instead, "" for the same
}

// Reply is a model's complete answer. Parts hold valid UTF-8 without NUL
// (message.Clean), call arguments are as the model wrote them.
type Reply struct {
	Parts []message.Part
	Stop  message.StopReason
	Usage message.Usage // zero when the provider told none
	Model string        // the model that answered, as the provider names it
	Asked string        // the model of a chain that was asked, "" where there is no chain
}
