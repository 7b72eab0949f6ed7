package session_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// story is a history such as a runner writes: turns of steps with parallel
// calls, ended in every way. before is asked at each request.
type story struct {
	*rapid.T
	log
	turns  int
	before func(s *story)
}

func (s *story) number(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(s.T, what) }

func (s *story) text(what string) string {
	unit := rapid.SampledFrom([]string{"word ", "输出 ", "👩‍👩‍👧 ", "שלום "}).Draw(s.T, what)
	return fmt.Sprintf("%s #%d %s", what, s.state.Seq, strings.Repeat(unit, s.number(0, 1, "long")*s.number(0, 300, "length")))
}

func (s *story) tell() {
	s.add(&session.Created{Schema: session.Schema, ID: "s", Task: s.text("task"), Settings: session.Settings{System: s.text("system"), Model: "p/m"}})
	s.add(&session.Opened{Attempt: 1}, task())
	for range s.number(1, 5, "turns") {
		if s.turns > 0 {
			s.add(says(s.text("prompt")))
		}
		s.turns++
		s.add(turn(s.turns))
		s.turn()
	}
}

func (s *story) turn() {
	for range s.number(0, 6, "steps") {
		s.step(s.number(1, 3, "calls"))
		if s.number(0, 9, "interruption") == 0 {
			s.add(ends(s.turns, session.Interrupted, session.ReasonCrash))
			if s.number(0, 1, "new prompt") == 0 {
				return
			}
			s.add(continued(s.turns))
		}
	}
	s.before(s)
	for range s.number(0, 2, "continuations") {
		s.add(reply(message.StopLength, s.text("part")), &session.UserMessage{Source: session.FromAgent, Text: "go on"})
		s.before(s)
	}
	s.add(reply(message.StopEnd, s.text("answer")), ends(s.turns, session.Completed, ""))
}

func (s *story) step(calls int) {
	s.before(s)
	var asked []message.ToolCall
	for i := range calls {
		asked = append(asked, asks(rapid.SampledFrom([]string{"", "c", fmt.Sprint("c", s.state.Seq, i)}).Draw(s.T, "id"), "x"))
	}
	r := s.add(&session.StepStart{Step: 1}, reply(message.StopCalls, s.text("thought"), asked...))
	for i := range calls {
		s.add(begun(id(r, i), 1), &session.ToolResult{Call: id(r, i), Outcome: session.OutcomeOK, Text: s.text("output")})
	}
	s.add(&session.StepEnd{Step: 1})
}

// tellWith checks a story with what happens before each request.
func tellWith(t *testing.T, before func(s *story)) {
	rapid.Check(t, func(t *rapid.T) {
		s := &story{T: t, before: before}
		s.tell()
	})
}

// said is what is sent, a line for each text; what stands for an output that
// was left out is "-".
func said(s *session.State) (lines []string) {
	for _, m := range s.View("").Messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				lines = append(lines, "call "+p.Call.Arguments)
			case p.Result != nil && strings.HasPrefix(p.Result.Text, "[tool output omitted"):
				lines = append(lines, "result -")
			case p.Result != nil:
				lines = append(lines, "result "+p.Result.Text)
			default:
				lines = append(lines, string(m.Role)+" "+p.Text)
			}
		}
	}
	return lines
}

// within reports whether after is before with things left out, in order.
func within(after, before []string) bool {
	i := 0
	for _, line := range after {
		for i < len(before) && before[i] != line && !(line == "result -" && strings.HasPrefix(before[i], "result ")) {
			i++
		}
		if i++; i > len(before) {
			return false
		}
	}
	return true
}

// lasting is what no watermark may change.
func lasting(s *session.State) []any {
	sc := s.Main()
	status, reason := s.Status()
	t := sc.Turn
	t.First = 0
	w := sc.Work
	return []any{status, reason, t, sc.Answer(), sc.Draft(), sc.Unheard(), len(sc.Pending()), w.Whole(), w.Added, sc.Steps, s.Usage, s.ToolCalls}
}

// current are the texts that have to stay: what the user says in this turn, and
// the last reply with all that was brought for it.
func current(sc *session.Scope) (texts []string) {
	for i, e := range sc.Entries {
		if e.User != nil && e.User.Source != session.FromAgent && i >= sc.Turn.First {
			texts = append(texts, e.User.Text)
		}
	}
	last := slices.IndexFunc(sc.Entries, func(e session.Entry) bool { return e.Reply != nil })
	for i, e := range sc.Entries {
		if e.Reply != nil {
			last = i
		}
	}
	if last < 0 || len(sc.Entries[last].Reply.Calls) == 0 {
		return texts
	}
	for _, c := range sc.Entries[last].Reply.Calls {
		texts = append(texts, c.Result.Text)
	}
	return texts
}

// cutting checks what holds of every event that leaves something out.
func (s *story) cutting(d session.Data) {
	before, all, texts, cut := lasting(&s.state), said(&s.state), current(s.main()), s.main().Cut
	s.add(d)
	if got := lasting(&s.state); !reflect.DeepEqual(got, before) {
		s.Fatalf("%+v changes\n%+v\nto\n%+v", d, before, got)
	}
	if err := illegal(s.main().Messages(), false); err != nil {
		s.Fatalf("after %+v: %v", d, err)
	}
	now := said(&s.state)
	if !within(now, all) {
		s.Fatalf("%+v makes of\n%q\nthis\n%q", d, all, now)
	}
	if !reflect.DeepEqual(current(s.main()), texts) {
		s.Fatalf("%+v makes of\n%q\nthis\n%q", d, texts, current(s.main()))
	}
	if len(now) > 0 && !strings.HasPrefix(now[0], "user ") {
		s.Fatalf("after %+v the first is %q", d, now[0])
	}
	if c := s.main().Cut; c.Before < cut.Before || c.Outputs < cut.Outputs || c.Dropped < cut.Dropped {
		s.Fatalf("%+v moves %+v back to %+v", d, cut, c)
	}
}
