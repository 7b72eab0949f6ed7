package session_test

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// failer is a test, or a try of a property.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

var epoch = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

// at is the moment of an event: each has its own.
func at(seq int64) time.Time { return epoch.Add(time.Duration(seq) * time.Second) }

// log builds a log and its fold together.
type log struct {
	events []session.Event
	state  session.State
}

// add appends events and returns the number of the last one.
func (l *log) add(data ...session.Data) int64 {
	for _, d := range data {
		seq := l.state.Seq + 1
		e := session.Event{Seq: seq, Epoch: 1, Time: at(seq), Type: d.Type(), Data: d}
		l.events = append(l.events, e)
		l.state.Apply(e)
	}
	return l.state.Seq
}

func newLog(data ...session.Data) *log {
	l := &log{}
	l.add(&session.Created{Schema: session.Schema, ID: "s", Task: "the task"}, &session.Opened{Attempt: 1})
	l.add(data...)
	return l
}

func (l *log) main() *session.Scope { return l.state.Main() }

func task() *session.UserMessage { return &session.UserMessage{Source: session.FromTask} }
func says(text string) session.Data {
	return &session.UserMessage{Source: session.FromUser, Text: text}
}

func goOn() session.Data                   { return &session.UserMessage{Source: session.FromAgent, Text: "go on"} }
func turn(n int) session.Data              { return &session.TurnStart{Turn: n} }
func continued(n int) session.Data         { return &session.TurnStart{Turn: n, Continues: n} }
func id(reply int64, i int) session.CallID { return session.CallID{Reply: reply, Index: i} }

func ends(n int, s session.Status, r session.Reason) session.Data {
	return &session.TurnEnd{Turn: n, Status: s, Reason: r}
}

// reply is a reply of one text, "" for none, with calls.
func reply(stop message.StopReason, text string, calls ...message.ToolCall) session.Data {
	r := &session.AssistantMessage{Stop: stop, Model: "p/m", Usage: message.Usage{Total: 10}}
	if text != "" {
		r.Parts = append(r.Parts, message.Text(text))
	}
	for _, c := range calls {
		r.Parts = append(r.Parts, message.Call(c))
	}
	return r
}

func asks(id, name string) message.ToolCall {
	return message.ToolCall{ID: id, Name: name, Arguments: `{"n":1}`}
}

func begun(c session.CallID, attempt int) session.Data {
	return &session.ToolCall{Call: c, Tool: "x", Attempt: attempt, Key: fmt.Sprint("key ", c)}
}

func brought(c session.CallID, o session.Outcome) session.Data {
	return &session.ToolResult{Call: c, Outcome: o, Text: fmt.Sprint("result of ", c)}
}

// vendorIDs are ids as models give them: good, repeated, missing, illegal
// somewhere, too long, and such as we would make ourselves.
var vendorIDs = []string{
	"", "c", "c", "toolu_01", "shell:0", "call_x|fc_1", "call_x|fc_2", "ä", " ", "call_3_0", "call_4_0", "call_4_1", "call_5_0", "call_6_0",
	"a123456789a123456789a123456789a123456789", "a123456789a123456789a123456789a123456789b",
}

// anything draws a log of random events in a random order, ids included that
// never were, some of them in another scope.
func anything(t *rapid.T) []session.Event {
	g := generator{T: t}
	n := rapid.SampledFrom([]int{5, 20, 40}).Draw(t, "events")
	events := make([]session.Event, n)
	for i := range events {
		g.seq++
		if rapid.IntRange(0, 30).Draw(t, "jump") == 30 {
			g.seq = rapid.Int64Range(-5, 50).Draw(t, "seq")
		}
		d := g.data()
		events[i] = session.Event{
			Seq: g.seq, Epoch: g.small(), Time: at(g.seq), Type: d.Type(), Data: d,
			Scope: rapid.SampledFrom([]string{"", "", "", "", "plan-1"}).Draw(t, "scope"),
		}
	}
	return events
}

type generator struct {
	*rapid.T
	seq     int64
	replies []int64
}

func (g *generator) small() int64 {
	return rapid.SampledFrom([]int64{0, 1, 2, 3, -1}).Draw(g.T, "number")
}

func (g *generator) word() string {
	return rapid.SampledFrom([]string{"", " \n", "yes", "x y"}).Draw(g.T, "word")
}

// call is mostly one of the last reply, else one of an earlier one or none.
func (g *generator) call() session.CallID {
	reply, n := rapid.Int64Range(-1, max(g.seq, 0)+2).Draw(g.T, "reply"), len(g.replies)
	if n > 0 && rapid.IntRange(0, 9).Draw(g.T, "no reply") < 9 {
		reply = g.replies[max(0, n-1-rapid.SampledFrom([]int{0, 0, 1}).Draw(g.T, "back"))]
	}
	return id(reply, int(g.small()))
}

