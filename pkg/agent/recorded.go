package agent

import (
	"context"

	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// told is a tool that does not run: its call is told what it was told when it
// was recorded. It touches nothing and may be told again.
type told struct {
	tool.Tool
	result tool.Result
}

func (told) Traits() tool.Traits { return tool.Traits{Class: tool.Read} }

func (t told) Run(context.Context, tool.Call) tool.Result { return t.result }

// recorded returns what is to stand in the place of a call's tool, nil where
// that runs itself.
func (r *Runner) recorded(c *session.Call, t tool.Tool) tool.Tool {
	if r.Recorded == nil || t == nil {
		return nil
	}
	if res, ok := r.Recorded(c.Wire); ok {
		return told{t, res}
	}
	return nil
}
