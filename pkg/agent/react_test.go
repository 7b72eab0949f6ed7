package agent_test

import (
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// fold applies data after a session has begun its first turn; the first of
// them is event 4.
func fold(data ...session.Data) *session.State {
	m := newLedger(session.Settings{})
	_ = m.Append("", &session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1})
	_ = m.Append("", data...)
	return m.state
}

func reply(stop message.StopReason, text string, calls ...string) session.Data {
	r := &session.AssistantMessage{Stop: stop, Parts: []message.Part{message.Text(text)}}
	for _, name := range calls {
		r.Parts = append(r.Parts, message.Call(message.ToolCall{Name: name}))
	}
	return r
}

func result(reply int64, i int) session.Data {
	return &session.ToolResult{Call: session.CallID{Reply: reply, Index: i}, Outcome: session.OutcomeOK}
}

func TestWhatReactDoesNext(t *testing.T) {
	goOn := &session.UserMessage{Source: session.FromAgent, Text: "go on"}
	ended := func(s session.Status, r session.Reason) session.Data {
		return &session.TurnEnd{Turn: 1, Status: s, Reason: r}
	}
	again := &session.TurnStart{Turn: 1, Continues: 1}
	cut, blank := reply(message.StopLength, "a"), reply(message.StopEnd, " \n")
	thought := reply(message.StopEnd, "<think>hm</think>\n")
	many := func(n int, d ...session.Data) (list []session.Data) {
		for range n {
			list = append(list, d...)
		}
		return list
	}
	for name, c := range map[string]struct {
		data []session.Data
		want string
	}{
		"nobody has answered yet":           {nil, "model"},
		"calls wait":                        {[]session.Data{reply(message.StopCalls, "", "x", "y")}, "tools 2"},
		"one of them still waits":           {[]session.Data{reply(message.StopCalls, "", "x", "y"), result(5, 0)}, "tools 1"},
		"none waits: empty, but not none":   {[]session.Data{reply(message.StopCalls, "", "x"), result(5, 0)}, "model"},
		"an answer":                         {[]session.Data{reply(message.StopEnd, "yes")}, "completed "},
		"an answer that says tool_calls":    {[]session.Data{reply(message.StopCalls, "yes")}, "completed "},
		"a stop reason nobody knows":        {[]session.Data{reply("?", "yes")}, "completed "},
		"the user spoke after it":           {[]session.Data{reply(message.StopEnd, "yes"), &session.UserMessage{Source: session.FromUser, Text: "and"}}, "model"},
		"filtered":                          {[]session.Data{reply(message.StopFilter, "half")}, "failed content_filter"},
		"refused":                           {[]session.Data{reply(message.StopRefusal, "no")}, "failed content_filter"},
		"refused without a word":            {[]session.Data{reply(message.StopRefusal, "")}, "failed content_filter"},
		"a call and then cut":               {[]session.Data{reply(message.StopLength, "", "x")}, "tools 1"},
		"its result, after the cut":         {[]session.Data{reply(message.StopLength, "", "x"), result(5, 0)}, "model"},
		"cut":                               {[]session.Data{cut}, "record"},
		"asked to go on":                    {[]session.Data{cut, goOn}, "model"},
		"cut for the third time":            {append(many(2, cut, goOn), cut), "record"},
		"cut for the fourth time":           {append(many(3, cut, goOn), cut), "paused max_output"},
		"the fourth, after a crash":         {append(many(3, cut, goOn), ended(session.Interrupted, session.ReasonCrash), again, cut), "paused max_output"},
		"a person went on":                  {append(many(4, cut, goOn), ended(session.Paused, session.ReasonMaxOutput), again, cut), "record"},
		"cuts of another step do not count": {append(many(3, cut, goOn), reply(message.StopCalls, "", "x"), result(11, 0), cut), "record"},
		"blank":                             {[]session.Data{blank}, "model"},
		"blank twice":                       {many(2, blank), "failed incomplete"},
		"thoughts alone, twice":             {many(2, thought), "failed incomplete"},
		"blank twice, with a crash between": {[]session.Data{blank, ended(session.Interrupted, session.ReasonCrash), again, blank}, "failed incomplete"},
		"blank and then an answer":          {[]session.Data{blank, reply(message.StopEnd, "yes")}, "completed "},
		"resumed after it failed as blank":  {append(many(2, blank), ended(session.Failed, session.ReasonIncomplete), again), "model"},
		"cut without a word":                {[]session.Data{reply(message.StopLength, "")}, "record"},
	} {
		got := ""
		switch a := agent.React(fold(c.data...), "").(type) {
		case agent.CallModel:
			got = "model"
		case agent.CallTools:
			got = "tools " + string(rune('0'+len(a.Calls)))
		case agent.Record:
			got = "record"
			if d, ok := a.Events[0].(*session.UserMessage); !ok || d.Source != session.FromAgent || d.Text == "" {
				t.Errorf("%s: records %+v", name, a.Events)
			}
		case agent.Finish:
			got = string(a.Status) + " " + string(a.Reason)
		}
		check(t, "after \""+name+"\" the next", got, c.want)
	}
}

