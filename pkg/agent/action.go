package agent

import (
	"encoding/json"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// Strategy decides what happens next in a scope. It is a pure function of the
// state: the same log always leads to the same decision, which is why there is
// no resume code.
type Strategy func(s *session.State, scope string) Action

// Action is what a strategy can ask for.
type Action interface{ action() }

// CallModel asks the model for the next reply. Tools are offered beside the
// scope's own, and are the strategy's to answer; Choice names the one that has
// to be called, "" for none. Note is said last and not kept. What is Spare can
// be done without: a service that fails ends the scope, but not the session.
type CallModel struct {
	Tools  []message.ToolSpec
	Choice string
	Note   string
	Output json.RawMessage // JSON Schema that the answer has to fit, nil for none
	Spare  bool
}

// CallTools runs calls of the last reply, or settles those in doubt.
type CallTools struct{ Calls []*session.Call }

// Spawn runs children, together, until one of them has come to its end. Those
// that run already go on. Whoever may run no more than N at once names no more.
type Spawn struct{ Children []Child }

// Child is a conversation of its own: Begin is what it begins with, unless it
// has begun already; its task and system prompt are completed by what it is told,
// as far as that fits into a request.
type Child struct {
	Scope    string
	Begin    session.ChildCreated
	Strategy Strategy

	told   *brief             // becomes its task; nil: that stands in Begin
	parts  []string           // of what is told, for its system prompt
	offers []message.ToolSpec // that its strategy offers
}

// Record writes down what the strategy concluded.
type Record struct{ Events []session.Data }

// Finish ends the turn.
type Finish struct {
	Status session.Status
	Reason session.Reason
	End    session.TurnEnd // its error and retry time; the rest is filled in

	final bool // it ends the session, whichever scope has met it
}

func (CallModel) action() {}
func (CallTools) action() {}
func (Spawn) action()     {}
func (Record) action()    {}
func (Finish) action()    {}

// finish is a Finish without an error.
func finish(status session.Status, reason session.Reason) Finish {
	return Finish{Status: status, Reason: reason}
}

// explain says in words why a turn ended as it did.
func explain(reason session.Reason, text string) *session.Failure {
	return &session.Failure{Kind: string(reason), Message: text}
}

// because is a Finish with its reason in words.
func because(status session.Status, reason session.Reason, text string) Finish {
	f := finish(status, reason)
	f.End.Error = explain(reason, text)
	return f
}

// blame is because, of what a model has replied: it names the model, as failures
// of a provider do.
func blame(r *session.Reply, status session.Status, reason session.Reason, text string) Finish {
	if r != nil && r.Model != "" {
		text = r.Model + ": " + text
	}
	return because(status, reason, text)
}

// ByName returns the strategy of that name, nil when there is none.
func ByName(name string) Strategy {
	switch name {
	case "react":
		return React
	case "plan-solve":
		return PlanSolve
	case "fusion":
		return Fusion
	case "orchestrator":
		return Orchestrator
	}
	return nil
}

// Names lists the agents there are.
func Names() []string { return []string{"react", "plan-solve", "fusion", "orchestrator"} }

// Describe says in a sentence what an agent does, "" of one that there is not.
func Describe(name string) string {
	switch name {
	case "react":
		return "asks the model, runs the tools it calls, until it answers"
	case "plan-solve":
		return "plans first, then works with the plan in view; plans anew where steps fail"
	case "fusion":
		return "looks how hard the task is; plans what is complex, and has the answer judged"
	case "orchestrator":
		return "splits the task into parts that run side by side, and joins their results"
	}
	return ""
}
