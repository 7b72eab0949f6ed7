package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// author writes the events that a foreign file tells of, as they would have
// been written when they happened. Their fold is the state.
type author struct {
	clean  func(string) string // what texts pass through
	events []session.Event
	state  session.State
	now    time.Time // of the last event

	held    *session.AssistantMessage // a reply that the next message may add to
	waiting map[string][]session.CallID
	open    int // calls of the last reply without a result
}

// statement is a message of a foreign file.
type statement struct {
	role   string
	text   string
	calls  []message.ToolCall
	answer string // the id of the call that it is the result of
	at     time.Time
}

// unseenText is what the model is told of a call whose result is not in the
// file.
const unseenText = "The outcome of this call is unknown: the program that ran it was stopped, and its record has no result. It may have happened wholly, in part or not at all. Check before you repeat it."

// at moves the clock; it never goes back, and what has no time has that of the
// event before.
func (a *author) at(t time.Time) {
	if t.After(a.now) {
		a.now = t
	}
}

func (a *author) say(scope string, data ...session.Data) {
	for _, d := range data {
		e := session.Event{Seq: a.state.Seq + 1, Epoch: 1, Time: a.now.UTC(), Scope: scope, Type: d.Type(), Data: d}
		a.events = append(a.events, e)
		a.state.Apply(e)
	}
}

func (a *author) create(id, version, task string, settings session.Settings) {
	task, settings.System = a.clean(task), a.clean(settings.System)
	c := &session.Created{Schema: session.Schema, ID: id, Version: version, Task: task, Settings: settings}
	if task != "" {
		sum := sha256.Sum256([]byte(task))
		c.PromptHash = hex.EncodeToString(sum[:])
	}
	a.say("", c)
}

// converse writes a conversation of a scope, its turns left open.
func (a *author) converse(scope string, said []statement) {
	a.waiting, a.open = nil, 0
	spoken := func(m statement) bool { return m.role == "user" && strings.TrimSpace(m.text) != "" }
	if scope == "" && !a.scope(scope).Begun() && !slices.ContainsFunc(said, spoken) {
		a.user(scope, a.state.Task) // which stands elsewhere in the file
	}
	for _, m := range said {
		a.at(m.at)
		switch m.role {
		case "user":
			a.flush(scope)
			a.user(scope, a.clean(m.text))
		case "note":
			a.flush(scope)
			a.settle(scope)
			a.say(scope, &session.UserMessage{Source: session.FromAgent, Text: a.clean(m.text)})
		case "assistant":
			a.assistant(scope, m)
		case "tool":
			a.flush(scope)
			a.result(scope, m)
		}
	}
	a.flush(scope)
}

// user begins a turn; the first one takes up the task.
func (a *author) user(scope, text string) {
	sc := a.scope(scope)
	if strings.TrimSpace(text) == "" {
		return
	}
	a.settle(scope)
	a.endTurn(scope)
	d := &session.UserMessage{Source: session.FromUser, Text: text}
	if scope == "" && !sc.Begun() && text == a.state.Task {
		d = &session.UserMessage{Source: session.FromTask}
	}
	a.say(scope, d, &session.TurnStart{Turn: sc.Turn.N + 1})
}

func (a *author) scope(name string) *session.Scope {
	if sc := a.state.Scope(name); sc != nil {
		return sc
	}
	return &session.Scope{Name: name}
}

// endTurn closes a turn that another one follows.
func (a *author) endTurn(scope string) {
	sc := a.scope(scope)
	if !sc.Turn.Open {
		return
	}
	end := &session.TurnEnd{Turn: sc.Turn.N, Status: session.Interrupted, Reason: session.ReasonNetwork}
	if hasAnswer(sc) {
		end.Status, end.Reason = session.Completed, ""
	}
	a.say(scope, end)
}

// hasAnswer reports whether a conversation ends with an answer.
func hasAnswer(sc *session.Scope) bool {
	r := sc.LastReply()
	return r != nil && len(r.Calls) == 0 && !r.Blank()
}

