package cmd

import (
	"fmt"
	"io"
	"strings"
	"time"

	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// transcript is a session for people. It is written event by event, so that a
// log of any size can be shown.
type transcript struct {
	out     io.Writer
	task    string
	names   map[session.CallID]string // calls of the last reply without a result
	order   []session.CallID
	begun   map[session.CallID]bool
	partial strings.Builder // streamed since the last reply
}

func (t *transcript) printf(format string, args ...any) {
	fmt.Fprint(t.out, visible(fmt.Sprintf(format, args...)))
}

func (t *transcript) head(s checkpoint.Summary) {
	status := string(s.Status)
	if s.Reason != "" {
		status += ": " + string(s.Reason)
	}
	if s.Owner != nil {
		status += ", run by " + s.Owner.String()
	}
	t.printf("session  %s\nagent    %s\nstatus   %s\ncreated  %s\nchanged  %s\nsteps    %d, %d tool calls, %d tokens\n",
		s.SessionID, s.AgentType, status, s.CreatedAt.Local().Format(time.DateTime), s.UpdatedAt.Local().Format(time.DateTime),
		s.Iterations, s.ToolCalls, s.TokenUsage)
}

func (t *transcript) event(e session.Event) {
	switch d := e.Data.(type) {
	case *session.Created:
		t.task = d.Task
		t.printf("model    %s\n", oneLine(d.Settings.Model, 100))
	case *session.UserMessage:
		text := d.Text
		if d.Source == session.FromTask {
			text = t.task
		}
		t.printf("\n--- %s\n%s\n", d.Source, strings.TrimRight(text, "\n"))
	case *session.AssistantChunk:
		t.partial.WriteString(d.Text)
	case *session.StepStart, *session.RequestRetried:
		t.cutOff()
	case *session.AssistantMessage:
		t.partial.Reset()
		t.reply(e, d)
	case *session.ToolCall:
		t.begun[d.Call] = true
	case *session.ToolResult:
		t.printf("\n--- result %s: %s\n%s\n", d.Call, d.Outcome, strings.TrimSpace(d.Text))
		delete(t.names, d.Call)
	case *session.SettingsChanged:
		t.printf("\n--- settings changed\n")
	case *session.Repaired:
		t.printf("\n--- saved from %s, which was damaged\n", oneLine(d.From, 128))
		for _, l := range d.Lost {
			t.printf("lost: %s\n", oneLine(l.What(), 300))
		}
	case *session.Imported:
		t.printf("\n--- imported from a file of %s (%s)\n", oneLine(d.Format, 40), oneLine(d.Origin, 128))
	case *session.Forked:
		t.printf("\n--- forked from %s, at event %d\n", oneLine(d.From, 128), d.At)
	case *session.ContextCompacted:
		t.printf("\n--- summary of what was said before it\n%s\n", strings.TrimSpace(d.Summary))
	case *session.CompactFailed:
		t.printf("\n--- no summary: %s\n", oneLine(failureText(d.Error), 500))
	case *session.ContextTrimmed:
		t.printf("\n--- no longer sent: %s, outputs before event %d\n", plural(int64(d.Turns), "turn"), d.Outputs)
	case *session.TurnEnd:
		t.cutOff()
		t.turnEnd(d)
	case session.Unknown:
		t.printf("\n--- %s (not known to this version)\n", oneLine(string(d.Kind), 64))
	}
}

func (t *transcript) reply(e session.Event, d *session.AssistantMessage) {
	m := message.Message{Parts: d.Parts}
	t.printf("\n--- assistant\n")
	if text := strings.TrimSpace(m.Text()); text != "" {
		t.printf("%s\n", text)
	}
	t.order, t.begun = nil, map[session.CallID]bool{}
	clear(t.names)
	for i, c := range m.Calls() {
		id := session.CallID{Reply: e.Seq, Index: i}
		t.order, t.names[id] = append(t.order, id), c.Name
		t.printf("call %s: %s %s\n", id, oneLine(c.Name, 64), oneLine(c.Arguments, 300))
	}
}

func (t *transcript) turnEnd(d *session.TurnEnd) {
	if d.Status == session.Completed {
		return
	}
	why := string(d.Status)
	if d.Reason != "" {
		why += ": " + string(d.Reason)
	}
	if d.Error != nil {
		why += ": " + oneLine(d.Error.Message, 500)
	}
	t.printf("\n--- %s\n", why)
}

// cutOff shows text that was streamed and never became a reply.
func (t *transcript) cutOff() {
	if t.partial.Len() > 0 {
		t.printf("\n--- assistant, cut off\n%s\n", t.partial.String())
		t.partial.Reset()
	}
}

// end shows the calls that have no result.
func (t *transcript) end() {
	t.cutOff()
	for _, id := range t.order {
		name, open := t.names[id]
		switch {
		case open && t.begun[id]:
			t.printf("\n--- call %s: %s was begun, its outcome is unknown\n", id, oneLine(name, 64))
		case open:
			t.printf("\n--- call %s: %s was not begun\n", id, oneLine(name, 64))
		}
	}
}
