package cmd

import (
	"fmt"
	"strings"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// progress tells of a run line by line, as things begin and end. Details are for
// --verbose and the log file.
type progress struct {
	say    func(format string, args ...any) // nil: nobody looks
	detail func(format string, args ...any)
	group  func(title string) // a step begins; may be nil
	tools  map[session.CallID]string
	plan   *session.PlanSet
}

func (p *progress) observe(scope string, d session.Data) {
	in := inScope(scope)
	switch d := d.(type) {
	case *session.StepStart:
		p.step(fmt.Sprintf("%sstep %d", in, d.Step))
	case *session.RequestRetried:
		p.retried(in, d)
	case *session.AssistantMessage:
		p.reply(in, d)
	case *session.ToolCall:
		p.name(d.Call, d.Tool)
		p.say("  %s%s (call %s)", in, oneLine(d.Tool, 64), d.Call)
	case *session.ToolResult:
		p.result(in, d)
	case *session.UserMessage:
		if d.Inbox != "" {
			p.say("  heard: %s", oneLine(d.Text, 300))
		}
	case *session.ContextCompacted:
		p.say("  %ssummarised %s in %s", in, plural(int64(d.Turns), "turn"), plural(int64(len(d.Summary)), "byte"))
	case *session.CompactFailed:
		p.say("  %sno summary: %s", in, oneLine(failureText(d.Error), 300))
	case *session.ContextTrimmed:
		p.say("  %sleft out what is too much for a request", in)
	case *session.TurnEnd:
		if scope != "" {
			p.say("  %s%s", in, endedChild(d))
		}
	default:
		p.concluded(in, d)
	}
}

// endedChild says how a child's turn has ended, and why, where it is known.
func endedChild(d *session.TurnEnd) string {
	how := standing(d.Status, d.Reason)
	if d.Error != nil {
		how += ": " + oneLine(failureText(d.Error), 300)
	}
	return how
}

func (p *progress) step(title string) {
	if p.group != nil {
		p.group(title)
		return
	}
	p.say("%s", title)
}

func (p *progress) retried(in string, d *session.RequestRetried) {
	switch {
	case d.GivenUp:
		p.detail("  %sattempt %d failed, %d tokens in, %d out: %s", in, d.Attempt, d.Usage.Input, d.Usage.Output, oneLine(failureText(d.Error), 300))
		return
	case d.Next != "":
		p.say("  %s%s is asked instead: %s", in, oneLine(d.Next, 100), oneLine(failureText(d.Error), 300))
		return
	}
	p.say("  %sattempt %d failed, again in %s: %s", in, d.Attempt, time.Duration(d.DelayMs)*time.Millisecond, oneLine(failureText(d.Error), 300))
}

// name remembers what a call was of, for its result.
func (p *progress) name(call session.CallID, tool string) {
	if p.tools == nil {
		p.tools = map[session.CallID]string{}
	}
	p.tools[call] = tool
}

func (p *progress) reply(in string, d *session.AssistantMessage) {
	m := message.Message{Parts: d.Parts}
	p.quote(in, m.Text())
	for _, c := range m.Calls() {
		p.detail("  %scalls %s %s", in, oneLine(c.Name, 64), oneLine(c.Arguments, 2000))
	}
	cost := ""
	if d.CostUSD != nil && *d.CostUSD > 0 {
		cost = fmt.Sprintf(", $%.6f", *d.CostUSD)
	}
	p.detail("  %s%d tokens in, %d out%s", in, d.Usage.Input, d.Usage.Output, cost)
}

func (p *progress) result(in string, d *session.ToolResult) {
	what := oneLine(p.tools[d.Call], 64)
	delete(p.tools, d.Call)
	say := p.say
	if what == "" { // it was never begun: refused, or the agent's own, which it tells of itself
		what = "call " + d.Call.String()
		if d.Outcome == session.OutcomeOK {
			say = p.detail
		}
	}
	text := fmt.Sprintf("  %s%s: %s", in, what, d.Outcome)
	if d.Outcome != session.OutcomeOK {
		text += ": " + oneLine(d.Text, 200)
	}
	say("%s", text)
	p.quote(in, d.Text)
}

// quote shows a text line by line.
func (p *progress) quote(in, text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			p.detail("  %s| %s", in, line)
		}
	}
}

// judged tells of a verdict. One without a word stands for one that could not be
// had.
func (p *progress) judged(in string, v *session.VerdictGiven) {
	switch {
	case v.OK:
		p.say("  %sthe answer does what was asked", in)
	case v.Feedback == "":
		p.say("  %sno verdict was given on the answer", in)
	default:
		p.say("  %sthe answer falls short: %s", in, oneLine(v.Feedback, 300))
	}
}

// concluded tells of what an agent has concluded.
func (p *progress) concluded(in string, d session.Data) {
	switch d := d.(type) {
	case *session.RouteSet:
		p.say("  %s%s: %s", in, d.Complexity, oneLine(d.Reason, 200))
	case *session.PlanSet:
		p.planned(in, d)
	case *session.VerdictGiven:
		p.judged(in, d)
	case *session.GraphSet:
		p.say("  %sparts of the task:", in)
		for _, n := range d.Nodes {
			needs := ""
			if len(n.Needs) > 0 {
				needs = ", after " + strings.Join(n.Needs, ", ")
			}
			p.say("    %s%s: %s", oneLine(n.ID, 64), oneLine(needs, 200), oneLine(n.Task, 120))
		}
	}
}

// planned shows a plan, and then what is done of it.
func (p *progress) planned(in string, d *session.PlanSet) {
	fresh := p.plan == nil || d.From != p.plan.From || d.Replans != p.plan.Replans
	p.plan = d
	if !fresh {
		p.say("  %splan: %d of %d steps are done", in, len(d.Done), len(d.Steps))
		return
	}
	p.say("  %splan:", in)
	for i, step := range d.Steps {
		p.say("    %d. %s", i+1, oneLine(step, 200))
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