func TestAScopeInWhichNothingHappenedAsksTheModel(t *testing.T) {
	if _, ok := agent.React(&session.State{}, "plan-1").(agent.CallModel); !ok {
		t.Error("it does not")
	}
}

// A strategy is a pure function: asked twice, it says the same and changes
// nothing.
func TestReactIsPure(t *testing.T) {
	for _, d := range []session.Data{reply(message.StopCalls, "", "x"), reply(message.StopLength, "a"), reply(message.StopEnd, "")} {
		s := fold(d)
		first := agent.React(s, "")
		if second := agent.React(s, ""); !equal(first, second) {
			t.Errorf("first %+v, then %+v", first, second)
		}
		if !equal(s, fold(d)) {
			t.Error("the state was changed")
		}
	}
}

func TestAgentsAreFoundByName(t *testing.T) {
	for _, name := range agent.Names() {
		if agent.ByName(name) == nil {
			t.Errorf("there is no agent %q", name)
		}
	}
	if agent.ByName("ghost") != nil {
		t.Error("there is an agent ghost")
	}
	if agent.DefaultSystem() == "" {
		t.Error("there is no default system prompt")
	}
}

// A reply that was filtered is no wish: its calls are not run.
func TestCallsOfAFilteredReplyAreNotRun(t *testing.T) {
	for _, stop := range []message.StopReason{message.StopFilter, message.StopRefusal} {
		var s session.State
		for i, d := range []session.Data{
			&session.UserMessage{Source: session.FromUser, Text: "x"}, &session.TurnStart{Turn: 1},
			&session.AssistantMessage{Stop: stop, Parts: []message.Part{message.Call(message.ToolCall{Name: "shell", Arguments: "{}"})}},
		} {
			s.Apply(session.Event{Seq: int64(i + 1), Type: d.Type(), Data: d})
		}
		if f, ok := agent.React(&s, "").(agent.Finish); !ok || f.Reason != session.ReasonContentFilter {
			t.Errorf("%s: %#v, want a Finish with content_filter", stop, f)
		}
	}
}

// Blank replies and cut ones in turn do not go on for ever.
func TestBlankAndCutRepliesTogetherAreBounded(t *testing.T) {
	var s session.State
	seq := int64(0)
	say := func(d session.Data) {
		seq++
		s.Apply(session.Event{Seq: seq, Type: d.Type(), Data: d})
	}
	say(&session.UserMessage{Source: session.FromUser, Text: "x"})
	say(&session.TurnStart{Turn: 1})
	for n := range 10 {
		switch a := agent.React(&s, "").(type) {
		case agent.Finish:
			return
		case agent.Record:
			say(a.Events[0])
		}
		reply := &session.AssistantMessage{Stop: message.StopEnd}
		if n%2 == 0 {
			reply = &session.AssistantMessage{Stop: message.StopLength, Parts: []message.Part{message.Text("half")}}
		}
		say(reply)
	}
	t.Error("ten replies that say nothing, and no end")
}
