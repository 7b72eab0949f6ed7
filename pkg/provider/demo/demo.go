// Package demo is a provider that works offline and without a key, to try
// kagent out. It is no language model and says so: it looks at the work
// directory with the tools that it is offered and answers with what they
// returned. What it does next depends only on the messages since the last one
// of the user, so that it can be killed and resumed like any model.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/script"
)

// The tools that it knows how to use.
const (
	listTool = "list_files"
	readTool = "read_file"
)

type demo struct{}

// New returns the demo.
func New() provider.Provider { return demo{} }

// Stream lists the directory, then reads a few files, then answers; what has to
// be decided is decided at once.
func (demo) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	t := lastTurn(req)
	reply := provider.Reply{Stop: message.StopCalls, Model: "demo"}
	calls := t.next()
	switch {
	case req.Choice != "":
		calls = []message.ToolCall{t.decide(req.Choice)}
	case len(calls) == 0:
		calls = t.marks()
	}
	for i, c := range calls {
		c.ID = fmt.Sprintf("demo_%d_%d", req.Label.Ordinal, i+1)
		reply.Parts = append(reply.Parts, message.Call(c))
	}
	if len(reply.Parts) == 0 {
		text := message.Clean(t.answer())
		for piece := range strings.Lines(text) {
			if ctx.Err() != nil {
				break
			}
			emit(provider.Event{Text: piece})
		}
		reply.Parts, reply.Stop = []message.Part{message.Text(text)}, message.StopEnd
	}
	if ctx.Err() != nil {
		return provider.Reply{}, context.Cause(ctx)
	}
	reply.Usage = script.Estimate(req, reply.Parts)
	return reply, nil
}

// next returns the calls to make now; none means that it is time to answer.
func (t *turn) next() []message.ToolCall {
	switch {
	case len(t.attached) > 0 || !t.offers(listTool):
		return nil
	case !t.tried(listTool):
		return []message.ToolCall{pathCall(listTool, ".")}
	case t.tried(readTool) || !t.offers(readTool):
		return nil
	}
	var calls []message.ToolCall
	for _, path := range choose(t.listing().files) {
		calls = append(calls, pathCall(readTool, path))
	}
	return calls
}

// listing is what the listing said, empty if it failed.
func (t *turn) listing() listing {
	if o := t.outcome(listTool); o != nil && !o.IsError {
		return parseListing(o.Text)
	}
	return listing{}
}

func (t *turn) offers(tool string) bool {
	return slices.ContainsFunc(t.tools, func(s message.ToolSpec) bool { return s.Name == tool })
}

func pathCall(tool, path string) message.ToolCall {
	args, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		panic(err) // strings always encode
	}
	return message.ToolCall{Name: tool, Arguments: string(args)}
}
