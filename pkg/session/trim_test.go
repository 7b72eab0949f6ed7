package session_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// F131: pairs stay together, order stays, the newest results and the words of
// the current turn stay, and the budget holds as far as that allows.
func TestTrimmedRequestsAreLegalAndFit(t *testing.T) {
	tellWith(t, func(s *story) {
		b := session.Budget{Chars: s.number(1, 6000, "budget"), Other: s.number(0, 100, "other"), Hard: s.number(0, 5, "hard") == 0}
		size := s.state.View("").Chars() + b.Other
		d := s.state.Trim("", b)
		if d == nil {
			s.least(b, size)
			return
		}
		dropped := s.main().Cut.Dropped
		s.cutting(d)
		if d.Turns < dropped || d.Before > s.state.Seq || d.Outputs > s.state.Seq {
			s.Fatalf("after %d events: %+v", s.state.Seq, d)
		}
		b.Hard = false
		now := s.state.View("").Chars() + b.Other
		if again := s.state.Trim("", b); again != nil {
			s.Fatalf("%+v of %d leads to %d, and then to %+v", b, size, now, again)
		}
		s.least(b, now)
	})
}

// least checks that a request which does not fit can't be made to.
func (s *story) least(b session.Budget, size int) {
	if size <= b.Chars {
		return
	}
	sc := s.main()
	for i, e := range sc.Entries {
		last := i == len(sc.Entries)-1
		if e.Reply == nil || last {
			continue
		}
		unseen := true
		for _, later := range sc.Entries[i+1:] {
			unseen = unseen && later.Reply == nil
		}
		if unseen {
			continue
		}
		if i < sc.Turn.First && !strings.Contains(fmt.Sprint(current(sc)), sc.Entries[i].Reply.Text()) && sc.Turn.First <= newestOf(sc) {
			s.Fatalf("%d of %d, and an old turn is sent: %q", size, b.Chars, e.Reply.Text())
		}
		for _, c := range e.Reply.Calls {
			if len([]rune(c.Result.Text)) > 200 {
				s.Fatalf("%d of %d, and an output is sent that was seen: %.80q", size, b.Chars, c.Result.Text)
			}
		}
	}
}

// newestOf is where the last reply with calls stands, if none came after it.
func newestOf(sc *session.Scope) int {
	for i := len(sc.Entries) - 1; i >= 0; i-- {
		if r := sc.Entries[i].Reply; r != nil && len(r.Calls) > 0 {
			return i
		} else if r != nil {
			break
		}
	}
	return len(sc.Entries)
}

func TestSummariesTakeThePlaceOfWhatTheyTellOf(t *testing.T) {
	tellWith(t, func(s *story) {
		switch s.number(0, 3, "cut") {
		case 0:
			p := s.main().Past(s.number(0, 1000, "keep"))
			if len(p.Entries) == 0 {
				return
			}
			left := len(s.main().Entries) - len(p.Entries)
			s.cutting(&session.ContextCompacted{Turns: p.Turns, Before: p.Before, Summary: "so far"})
			check(s.T, "entries that are left", len(s.main().Entries), left)
			check(s.T, "what can be summarised again", len(s.main().PastBefore(p.Before).Entries), 0)
			if !strings.Contains(s.state.View("").System, "\n\n[Summary of the earlier conversation]\nso far") {
				s.Fatalf("system: %q", s.state.View("").System)
			}
		case 1:
			if d := s.state.Trim("", session.Budget{Chars: s.number(1, 3000, "budget")}); d != nil {
				s.cutting(d)
			}
		}
	})
}

// A log that was folded bit by bit and one that is folded at once, after a
// crash, are sent alike.
func TestWhatIsSentAfterAResumeIsWhatWouldHaveBeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &story{T: t, before: func(s *story) {
			if d := s.state.Trim("", session.Budget{Chars: s.number(500, 4000, "budget")}); d != nil {
				s.add(d)
			}
			if p := s.main().Past(0); len(p.Entries) > 3 && s.number(0, 3, "compact") == 0 {
				s.add(&session.ContextCompacted{Turns: p.Turns, Before: p.Before, Summary: "so far"})
			}
		}}
		s.tell()
		var again session.State
		for _, e := range s.events {
			again.Apply(e)
		}
		if a, b := s.state.View(""), again.View(""); !reflect.DeepEqual(a, b) {
			t.Fatalf("sent\n%+v\nafter a resume\n%+v", a, b)
		}
	})
}

// steps adds steps of one call each, whose output has n characters.
func (l *log) steps(count, n int) {
	for range count {
		r := l.add(reply(message.StopCalls, "", asks("c", "x")))
		l.add(&session.ToolResult{Call: id(r, 0), Outcome: session.OutcomeOK, Text: strings.Repeat("输", n)})
	}
}

func outputs(l *log) string {
	var b strings.Builder
	for _, m := range l.main().Messages() {
		if m.Role != message.Tool {
			continue
		}
		if text := m.Parts[0].Result.Text; strings.HasPrefix(text, "[") {
			b.WriteByte('-')
		} else {
			b.WriteByte('#')
		}
	}
	return b.String()
}

