package session_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

var (
	idForm   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
	nameForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// illegal is the strictest service there could be: it says what it would
// refuse a history for. The last message's calls may still wait if open.
func illegal(msgs []message.Message, open bool) error {
	seen := map[string]bool{}
	var owed []message.ToolCall
	last := len(msgs) - 1
	for last >= 0 && msgs[last].Role == message.Tool {
		last--
	}
	for i, m := range msgs {
		if len(m.Parts) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		for _, p := range m.Parts {
			if p.Type == message.TypeText && strings.TrimSpace(p.Text) == "" {
				return fmt.Errorf("message %d has a blank text", i)
			}
		}
		if m.Role == message.Tool {
			r := m.Parts[0].Result
			for open && i > last && len(owed) > 0 && r != nil && owed[0].ID != r.ID {
				owed = owed[1:]
			}
			if len(m.Parts) != 1 || r == nil || len(owed) == 0 || r.ID != owed[0].ID || r.Name != owed[0].Name {
				return fmt.Errorf("message %d is no result of the call whose turn it is: %+v", i, r)
			}
			owed = owed[1:]
			continue
		}
		if len(owed) > 0 {
			return fmt.Errorf("message %d comes before the result of %s", i, owed[0].ID)
		}
		owed = m.Calls()
		for _, c := range owed {
			var args map[string]json.RawMessage
			switch err := json.Unmarshal([]byte(c.Arguments), &args); {
			case seen[c.ID]:
				return fmt.Errorf("message %d repeats the id %q", i, c.ID)
			case !idForm.MatchString(c.ID):
				return fmt.Errorf("message %d has the id %q", i, c.ID)
			case !nameForm.MatchString(c.Name):
				return fmt.Errorf("message %d has the name %q", i, c.Name)
			case err != nil || args == nil:
				return fmt.Errorf("message %d has the arguments %q", i, c.Arguments)
			}
			seen[c.ID] = true
		}
	}
	if len(owed) > 0 && !open {
		return fmt.Errorf("the result of %s is missing", owed[0].ID)
	}
	return nil
}

// F026, F027, F029, F030, F031, F033, F095, F103: whatever a log holds, what is
// sent is legal everywhere.
func TestMessagesAreLegalWhateverTheLogHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s session.State
		for _, e := range anything(t) {
			s.Apply(e)
			sc := s.Scope(e.Scope)
			if err := illegal(sc.Messages(), len(sc.Pending()) > 0); err != nil {
				t.Fatalf("after %s %+v: %v\n%+v", e.Type, e.Data, err, sc.Messages())
			}
		}
	})
}

// A checkpoint encodes what is settled once only, and a service's cache holds
// what it has seen: neither may change before a watermark moves.
func TestSettledMessagesChangeOnlyWhereAWatermarkMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s session.State
		var p session.Projection
		var settled []message.Message
		for _, e := range anything(t) {
			s.Apply(e)
			sc := s.Main()
			if rapid.Bool().Draw(t, "look") {
				if p.Moved(sc) {
					settled = nil
				}
				settled = append(settled, p.Settled(sc)...)
				now := append(settled[:len(settled):len(settled)], p.Rest(sc)...)
				if all := sc.Messages(); len(all)+len(now) > 0 && !reflect.DeepEqual(now, all) {
					t.Fatalf("after event %d, %s\nbit by bit %+v\nat once    %+v", e.Seq, e.Type, now, all)
				}
			}
		}
	})
}

