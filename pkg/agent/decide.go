package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// A decision is asked of a child: it has to answer by calling a tool. Where a
// service can't force it to, an object in its words counts, if they were ended
// and there is no call of anything else beside.
type decision[T any] struct {
	kind  string // of question: "plan"
	tool  message.ToolSpec
	parse func(json.RawMessage) (T, error)
	// words finds what may be the decision in a text; nil where only calls count.
	words func(text string) []json.RawMessage
	// against, if it is there, tells what outweighs whatever else a reply says.
	against func(T) bool
}

// ask returns what a child has decided, or the action that brings it there.
// Where it could not be understood, twice, ok is false: the caller has a
// fallback, which it writes down.
func (d decision[T]) ask(s *session.State, scope string, task *brief) (got T, from string, ok bool, a Action) {
	from = question(s, s.Scope(scope), d.kind, task)
	child := s.Scope(from)
	if child == nil || !child.Ended() {
		begin := session.ChildCreated{System: prompt(d.kind), Tools: []string{}, Decide: d.tool.Name, Asked: task.mark()}
		return got, from, false, Spawn{[]Child{{Scope: from, Begin: begin, Strategy: d.strategy, told: task, offers: []message.ToolSpec{d.tool}}}}
	}
	got, err := d.understand(child.LastReply())
	return got, from, err == nil, nil
}

// question names the child that is asked: the one that was asked in the same
// words, or else another. What the user added, or a node that was done since,
// makes it another question; one that failed before the work was gone on with is
// asked again.
func question(s *session.State, sc *session.Scope, kind string, task *brief) string {
	name := sc.Question(kind)
	for try := 2; ; try++ {
		c := s.Scope(name)
		if c == nil || c.Child == nil {
			return name
		}
		failed := c.Ended() && c.Turn.Status != session.Completed
		if task.asked(c.Child) && !(failed && c.Turn.Since <= s.Since(sc)) {
			return name
		}
		name = fmt.Sprintf("%s/try-%d", sc.Question(kind), try)
	}
}

// strategy is the child's: an answer that can't be used is asked for once more.
func (d decision[T]) strategy(s *session.State, scope string) Action {
	sc := s.Scope(scope)
	r := sc.LastReply()
	if r == nil || len(r.Calls) > 0 && len(sc.Pending()) == 0 {
		return CallModel{Tools: []message.ToolSpec{d.tool}, Choice: d.tool.Name}
	}
	_, err := d.understand(r)
	switch {
	case err == nil:
		return finish(session.Completed, "")
	case sc.Turn.Steps >= 2:
		return because(session.Failed, session.ReasonIncomplete, unusable(d.kind)+err.Error())
	}
	why := err.Error()
	if len(r.Calls) == 0 {
		why += "\nIf you can't call tools, reply with what it takes, as JSON, and nothing else."
	}
	return again(sc, promptWith("again", why))
}

// again says what was wrong with a reply.
func again(sc *session.Scope, why string) Action {
	calls := sc.Pending()
	if len(calls) == 0 {
		return Record{[]session.Data{&session.UserMessage{Source: session.FromAgent, Text: why}}}
	}
	return Record{answers(calls, session.OutcomeInvalid, why)}
}

func answers(calls []*session.Call, o session.Outcome, text string) []session.Data {
	var results []session.Data
	for _, c := range calls {
		results = append(results, refuse(c, o, text))
	}
	return results
}

// understand reads a decision out of a reply. The last thing that can be
// understood counts, or one that is against; else it says what was wrong with the
// last that there was.
func (d decision[T]) understand(r *session.Reply) (got T, err error) {
	if r == nil {
		return got, d.uncalled()
	}
	own, foreign := d.calls(r)
	said := own
	if d.words != nil && !foreign && ended(r) && (len(own) == 0 || d.against == nil) {
		said = append(d.words(r.Text()), own...)
	}
	if len(said) == 0 || filtered(r) || d.against != nil && !ended(r) {
		return got, d.nothing(r)
	}
	return d.last(said)
}

// calls returns the arguments of a reply's own calls, and whether it calls what
// it was not offered.
func (d decision[T]) calls(r *session.Reply) (own []json.RawMessage, foreign bool) {
	for _, c := range r.Calls {
		if c.Wire.Name == d.tool.Name || d.tool.Name == "" {
			own = append(own, json.RawMessage(c.Wire.Arguments))
		} else {
			foreign = true
		}
	}
	return own, foreign
}

// ended reports whether a reply ended where its model wanted: what is behind the
// end of another nobody knows.
func ended(r *session.Reply) bool { return r.Stop != message.StopLength && !filtered(r) }

// nothing says what is wrong with a reply that holds no decision.
func (d decision[T]) nothing(r *session.Reply) error {
	switch {
	case r.Stop == message.StopLength:
		return errors.New("the reply was cut at the output limit; be shorter")
	case filtered(r):
		return errors.New("the reply was refused or filtered")
	}
	return d.uncalled()
}

func (d decision[T]) uncalled() error {
	return fmt.Errorf("call the tool %s with your decision", d.tool.Name)
}

// last understands the last of what was said that can be. Where one may be
// against, all have to be understood, and it counts.
func (d decision[T]) last(said []json.RawMessage) (got T, err error) {
	understood := false
	for i, raw := range slices.Backward(said) {
		v, perr := d.read(raw)
		switch {
		case perr != nil && d.against != nil:
			return got, perr
		case perr != nil && i == len(said)-1:
			err = perr
		case perr != nil:
		case d.against == nil:
			return v, nil
		case !understood || d.against(v):
			got, understood = v, true
		}
	}
	if understood {
		return got, nil
	}
	return got, err
}

func (d decision[T]) read(said json.RawMessage) (got T, err error) {
	raw := repaired(string(said))
	if raw == nil {
		return got, errors.New("the arguments are no JSON object")
	}
	if got, err = d.parse(raw); err != nil {
		err = errors.New(shorten(err.Error(), 500)) // it may repeat what the model said
	}
	return got, err
}

// spec describes a tool that a strategy answers itself.
func spec(name, description, schema string) message.ToolSpec {
	return message.ToolSpec{Name: name, Description: description, Schema: json.RawMessage(schema)}
}
