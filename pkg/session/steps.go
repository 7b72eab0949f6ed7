package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"kagent/pkg/message"
)

// StepSchema names the format of a Step.
const StepSchema = "kagent/step/v1"

// Step is one thing that was done: a model was asked, it thought, a tool ran.
// Input and Output are what went in and came out, null where there is nothing.
type Step struct {
	Schema    string          `json:"schema"`
	ID        string          `json:"id"`
	Scope     string          `json:"scope"`
	Type      StepType        `json:"type"`
	Status    StepStatus      `json:"status"`
	StartedAt *time.Time      `json:"startedAt"`
	EndedAt   *time.Time      `json:"endedAt"`
	Usage     *message.Usage  `json:"usage"`
	Cost      *float64        `json:"cost"` // in US dollars; null: unknown
	Model     string          `json:"model,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Attempts  int             `json:"attempts"`
	Outcome   Outcome         `json:"outcome,omitempty"` // of a tool
	Input     json.RawMessage `json:"input"`
	Output    *string         `json:"output"`
	Error     *Failure        `json:"error,omitempty"`
}

// StepType is the kind of a step.
type StepType string

// The kinds of step.
const (
	StepThinking StepType = "thinking"
	StepLLM      StepType = "llm"
	StepTool     StepType = "tool"
)

// StepStatus says how far a step has come.
type StepStatus string

// The statuses of a step. A call in doubt is running: it has begun.
const (
	StepPending   StepStatus = "pending"
	StepStreaming StepStatus = "streaming"
	StepRunning   StepStatus = "running"
	StepCompleted StepStatus = "completed"
	StepFailed    StepStatus = "failed"
)

// Took is how long a step took, 0 where that is not known.
func (s *Step) Took() time.Duration {
	if s.StartedAt == nil || s.EndedAt == nil {
		return 0
	}
	return s.EndedAt.Sub(*s.StartedAt)
}

// Steps gathers the steps of a log, in the order in which they began. Brief
// keeps so many characters of what went in and came out; 0 keeps all.
type Steps struct {
	Brief int

	all    []*Step
	scopes map[string]*doing
}

// doing is what goes on in a scope.
type doing struct {
	asked *Step // the model is
	said  strings.Builder
	calls map[CallID]*Step // of the last reply
}

// All returns the steps.
func (s *Steps) All() []*Step { return s.all }

// See takes in the next event.
func (s *Steps) See(e Event) {
	d := s.in(e.Scope)
	switch x := e.Data.(type) {
	case *StepStart:
		s.lose(d, e.Time, nil)
		s.ask(d, e)
	case *RequestHeader:
		s.header(s.ask(d, e), x)
	case *RequestRetried:
		a := s.ask(d, e)
		a.pay(x.Billed.Usage, x.CostUSD)
		if !x.GivenUp {
			a.Attempts, a.Status, a.Error = a.Attempts+1, StepPending, x.Error
			d.said.Reset()
		}
	case *AssistantChunk:
		s.ask(d, e).Status = StepStreaming
		if s.Brief == 0 || d.said.Len() < s.Brief {
			d.said.WriteString(x.Text)
		}
	case *AssistantMessage:
		s.reply(d, e, x)
	case *ToolCall:
		if c := d.calls[x.Call]; c != nil {
			c.Status, c.Attempts = StepRunning, max(x.Attempt, 1)
			if c.StartedAt == nil {
				c.StartedAt = moment(e.Time)
			}
		}
	case *ToolResult:
		s.result(d, e, x)
	case *TurnEnd:
		s.lose(d, e.Time, x.Error)
		if x.Status == Completed {
			s.decide(d, e.Time)
		}
	}
}

// decide ends the calls that a decision was made by: they have no result.
func (s *Steps) decide(d *doing, at time.Time) {
	for _, c := range d.calls {
		if c.EndedAt == nil {
			c.Status, c.EndedAt = StepCompleted, moment(at)
		}
	}
}

// Abandon is called where nobody runs the session: no reply will come.
func (s *Steps) Abandon(now time.Time) {
	for _, d := range s.scopes {
		s.lose(d, now, &Failure{Kind: string(ReasonCrash), Message: "the process that asked has ended"})
	}
}

func (s *Steps) in(scope string) *doing {
	if s.scopes == nil {
		s.scopes = map[string]*doing{}
	}
	d := s.scopes[scope]
	if d == nil {
		d = &doing{}
		s.scopes[scope] = d
	}
	return d
}

func (s *Steps) begin(e Event, kind StepType, id string) *Step {
	step := &Step{Schema: StepSchema, ID: fmt.Sprintf("%s-%s", kind, id), Scope: e.Scope, Type: kind, Status: StepPending, Input: json.RawMessage("null")}
	s.all = append(s.all, step)
	return step
}

// ask returns the step of the model that is being asked.
func (s *Steps) ask(d *doing, e Event) *Step {
	if d.asked == nil {
		d.asked = s.begin(e, StepLLM, fmt.Sprint(e.Seq))
		d.asked.StartedAt, d.asked.Attempts = moment(e.Time), 1
	}
	return d.asked
}

func (s *Steps) header(a *Step, x *RequestHeader) {
	a.Model = x.Model
	b, err := json.Marshal(struct {
		Model string   `json:"model"`
		Tools []string `json:"tools"`
	}{x.Model, append([]string{}, x.Tools...)})
	if err == nil {
		a.Input = b
	}
}

// pay adds what an attempt has cost, the failed ones before it included.
func (s *Step) pay(used *message.Usage, cost *float64) {
	if used == nil {
		return
	}
	sum := *used
	if s.Usage != nil {
		sum = sum.Add(*s.Usage)
		switch {
		case cost != nil && s.Cost != nil:
			both := *cost + *s.Cost
			cost = &both
		default:
			cost = nil
		}
	}
	s.Usage, s.Cost = &sum, cost
}

// lose ends a request that brought no reply.
func (s *Steps) lose(d *doing, at time.Time, why *Failure) {
	a := d.asked
	if a == nil {
		return
	}
	a.Status, a.EndedAt, a.Output = StepFailed, moment(at), s.short(d.said.String())
	if why != nil {
		a.Error = why
	}
	d.asked = nil
	d.said.Reset()
}

func (s *Steps) reply(d *doing, e Event, x *AssistantMessage) {
	a := s.ask(d, e)
	m := message.Message{Parts: x.Parts}
	a.pay(&x.Usage, x.CostUSD)
	a.Status, a.EndedAt, a.Model = StepCompleted, moment(e.Time), x.Model
	a.Output, a.Error = s.short(m.Text()), nil
	started := a.StartedAt
	d.asked, d.calls = nil, map[CallID]*Step{}
	d.said.Reset()
	for i, p := range x.Parts {
		if p.Type == message.TypeReasoning && p.Text != "" {
			t := s.begin(e, StepThinking, fmt.Sprintf("%d.%d", e.Seq, i))
			t.Status, t.StartedAt, t.EndedAt, t.Model, t.Attempts = StepCompleted, started, moment(e.Time), x.Model, 1
			t.Output = s.short(p.Text)
		}
	}
	for i, c := range m.Calls() {
		id := CallID{Reply: e.Seq, Index: i}
		t := s.begin(e, StepTool, id.String())
		t.Tool, t.Input = c.Name, s.input(c.Arguments)
		d.calls[id] = t
	}
}

func (s *Steps) result(d *doing, e Event, x *ToolResult) {
	c := d.calls[x.Call]
	if c == nil || c.EndedAt != nil {
		return
	}
	c.Status, c.Outcome, c.EndedAt, c.Output = StepCompleted, x.Outcome, moment(e.Time), s.short(x.Text)
	if x.Outcome != OutcomeOK {
		c.Status = StepFailed
	}
	if c.StartedAt == nil && x.DurationMs > 0 {
		c.StartedAt = moment(e.Time.Add(-time.Duration(x.DurationMs) * time.Millisecond))
	}
}

// input are the arguments of a call: what the model wrote, as text where it is
// no JSON.
func (s *Steps) input(args string) json.RawMessage {
	raw := json.RawMessage(args)
	if !json.Valid(raw) || s.Brief > 0 && len(raw) > s.Brief {
		raw, _ = json.Marshal(*s.short(args)) // a string has no error
	}
	return raw
}

// short keeps what Brief allows of a text.
func (s *Steps) short(text string) *string {
	if s.Brief > 0 && len(text) > s.Brief {
		text = strings.ToValidUTF8(text[:s.Brief], "")
	}
	return &text
}