func TestWhatIsLeftOutFirst(t *testing.T) {
	fresh := func() *log {
		l := newLog(task(), turn(1))
		l.steps(3, 1000)
		l.add(reply(message.StopEnd, "one"), ends(1, session.Completed, ""), says("second"), turn(2))
		l.steps(2, 1000)
		l.add(reply(message.StopEnd, "two"), ends(2, session.Completed, ""), says("third"), turn(3))
		l.steps(3, 1000)
		return l
	}
	for _, c := range []struct {
		budget int
		hard   bool
		left   string
		turns  int
	}{
		{9000, false, "########", 0},
		{8000, false, "---#####", 0}, // 70 % of it
		{6000, false, "-----###", 0},
		{4600, false, "###", 2}, // both old turns are short by now, and it still does not fit
		{4000, false, "-##", 2},
		{100, false, "--#", 2},
		{1500, true, "#", 2},
	} {
		l := fresh()
		if d := l.state.Trim("", session.Budget{Chars: c.budget, Hard: c.hard}); d != nil {
			l.add(d)
		}
		check(t, fmt.Sprintf("the outputs within %d", c.budget), outputs(l), c.left)
		check(t, fmt.Sprintf("the turns dropped within %d", c.budget), l.main().Cut.Dropped, c.turns)
		if err := illegal(l.main().Messages(), false); err != nil {
			t.Error(err)
		}
	}
}

func TestTheNoteSaysHowLongAnOutputWas(t *testing.T) {
	l := newLog(task(), turn(1))
	l.steps(1, 1000)
	r := l.add(reply(message.StopCalls, "", asks("d", "x")))
	l.add(&session.ToolResult{Call: id(r, 0), Text: strings.Repeat("b", 500), Artifact: &message.Artifact{Ref: "ab12"}})
	l.steps(1, 10)
	l.add(l.state.Trim("", session.Budget{Chars: 100}))
	check(t, "the first", l.main().Messages()[2].Parts[0].Result.Text, "[tool output omitted … 1000 chars]")
	check(t, "one that is kept", l.main().Messages()[4].Parts[0].Result.Text, "[tool output omitted … 500 chars; read artifact:ab12 for all of it]")
	check(t, "a short one", l.main().Messages()[6].Parts[0].Result.Text, strings.Repeat("输", 10))
	check(t, "the event", len([]rune(l.events[5].Data.(*session.ToolResult).Text)), 1000)
}

// The model is told how many turns are missing, at the end of its system
// prompt, and what the user wants if that was said in one of them.
func TestTheModelIsToldWhatIsMissing(t *testing.T) {
	l := newLog(&session.SettingsChanged{Settings: session.Settings{System: "Be short."}}, task(), turn(1))
	l.steps(2, 1000)
	l.add(ends(1, session.Interrupted, session.ReasonCrash), says("and the tests"), turn(2), reply(message.StopEnd, "all done"), ends(2, session.Completed, ""))
	l.add(says("third"), turn(3), ends(3, session.Interrupted, session.ReasonSignal), says("now"), turn(4))
	check(t, "nothing missing", l.state.View("").System, "Be short.")
	l.add(l.state.Trim("", session.Budget{Chars: 100}))
	check(t, "three turns missing", l.state.View("").System, "Be short.\n\n[3 earlier turns of this conversation left out]\n\n"+
		"[What the user asked for, word for word]\nthird\n\n[What the user had asked for first]\nthe task")
	check(t, "messages", len(l.main().Messages()), 1)
}

// A reply that says nothing may have had no room to read what was brought.
func TestResultsBeforeABlankReplyAreNotSeenYet(t *testing.T) {
	l := newLog(task(), turn(1))
	l.steps(2, 1000)
	l.add(reply(message.StopLength, ""), l.state.Trim("", session.Budget{Chars: 100, Hard: true}))
	check(t, "the outputs", outputs(l), "#")
}

// What was cut stays fitting for a while: a service's cache holds what stands
// before the newest.
func TestAWatermarkDoesNotMoveAtEveryStep(t *testing.T) {
	l := newLog(task(), turn(1))
	moves := 0
	for range 200 {
		l.steps(1, 300)
		if d := l.state.Trim("", session.Budget{Chars: 30000}); d != nil {
			l.add(d)
			moves++
		}
	}
	if moves < 2 || moves > 10 {
		t.Errorf("it moved %d times in 200 steps", moves)
	}
}

// A child's task is its first entry; what its parent is sent is none of its
// concern.
func TestAChildIsTrimmedByItself(t *testing.T) {
	var s session.State
	add := func(scope string, d session.Data) {
		s.Apply(session.Event{Seq: s.Seq + 1, Scope: scope, Time: at(s.Seq), Type: d.Type(), Data: d})
	}
	add("", &session.Created{Task: "the task", Settings: session.Settings{System: "Be short."}})
	add("", task())
	add("n", &session.ChildCreated{Task: "a part", System: "Be a child."})
	add("n", turn(1))
	for range 3 {
		add("n", reply(message.StopCalls, "", asks("c", "x")))
		add("n", &session.ToolResult{Call: id(s.Seq, 0), Text: strings.Repeat("x", 1000)})
	}
	add("n", s.Trim("n", session.Budget{Chars: 1500, Hard: true}))
	v := s.View("n")
	check(t, "the child's system prompt", v.System, "Be a child.\n\n[2 earlier steps of the work left out]")
	check(t, "the child's task", v.Messages[0].Text(), "a part")
	check(t, "the child's messages", len(v.Messages), 3)
	check(t, "the session's system prompt", s.View("").System, "Be short.")
	if s.Trim("", session.Budget{Chars: 1}) != nil || s.Trim("none", session.Budget{Chars: 1}) != nil || s.Trim("n", session.Budget{}) != nil {
		t.Error("there is nothing to be left out")
	}
}