func (g *generator) data() session.Data {
	n, word := int(g.small()), g.word()
	switch rapid.IntRange(0, 19).Draw(g.T, "kind") { // small numbers are drawn more often
	case 0, 3:
		g.replies = append(g.replies, g.seq)
		return g.reply()
	case 1, 4:
		outcome := rapid.SampledFrom([]session.Outcome{"ok", "error", "denied", "not_run", "unknown", "?"}).Draw(g.T, "outcome")
		text := strings.Repeat("输出 ", rapid.SampledFrom([]int{1, 1, 0, 200}).Draw(g.T, "length"))
		return &session.ToolResult{Call: g.call(), Outcome: outcome, Text: text}
	case 2:
		source := rapid.SampledFrom([]session.Source{session.FromUser, session.FromTask, session.FromAgent, "ghost"})
		return &session.UserMessage{Source: source.Draw(g.T, "source"), Text: word, Inbox: rapid.SampledFrom([]string{"", "1", "2"}).Draw(g.T, "inbox")}
	case 5:
		return begun(g.call(), n)
	case 6, 7:
		return &session.TurnStart{Turn: n, Continues: int(g.small())}
	case 8:
		return &session.TurnEnd{Turn: n, Status: session.Paused, Reason: session.Reason(word)}
	case 9:
		return &session.StepStart{Step: n}
	case 10:
		return &session.StepEnd{Step: n}
	case 11:
		used := message.Usage{Input: int64(n), Total: int64(n)}
		return rapid.SampledFrom([]*session.RequestRetried{
			{Attempt: n}, {Attempt: n, Billed: session.Billed{Model: word, Usage: &used}}, {Attempt: n, GivenUp: true, Billed: session.Billed{Usage: &used, CostUSD: new(float64)}},
		}).Draw(g.T, "retry")
	case 12:
		return &session.AssistantChunk{Text: word}
	case 13:
		return &session.OutcomeSettled{Call: g.call(), Verdict: session.Verdict(word)}
	case 14:
		return &session.Created{ID: word, Task: word, Schema: session.Schema}
	case 15:
		return &session.Opened{Attempt: n}
	case 16:
		return &session.SettingsChanged{Settings: session.Settings{Model: word}}
	case 17:
		return &session.Removed{}
	case 18:
		return g.conclusion(n, word)
	}
	return session.Unknown{Kind: "new/kind"}
}

func (g *generator) conclusion(n int, word string) session.Data {
	from := rapid.SampledFrom([]string{"", "plan-1", "plan-1/x-2", "-", "/"}).Draw(g.T, "from")
	before := g.seq - rapid.Int64Range(-2, 30).Draw(g.T, "before")
	return rapid.SampledFrom([]session.Data{
		&session.ChildCreated{Task: word, Decide: word},
		&session.PlanSet{Steps: []string{word}, Done: []int{n}, Replans: n, From: from},
		&session.RouteSet{Complexity: word, From: from},
		&session.GraphSet{Round: n, Nodes: []session.GraphNode{{ID: word, Needs: []string{word}}}, From: from},
		&session.VerdictGiven{OK: n > 1, Reply: int64(n), From: from},
		&session.AnswerAdopted{From: from},
		&session.ApprovalGiven{What: word},
		&session.ContextTrimmed{Turns: n, Before: before, Outputs: g.seq},
		&session.ContextTrimmed{Turns: n, Before: int64(n), Outputs: before},
		&session.ContextCompacted{Turns: n, Before: before, Summary: word, From: from},
		&session.CompactFailed{From: from},
		&session.Forked{From: word},
		&session.Imported{Note: word, Iterations: n, Usage: message.Usage{Total: int64(n)}},
	}).Draw(g.T, "conclusion")
}

func (g *generator) reply() session.Data {
	stop := rapid.SampledFrom([]message.StopReason{message.StopEnd, message.StopCalls, message.StopLength, "?"})
	r := &session.AssistantMessage{Stop: stop.Draw(g.T, "stop"), Model: "p/m"}
	if rapid.Bool().Draw(g.T, "masked") {
		r.Masked = []string{g.word()}
	}
	for range rapid.IntRange(0, 4).Draw(g.T, "parts") {
		switch rapid.IntRange(0, 6).Draw(g.T, "part") {
		case 4:
			r.Parts = append(r.Parts, message.Text(g.word()))
		case 5:
			r.Parts = append(r.Parts, message.Part{Type: message.TypeReasoning, Text: g.word()})
		case 6: // parts that make no sense
			r.Parts = append(r.Parts, message.Part{Type: message.TypeCall}, message.Result(message.ToolResult{ID: "gone"}))
		default:
			r.Parts = append(r.Parts, message.Call(message.ToolCall{
				ID:        rapid.SampledFrom(vendorIDs).Draw(g.T, "vendor id"),
				Name:      rapid.SampledFrom([]string{"shell", "", "read file!", "shell\n", "ä"}).Draw(g.T, "name"),
				Arguments: rapid.SampledFrom([]string{"{}", `{"a":[1]}`, "", "{", "[1]", "null", `"x"`, `{"a":1}{"b":2}`}).Draw(g.T, "arguments"),
			}))
		}
	}
	return r
}

func check[T comparable](t failer, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
