package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// speech is what is said in one scope, as a transcript shows it.
type speech struct {
	text    strings.Builder           // not shown yet
	names   map[session.CallID]string // calls of the last reply without a result
	order   []session.CallID
	begun   map[session.CallID]bool
	partial strings.Builder // streamed since the last reply
	steps   []string        // of the plan
}

func (s *speech) printf(format string, args ...any) { fmt.Fprintf(&s.text, format, args...) }

// take returns what was said since the last time.
func (s *speech) take() string {
	text := s.text.String()
	s.text.Reset()
	return text
}

func (s *speech) event(e session.Event, task string) {
	switch d := e.Data.(type) {
	case *session.UserMessage:
		text := d.Text
		if d.Source == session.FromTask {
			text = task
		}
		s.printf("\n--- %s\n%s\n", d.Source, strings.TrimRight(text, "\n"))
	case *session.AssistantChunk:
		s.partial.WriteString(d.Text)
	case *session.StepStart, *session.RequestRetried:
		s.cutOff()
	case *session.AssistantMessage:
		s.partial.Reset()
		s.reply(e, d)
	case *session.ToolCall:
		if s.begun != nil {
			s.begun[d.Call] = true
		}
	case *session.ToolResult:
		s.printf("\n--- result %s: %s\n%s\n", d.Call, d.Outcome, strings.TrimSpace(d.Text))
		delete(s.names, d.Call)
	case *session.TurnEnd:
		s.cutOff()
		s.turnEnd(d)
	case session.Unknown:
		s.printf("\n--- %s (not known to this version)\n", oneLine(string(d.Kind), 64))
	default:
		s.happened(e)
		s.concluded(e)
	}
}

// happened shows what became of the session.
func (s *speech) happened(e session.Event) {
	switch d := e.Data.(type) {
	case *session.SettingsChanged:
		s.printf("\n--- settings changed\n")
	case *session.OutcomeSettled:
		s.printf("\n--- call %s, a person says: %s\n", d.Call, strings.TrimSpace(oneLine(string(d.Verdict), 40)+" "+oneLine(d.Text, 300)))
	case *session.Repaired:
		s.printf("\n--- saved from %s, which was damaged\n", oneLine(d.From, 128))
		for _, l := range d.Lost {
			s.printf("lost: %s\n", oneLine(l.What(), 300))
		}
	case *session.Imported:
		s.printf("\n--- imported from a file of %s (%s)\n", oneLine(d.Format, 40), oneLine(d.Origin, 128))
	case *session.Forked:
		s.printf("\n--- forked from %s, at event %d\n", oneLine(d.From, 128), d.At)
	case *session.ContextCompacted:
		s.printf("\n--- summary of what was said before it\n%s\n", strings.TrimSpace(d.Summary))
	case *session.CompactFailed:
		s.printf("\n--- no summary: %s\n", oneLine(failureText(d.Error), 500))
	case *session.ContextTrimmed:
		s.printf("\n--- no longer sent: %s, outputs before event %d\n", plural(int64(d.Turns), "turn"), d.Outputs)
	}
}

// concluded shows what an agent has understood.
func (s *speech) concluded(e session.Event) {
	switch d := e.Data.(type) {
	case *session.ChildCreated:
		s.printf("\n--- task\n%s\n", strings.TrimSpace(d.Task))
	case *session.RouteSet:
		s.printf("\n--- route: %s, %s\n", oneLine(d.Complexity, 40), oneLine(d.Reason, 300))
	case *session.PlanSet:
		s.plan(d)
	case *session.GraphSet:
		s.printf("\n--- task graph, round %d\n", d.Round)
		for _, n := range d.Nodes {
			after := ""
			if len(n.Needs) > 0 {
				after = " (after " + oneLine(strings.Join(n.Needs, ", "), 100) + ")"
			}
			s.printf("%s%s: %s\n", oneLine(n.ID, 64), after, oneLine(n.Task, 200))
		}
	case *session.VerdictGiven:
		s.printf("\n--- verdict: %s\n", verdict(d.OK, d.Feedback))
	case *session.AnswerAdopted:
		s.printf("\n--- the answer is that of %s\n", oneLine(d.From, 100))
	case *session.ApprovalGiven:
		s.printf("\n--- approved: %s\n", oneLine(d.What, 40))
	}
}

func (s *speech) plan(d *session.PlanSet) {
	s.printf("\n--- plan: %d of %s done\n", len(d.Done), plural(int64(len(d.Steps)), "step"))
	if slices.Equal(s.steps, d.Steps) { // a step was marked
		return
	}
	s.steps = d.Steps
	for i, step := range d.Steps {
		mark := " "
		if slices.Contains(d.Done, i) {
			mark = "x"
		}
		s.printf("[%s] %d. %s\n", mark, i+1, oneLine(step, 200))
	}
}

func (s *speech) reply(e session.Event, d *session.AssistantMessage) {
	m := message.Message{Parts: d.Parts}
	s.printf("\n--- assistant\n")
	if text := strings.TrimSpace(m.Text()); text != "" {
		s.printf("%s\n", text)
	}
	s.order, s.begun, s.names = nil, map[session.CallID]bool{}, map[session.CallID]string{}
	for i, c := range m.Calls() {
		id := session.CallID{Reply: e.Seq, Index: i}
		s.order, s.names[id] = append(s.order, id), c.Name
		s.printf("call %s: %s %s\n", id, oneLine(c.Name, 64), oneLine(c.Arguments, 300))
	}
}

func (s *speech) turnEnd(d *session.TurnEnd) {
	if d.Status == session.Completed {
		s.order = nil // the call that a decision is made by has no result
		return
	}
	why := string(d.Status)
	if d.Reason != "" {
		why += ": " + string(d.Reason)
	}
	if d.Error != nil {
		why += ": " + oneLine(d.Error.Message, 500)
	}
	s.printf("\n--- %s\n", why)
}

// cutOff shows text that was streamed and never became a reply.
func (s *speech) cutOff() {
	if s.partial.Len() > 0 {
		s.printf("\n--- assistant, cut off\n%s\n", s.partial.String())
		s.partial.Reset()
	}
}

// end shows the calls that have no result.
func (s *speech) end() {
	s.cutOff()
	for _, id := range s.order {
		name, open := s.names[id]
		switch {
		case open && s.begun[id]:
			s.printf("\n--- call %s: %s was begun, its outcome is unknown\n", id, oneLine(name, 64))
		case open:
			s.printf("\n--- call %s: %s was not begun\n", id, oneLine(name, 64))
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
