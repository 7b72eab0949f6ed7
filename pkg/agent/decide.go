package agent

import (
	"encoding/json"
	"errors"
	"fmt"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// A decision is asked of a child: it has to answer by calling a tool. Where a
// service can't force it to, the last useful object in its words counts.
type decision[T any] struct {
	kind  string // of question: "plan"
	tool  message.ToolSpec
	parse func(json.RawMessage) (T, error)
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
	return again(sc, promptWith("again", err.Error()))
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
// understood counts; else it says what was wrong with the last that there was.
func (d decision[T]) understand(r *session.Reply) (got T, err error) {
	err = fmt.Errorf("call the tool %s with your decision", d.tool.Name)
	if r == nil {
		return got, err
	}
	if r.Stop == message.StopLength && len(r.Calls) == 0 && len(objects(r.Text())) == 0 {
		return got, errors.New("the reply was cut at the output limit; be shorter")
	}
	said := objects(r.Text())
	for _, c := range r.Calls {
		if c.Wire.Name == d.tool.Name || d.tool.Name == "" {
			said = append(said, json.RawMessage(c.Wire.Arguments))
		}
	}
	for i := len(said) - 1; i >= 0; i-- {
		raw := repaired(string(said[i]))
		if raw == nil {
			err = errors.New("the arguments are no JSON object")
			continue
		}
		v, perr := d.parse(raw)
		if perr == nil {
			return v, nil
		}
		if i == len(said)-1 {
			err = errors.New(shorten(perr.Error(), 500)) // it may repeat what the model said
		}
	}
	return got, err
}

// spec describes a tool that a strategy answers itself.
func spec(name, description, schema string) message.ToolSpec {
	return message.ToolSpec{Name: name, Description: description, Schema: json.RawMessage(schema)}
}
