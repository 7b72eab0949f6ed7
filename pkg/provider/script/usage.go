package script

import (
	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// Estimate counts a token for every four bytes of a request and its reply: the
// same for the same words, whoever asks and whenever.
func Estimate(req provider.Request, reply []message.Part) message.Usage {
	in := len(req.System)
	for _, m := range req.Messages {
		all, _ := size(m.Parts)
		in += all
	}
	for _, t := range req.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	out, thought := size(reply)
	u := message.Usage{Input: tokens(in), Output: tokens(out), Reasoning: tokens(thought)}
	u.Total = u.Input + u.Output
	return u
}

// size counts the bytes of parts, and of the reasoning among them.
func size(parts []message.Part) (all, reasoning int) {
	for _, p := range parts {
		all += len(p.Text)
		if p.Type == message.TypeReasoning {
			reasoning += len(p.Text)
		}
		if p.Call != nil {
			all += len(p.Call.Name) + len(p.Call.Arguments)
		}
		if p.Result != nil {
			all += len(p.Result.Text)
		}
	}
	return all, reasoning
}

func tokens(bytes int) int64 { return int64(bytes+3) / 4 }