// assistant takes a reply. One in words alone that another follows is a thought
// before it: services refuse two in a row.
func (a *author) assistant(scope string, m statement) {
	if a.held != nil && len((message.Message{Parts: a.held.Parts}).Calls()) > 0 {
		a.flush(scope)
	}
	a.settle(scope)
	if a.held == nil {
		a.held = &session.AssistantMessage{Stop: message.StopEnd}
	}
	if text := a.clean(m.text); strings.TrimSpace(text) != "" {
		if len(a.held.Parts) > 0 {
			text = "\n\n" + text
		}
		a.held.Parts = append(a.held.Parts, message.Text(text))
	}
	for _, c := range m.calls {
		c = message.ToolCall{ID: a.clean(c.ID), Name: a.clean(c.Name), Arguments: a.clean(c.Arguments)}
		a.held.Parts, a.held.Stop = append(a.held.Parts, message.Call(c)), message.StopCalls
	}
}

// flush writes the reply that is held.
func (a *author) flush(scope string) {
	d := a.held
	a.held = nil
	if d == nil || len(d.Parts) == 0 {
		return
	}
	sc := a.scope(scope)
	if !sc.Turn.Open { // nobody had asked
		a.say(scope, &session.TurnStart{Turn: sc.Turn.N + 1})
	}
	a.say(scope, &session.StepStart{Step: a.scope(scope).Steps + 1}, d)
	a.waiting, a.open = map[string][]session.CallID{}, 0
	for _, c := range a.scope(scope).LastReply().Calls {
		a.waiting[c.Wire.ID] = append(a.waiting[c.Wire.ID], c.ID)
		a.open++
	}
	a.endStep(scope)
}

// result is that of the first call of its id which waits for one. Without a
// call it means nothing to a model.
func (a *author) result(scope string, m statement) {
	ids := a.waiting[a.clean(m.answer)]
	if len(ids) == 0 {
		return
	}
	a.waiting[a.clean(m.answer)] = ids[1:]
	text := a.clean(m.text)
	a.say(scope, &session.ToolResult{Call: ids[0], Outcome: outcomeOf(text), Text: text})
	a.open--
	a.endStep(scope)
}

func (a *author) endStep(scope string) {
	if a.open == 0 {
		a.say(scope, &session.StepEnd{Step: a.scope(scope).Steps})
	}
}

// settle gives the calls that are still open a result: nobody knows theirs.
func (a *author) settle(scope string) {
	if a.open == 0 {
		return
	}
	for _, c := range a.scope(scope).Pending() {
		a.say(scope, &session.ToolResult{Call: c.ID, Outcome: session.OutcomeUnknown, Text: unseenText})
	}
	a.waiting, a.open = nil, 0
	a.endStep(scope)
}

// child writes the conversation of a child that has not ended. The first words
// in it are its task.
func (a *author) child(scope string, c *child) {
	a.say(scope, &session.ChildCreated{
		Task: a.clean(c.Task), System: a.clean(c.System), Tools: append([]string{}, c.Tools...), Decide: c.Decide, Profile: c.Profile,
	}, &session.TurnStart{Turn: 1})
	said := statementsOf(c.Messages)
	if len(said) > 0 && said[0].role == "user" {
		said = said[1:]
	}
	for i := range said {
		if said[i].role == "user" { // what a child is told, its agent says
			said[i].role = "note"
		}
	}
	a.converse(scope, said)
	a.doubt(scope, c.Pending, c.Status == session.Active)
}

// doubt says of calls that they had begun, unless it is known that they had not:
// without a key, which only the log had. Of an owner that was at work nothing is
// known since.
func (a *author) doubt(scope string, pending []pendingCall, atWork bool) {
	waits := map[int]bool{}
	for _, p := range pending {
		waits[p.Call.Index] = p.State == "waiting" && !atWork
	}
	for _, c := range a.scope(scope).Pending() {
		if !waits[c.ID.Index] {
			a.say(scope, &session.ToolCall{Call: c.ID, Tool: c.Wire.Name, Attempt: 1})
		}
	}
	a.waiting, a.open = nil, 0
}

// node writes what a node of a task graph has brought.
func (a *author) node(scope, task, output string, from, to time.Time) {
	was := a.now
	defer func() { a.now = was }() // nodes run side by side
	a.at(from)
	a.say(scope, &session.ChildCreated{Task: a.clean(task), Tools: []string{}}, &session.TurnStart{Turn: 1}, &session.StepStart{Step: 1})
	a.at(to)
	said := &session.AssistantMessage{Parts: []message.Part{message.Text(a.clean(output))}, Stop: message.StopEnd}
	a.say(scope, said, &session.StepEnd{Step: 1}, &session.TurnEnd{Turn: 1, Status: session.Completed})
}
