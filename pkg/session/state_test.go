package session_test

import (
	"strings"
	"testing"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// Every prefix of a log is a session: what each says of itself.
func TestTheStatusOfEveryPrefix(t *testing.T) {
	l := &log{}
	steps := []struct {
		data   session.Data
		status session.Status
		reason session.Reason
	}{
		{&session.Created{ID: "s", Task: "t"}, session.Active, ""},
		{&session.Opened{Attempt: 1}, session.Active, ""},
		{task(), session.Active, ""},
		{turn(1), session.Active, ""},
		{&session.StepStart{Step: 1}, session.Active, ""},
		{&session.AssistantChunk{Text: "a"}, session.Active, ""},
		{ends(1, session.Interrupted, session.ReasonCrash), session.Interrupted, session.ReasonCrash},
		{&session.Opened{Attempt: 2}, session.Interrupted, session.ReasonCrash},
		{continued(1), session.Active, ""},
		{reply(message.StopEnd, "yes"), session.Active, ""},
		{&session.StepEnd{Step: 1}, session.Active, ""},
		{ends(1, session.Completed, ""), session.Completed, ""},
		{&session.SettingsChanged{}, session.Completed, ""},
		// F041: a prompt that no turn has taken up is work to do, not a finished session.
		{says("and now?"), session.Active, ""},
		{turn(2), session.Active, ""},
		{ends(2, session.Paused, session.ReasonMaxSteps), session.Paused, session.ReasonMaxSteps},
		{&session.LogRepaired{}, session.Paused, session.ReasonMaxSteps},
	}
	for i, s := range steps {
		l.add(s.data)
		status, reason := l.state.Status()
		if status != s.status || reason != s.reason {
			t.Errorf("after event %d, %s: %s %s, want %s %s", i+1, s.data.Type(), status, reason, s.status, s.reason)
		}
	}
	check(t, "the status of nothing", first((&session.State{}).Status()), session.Active)
}

func first[A, B any](a A, _ B) A { return a }

func TestAMessageIsUnheardUntilATurnTakesItUp(t *testing.T) {
	l := newLog(task())
	check(t, "unheard", l.main().Unheard(), true)
	l.add(turn(1))
	check(t, "unheard", l.main().Unheard(), false)
	l.add(reply(message.StopLength, "a"), goOn())
	check(t, "what the agent says to itself, unheard", l.main().Unheard(), false)
	l.add(reply(message.StopEnd, "b"), ends(1, session.Completed, ""), says("one"), says("two"))
	check(t, "unheard", l.main().Unheard(), true)
	l.add(turn(2))
	check(t, "unheard", l.main().Unheard(), false)
	check(t, "the turn's first entry", l.main().Turn.First, 4)
}

func TestTheTaskIsHeardWithoutBeingWrittenTwice(t *testing.T) {
	l := newLog(task())
	check(t, "the task", l.main().Entries[0].User.Text, "the task")
	d := l.events[2].Data.(*session.UserMessage)
	check(t, "the text in the log", d.Text, "")
}

func TestEmptyAndNoneDiffer(t *testing.T) {
	l := newLog(task(), turn(1))
	if l.main().LastReply() != nil || l.main().Pending() != nil {
		t.Error("a reply before there was one")
	}
	r := l.add(reply(message.StopCalls, "", asks("a", "x")))
	check(t, "pending calls", len(l.main().Pending()), 1)
	l.add(brought(id(r, 0), session.OutcomeOK))
	check(t, "pending calls", len(l.main().Pending()), 0)
	check(t, "calls of the reply whose results are all there", len(l.main().LastReply().Calls), 1)
	l.add(reply(message.StopEnd, "done"))
	check(t, "pending calls", len(l.main().Pending()), 0)
	check(t, "calls of the answer", len(l.main().LastReply().Calls), 0)
	l.add(says("thanks"))
	if l.main().LastReply() != nil {
		t.Error("somebody else has spoken since")
	}
}

func TestTheAnswerIsJoinedFromItsPieces(t *testing.T) {
	cut := func(s string) session.Data { return reply(message.StopLength, s) }
	whole := func(s string) session.Data { return reply(message.StopEnd, s) }
	for name, c := range map[string]struct {
		data []session.Data
		want string
	}{
		"nothing yet":                 {nil, ""},
		"one reply":                   {[]session.Data{whole("a")}, "a"},
		"cut and continued":           {[]session.Data{cut("a "), goOn(), cut("b "), goOn(), whole("c")}, "a b c"},
		"cut, not continued yet":      {[]session.Data{cut("a "), goOn()}, "a "},
		"text beside calls":           {[]session.Data{reply(message.StopCalls, "let me see", asks("c", "x")), brought(id(5, 0), "ok"), whole("b")}, "b"},
		"cut after calls":             {[]session.Data{reply(message.StopCalls, "look", asks("c", "x")), brought(id(5, 0), "ok"), cut("a"), goOn(), whole("b")}, "ab"},
		"a blank reply in between":    {[]session.Data{cut("a"), goOn(), reply(message.StopEnd, " \n"), whole("b")}, "ab"},
		"a blank reply at the end":    {[]session.Data{cut("a"), goOn(), reply(message.StopEnd, "")}, "a"},
		"white space is the answer's": {[]session.Data{cut("a\n"), goOn(), whole("\nb ")}, "a\n\nb "},
		"a call that was cut":         {[]session.Data{reply(message.StopLength, "I will write. ", asks("c", "x")), brought(id(5, 0), "cut"), whole("b")}, "b"},
		"cut, then a call, then more": {[]session.Data{cut("a "), goOn(), reply(message.StopCalls, "b ", asks("c", "x")), brought(id(7, 0), "ok"), whole("c")}, "c"},
		"a cut call between pieces":   {[]session.Data{cut("a "), goOn(), reply(message.StopLength, "b ", asks("c", "x")), brought(id(7, 0), "cut"), cut("c "), goOn(), whole("d")}, "c d"},
		"nothing after a call":        {[]session.Data{reply(message.StopLength, "a ", asks("c", "x")), brought(id(5, 0), "ok"), cut("")}, ""},
		"another turn's is another's": {[]session.Data{cut("old"), ends(1, session.Paused, ""), says("new"), turn(2), whole("b")}, "b"},
		"none in this turn":           {[]session.Data{whole("old"), ends(1, session.Completed, ""), says("new"), turn(2)}, ""},
	} {
		check(t, "the answer of "+name, newLog(append([]session.Data{task(), turn(1)}, c.data...)...).main().Answer(), c.want)
	}
}

func TestDurationsReadAsTheyAreWritten(t *testing.T) {
	var d session.Duration
	if err := d.UnmarshalText([]byte("1m30s")); err != nil || time.Duration(d) != 90*time.Second {
		t.Errorf("got %v, %v", d, err)
	}
	if b, err := d.MarshalText(); err != nil || string(b) != "1m30s" {
		t.Errorf("written as %s, %v", b, err)
	}
	if err := d.UnmarshalText([]byte("soon")); err == nil {
		t.Error("soon is no duration")
	}
}

// Thoughts between tags are no answer, unless more may follow.
func TestThoughtsAloneSayNothing(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \n": true, "hi": false,
		"<think>hm</think>": true, "<think>hm": true, " <think>a</think>\n<think>b</think> ": true, "<thinking>嗯 😀</thinking>\n": true,
		"<think>hm</think>\nhi": false, "hi <think>hm</think>": false, "<thin>": false, "the tag <think>": false,
	} {
		said := &session.Reply{AssistantMessage: session.AssistantMessage{Parts: []message.Part{message.Text(text)}, Stop: message.StopEnd}}
		if said.Blank() != want {
			t.Errorf("%q: blank %v, want %v", text, said.Blank(), want)
		}
		said.Stop = message.StopLength
		if blank := strings.TrimSpace(text) == ""; said.Blank() != blank {
			t.Errorf("%q, cut: blank %v, want %v", text, said.Blank(), blank)
		}
	}
}
