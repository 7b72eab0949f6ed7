package agent

import (
	"context"
	"fmt"
	"time"

	"kagent/pkg/tool"
)

// A tool that does not come back, because a disk or a device under it does not
// answer, must not keep a run from going on or from ending.
const (
	toolLimit    = 2 * time.Minute  // for a call, but commands, which have a limit of their own
	toolGrace    = time.Second      // to come back when the context has ended
	commandGrace = 12 * time.Second // the same for commands, whose processes are ended first
	afterGrace   = 7 * time.Second  // at least, after these were killed
)

// patiently runs a tool, and leaves it behind where it does not end in time. The
// processes of commands have some of that to end by themselves.
func patiently(ctx context.Context, own time.Duration, t tool.Tool, call tool.Call) tool.Result {
	grace := max(commandGrace, own+afterGrace)
	if t.Traits().Class != tool.Execute {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, toolLimit)
		defer cancel()
		grace = toolGrace
	}
	done := make(chan tool.Result, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- tool.Fail(fmt.Sprintf("the tool failed inside kagent: %v", v))
			}
		}()
		done <- t.Run(ctx, call)
	}()
	select {
	case res := <-done:
		return res
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case res := <-done:
		return res
	case <-timer.C:
	}
	res := tool.Result{Outcome: tool.Stopped, Text: "The tool did not end in time and was left behind: what it does may still happen."}
	if context.Cause(ctx) == context.DeadlineExceeded {
		res.Outcome = tool.Timeout
	}
	return res
}
