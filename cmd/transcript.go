package cmd

import (
	"fmt"
	"io"
	"strings"
	"time"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// transcript is a session for people. It is written event by event, so that a
// log of any size can be shown. What children say is held back until they end,
// so that each is a piece of its own although they run side by side; where the
// session is followed it is shown at once, under its name.
type transcript struct {
	out    io.Writer
	task   string
	follow bool
	speech map[string]*speech
	last   string // the scope that was shown last
}

func newTranscript(out io.Writer, follow bool) *transcript {
	return &transcript{out: out, follow: follow, speech: map[string]*speech{}}
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
	if d, ok := e.Data.(*session.Created); ok {
		t.task = d.Task
		t.printf("model    %s\n", oneLine(d.Settings.Model, 100))
		return
	}
	_, ends := e.Data.(*session.TurnEnd)
	if ends && e.Scope == "" {
		t.flush() // whoever has not ended goes on later
	}
	s := t.of(e.Scope)
	s.event(e, t.task)
	if e.Scope == "" || t.follow || ends {
		t.show(e.Scope)
	}
}

// of is what is said in a scope.
func (t *transcript) of(scope string) *speech {
	s := t.speech[scope]
	if s == nil {
		s = &speech{}
		t.speech[scope] = s
	}
	return s
}

// show prints what a scope has said since: the session's own at once, a
// child's indented under its name.
func (t *transcript) show(scope string) {
	text := t.of(scope).take()
	switch {
	case text == "":
		return
	case scope == "":
		t.printf("%s", text)
	default:
		if !t.follow || t.last != scope {
			t.printf("\n=== child %s\n", oneLine(scope, 100))
		}
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) == "" {
				t.printf("%s", line)
				continue
			}
			t.printf("    %s", line)
		}
	}
	t.last = scope
}

// flush prints what is held back of all scopes, in the order of their names.
func (t *transcript) flush() {
	for _, scope := range sortedKeys(t.speech) {
		t.show(scope)
	}
}

// end shows the calls that have no result.
func (t *transcript) end() {
	for _, scope := range sortedKeys(t.speech) {
		t.of(scope).end()
	}
	t.flush()
}
