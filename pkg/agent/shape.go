package agent

import (
	"bytes"
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

const maxReshaped = 2 // how often an answer that does not fit is asked for again

// shaped lets an answer of the session's count only if it is JSON that fits the
// session's schema. What does not fit is asked for again, with what is wrong.
func shaped(next Strategy) Strategy {
	return func(s *session.State, scope string) Action {
		if scope != "" || len(s.Settings.OutputSchema) == 0 {
			return next(s, scope)
		}
		sc := s.Main()
		asked, reshaping := reshaped(s, sc)
		a := next
		if reshaping { // the work is done: only its form is left
			a = React
		}
		switch a := a(s, scope).(type) {
		case CallModel:
			a.Output = s.Settings.OutputSchema
			a.Note = strings.TrimSpace(a.Note + "\n\n" + promptWith("shape", string(a.Output)))
			return a
		case Finish:
			if a.Status != session.Completed {
				return a
			}
			return judgedShape(s, sc, a, asked)
		default:
			return a
		}
	}
}

func judgedShape(s *session.State, sc *session.Scope, done Finish, asked int) Action {
	_, problem := Data(s)
	switch {
	case problem == "":
		return done
	case asked >= maxReshaped:
		return blame(sc.LastReply(), session.Failed, session.ReasonSchema, "the answer does not fit the schema: "+problem)
	}
	return Record{[]session.Data{&session.UserMessage{Source: session.FromAgent, Text: promptWith("reshape", problem)}}}
}

// reshaped counts how often an answer was asked for again since the turn was
// begun, or gone on with, and whether that was the last that was said to the
// model.
func reshaped(s *session.State, sc *session.Scope) (asked int, last bool) {
	start := prompt("reshape")
	for _, e := range sc.Entries {
		if e.User == nil || e.Seq <= s.Since(sc) {
			continue
		}
		if last = e.User.Source == session.FromAgent && strings.HasPrefix(e.User.Text, start); last {
			asked++
		}
	}
	return asked, last
}

// Data is the session's answer as JSON that fits its schema, or what is wrong
// with it. Text around it is passed over.
func Data(s *session.State) (data json.RawMessage, problem string) {
	schema, err := tool.NewSchema(s.Settings.OutputSchema)
	if err != nil {
		return nil, err.Error()
	}
	text := strings.TrimSpace(s.Main().Answer())
	if json.Valid([]byte(text)) {
		if problem = schema.Problem(json.RawMessage(text)); problem == "" {
			return readable(json.RawMessage(text)), ""
		}
	}
	found := objects(text)
	for i := len(found) - 1; i >= 0; i-- {
		wrong := schema.Problem(found[i])
		if wrong == "" {
			return readable(found[i]), ""
		}
		if problem == "" {
			problem = wrong
		}
	}
	if problem == "" {
		problem = "it holds no JSON value"
	}
	return nil, problem
}

// readable is JSON without lone halves of surrogate pairs, at which jq and others
// refuse the whole.
func readable(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return raw
	}
	return json.RawMessage(message.CleanEscapes(string(raw)))
}