func calls(l *log) (ids []string) {
	for _, m := range l.main().Messages() {
		for _, c := range m.Calls() {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func TestAVendorsIDIsKeptWhereItIsLegalAndNew(t *testing.T) {
	for name, c := range map[string]struct{ first, second, want []string }{
		"good ones":                     {[]string{"toolu_1", "b"}, []string{"c"}, []string{"toolu_1", "b", "c"}},
		"repeated in a reply (F029)":    {[]string{"c", "c"}, nil, []string{"c", "call_5_1"}},
		"repeated in the next (F030)":   {[]string{"c"}, []string{"c"}, []string{"c", "call_7_0"}},
		"missing (F029)":                {[]string{"", ""}, nil, []string{"call_5_0", "call_5_1"}},
		"illegal, cut alike (F031)":     {[]string{"call_x|fc_1", "call_x|fc_2"}, nil, []string{"call_5_0", "call_5_1"}},
		"too long":                      {[]string{strings.Repeat("a", 41)}, nil, []string{"call_5_0"}},
		"as long as may be":             {[]string{strings.Repeat("a", 40)}, nil, []string{strings.Repeat("a", 40)}},
		"like ours, before ours":        {[]string{"call_5_1", ""}, nil, []string{"call_5_1", "call_5_2"}},
		"like ours, after ours":         {[]string{"", "call_5_0"}, nil, []string{"call_5_0", "call_5_1"}},
		"like ours of a reply to come":  {[]string{"call_7_0"}, []string{""}, []string{"call_7_0", "call_7_1"}},
		"like ours of an earlier reply": {[]string{""}, []string{"call_5_0"}, []string{"call_5_0", "call_7_0"}},
	} {
		l := newLog(task(), turn(1))
		for _, ids := range [][]string{c.first, c.second} {
			var asked []message.ToolCall
			for _, v := range ids {
				asked = append(asked, asks(v, "x"))
			}
			if len(asked) > 0 {
				r := l.add(reply(message.StopCalls, "", asked...))
				for i := range asked {
					l.add(brought(id(r, i), "ok"))
				}
				for l.state.Seq < 6 { // so that the second reply is event 7
					l.add(&session.StepEnd{Step: 1})
				}
			}
		}
		if got := calls(l); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if err := illegal(l.main().Messages(), false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// F103
func TestNamesThatAModelMadeUpAreLegalToReplay(t *testing.T) {
	for name, want := range map[string]string{
		"shell": "shell", "": "unnamed", "read file!": "read_file_", "shell\n": "shell_", "ä": "unnamed", "a.b/c": "a_b_c",
		strings.Repeat("n", 300): strings.Repeat("n", 64), "mcp__x-y": "mcp__x-y",
	} {
		l := newLog(task(), turn(1))
		r := l.add(reply(message.StopCalls, "", asks("c", name)))
		l.add(brought(id(r, 0), session.OutcomeInvalid))
		msgs := l.main().Messages()
		check(t, "the call's name", msgs[1].Calls()[0].Name, want)
		check(t, "the result's name", msgs[2].Parts[0].Result.Name, want)
		check(t, "the name in the log", l.main().LastReply().Calls[0].Wire.Name, name)
	}
}

// F095: the history holds an object, the result says what was wrong.
func TestArgumentsAreSentAsAnObject(t *testing.T) {
	for args, want := range map[string]string{
		`{"path": "a"}`: `{"path": "a"}`, ` {} `: ` {} `, "": "{}", "{": "{}", `{"path": "a.txt", }`: "{}", "[1]": "{}", `"x"`: "{}", "null": "{}",
		`{"path":"a"}{"path":"b"}`: "{}", "7": "{}",
	} {
		l := newLog(task(), turn(1))
		l.add(reply(message.StopCalls, "", message.ToolCall{ID: "c", Name: "x", Arguments: args}))
		check(t, fmt.Sprintf("what is sent for %q", args), l.main().Messages()[1].Calls()[0].Arguments, want)
	}
}

// F033
func TestBlankTextsAreLeftOut(t *testing.T) {
	l := newLog(says(" \n"), says("hi"), turn(1))
	l.add(reply(message.StopEnd, "\n\n"))
	check(t, "messages", len(l.main().Messages()), 1)
	r := l.add(&session.AssistantMessage{Parts: []message.Part{
		message.Text("  "), {Type: message.TypeReasoning, Text: "hm", Opaque: json.RawMessage(`{"s":1}`)}, message.Call(asks("c", "x")), message.Text("\n"),
	}, Model: "p/m"})
	l.add(brought(id(r, 0), "ok"))
	msgs := l.main().Messages()
	if len(msgs) != 3 || len(msgs[1].Parts) != 2 || msgs[1].Parts[0].Type != message.TypeReasoning || string(msgs[1].Parts[0].Opaque) != `{"s":1}` {
		t.Errorf("got %+v", msgs)
	}
	check(t, "who said it", msgs[1].Model, "p/m")
}

// F026: a call in the middle of a history that was left without a result.
func TestACallLeftWithoutAResultGetsOneThatSaysSo(t *testing.T) {
	l := newLog(task(), turn(1))
	r := l.add(reply(message.StopCalls, "", asks("a", "x"), asks("b", "y")))
	l.add(brought(id(r, 1), "ok"))
	msgs := l.main().Messages()
	if len(msgs) != 3 || msgs[2].Parts[0].Result.ID != "b" {
		t.Errorf("while a call waits: %+v", msgs)
	}
	l.add(says("never mind"), turn(2))
	msgs = l.main().Messages()
	if err := illegal(msgs, false); err != nil {
		t.Fatal(err)
	}
	res := msgs[2].Parts[0].Result
	if !res.IsError || !strings.Contains(res.Text, "no result") || msgs[4].Text() != "never mind" {
		t.Errorf("got %+v", msgs)
	}
}

// F027
func TestAResultWithoutItsCallIsNotSent(t *testing.T) {
	l := newLog(task(), turn(1), brought(id(99, 0), "ok"), brought(id(3, 0), "ok"))
	l.add(&session.AssistantMessage{Parts: []message.Part{message.Text("ok"), message.Result(message.ToolResult{ID: "gone"}), {Type: message.TypeCall}}})
	msgs := l.main().Messages()
	if len(msgs) != 2 || len(msgs[1].Parts) != 1 {
		t.Errorf("got %+v", msgs)
	}
}

func TestResultsFollowInTheOrderOfTheCallsWhateverCameFirst(t *testing.T) {
	l := newLog(task(), turn(1))
	r := l.add(reply(message.StopCalls, "", asks("a", "x"), asks("b", "y"), asks("c", "z")))
	for _, i := range []int{2, 0, 1} {
		o := session.OutcomeOK
		if i == 1 {
			o = session.OutcomeUnknown
		}
		l.add(brought(id(r, i), o))
	}
	for i, m := range l.main().Messages()[2:] {
		res := m.Parts[0].Result
		check(t, "a result", res.Text, fmt.Sprint("result of ", id(r, i)))
		check(t, "its being an error", res.IsError, i == 1)
		check(t, "its time", m.Time, l.main().LastReply().Calls[i].Ended)
	}
}
