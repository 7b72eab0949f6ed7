package cmd

import (
	"fmt"
	"time"

	"kagent/pkg/session"
)

// progress writes plain lines to stderr, one for each thing that begins or
// ends.
type progress struct {
	say   func(format string, args ...any)
	quiet bool
	now   func() time.Time
	tools map[session.CallID]string
}

func (p *progress) observe(scope string, d session.Data) {
	if p.quiet {
		return
	}
	switch d := d.(type) {
	case *session.StepStart:
		p.say("%sstep %d", inScope(scope), d.Step)
	case *session.RequestRetried:
		if d.Next != "" {
			p.say("  %s is asked instead: %s", oneLine(d.Next, 100), oneLine(d.Error.Message, 300))
			return
		}
		p.say("  attempt %d failed, again in %s: %s", d.Attempt, (time.Duration(d.DelayMs) * time.Millisecond).String(), oneLine(d.Error.Message, 300))
	case *session.ContextCompacted:
		p.say("  %ssummarised %s in %s", inScope(scope), plural(int64(d.Turns), "turn"), plural(int64(len(d.Summary)), "byte"))
	case *session.CompactFailed:
		p.say("  %sno summary: %s", inScope(scope), oneLine(failureText(d.Error), 300))
	case *session.ContextTrimmed:
		p.say("  %sleft out what is too much for a request", inScope(scope))
	case *session.ToolCall:
		if p.tools == nil {
			p.tools = map[session.CallID]string{}
		}
		p.tools[d.Call] = d.Tool
		p.say("  %s%s (call %s)", inScope(scope), oneLine(d.Tool, 64), d.Call)
	case *session.ToolResult:
		name := p.tools[d.Call]
		text := fmt.Sprintf("  %s%s: %s", inScope(scope), oneLine(name, 64), d.Outcome)
		if name == "" {
			text = fmt.Sprintf("  call %s: %s", d.Call, d.Outcome)
		}
		if d.Outcome != session.OutcomeOK {
			text += ": " + oneLine(d.Text, 200)
		}
		p.say("%s", text)
	}
}

func failureText(f *session.Failure) string {
	if f == nil {
		return "no reason is known"
	}
	return f.Message
}

// inScope says where something happens, if not in the session's own scope.
func inScope(scope string) string {
	if scope == "" {
		return ""
	}
	return oneLine(scope, 100) + ": "
}
