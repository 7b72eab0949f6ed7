package cmd

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// activity is what a run does right now, for those who look while it works: the
// state itself is the runner's alone.
type activity struct {
	mu    sync.Mutex
	now   func() time.Time
	nodes func() []session.Node // of the session's task graph; asked for while an event is told
	is    doing
}

// doing is an activity at one moment.
type doing struct {
	Agent   string
	Began   time.Time
	Last    time.Time // of the last event
	Step    int       // of the session's own scope
	Tokens  int64
	CostUSD *float64       // nil: not known
	Nodes   []session.Node // of a task graph
	Works   []work         // what is waited for, the oldest first
}

// work is a model call or a tool that runs.
type work struct {
	Scope string    `json:"scope,omitempty"`
	What  string    `json:"what"` // model, or the name of a tool
	Call  string    `json:"call,omitempty"`
	Since time.Time `json:"since"`
	// Attempt is of a model at its reply, where it is not the first.
	Attempt int `json:"attempt,omitempty"`
}

const theModel = "model"

func newActivity(s *session.State, now func() time.Time) *activity {
	a := &activity{now: now, is: doing{Agent: s.Settings.Agent, Began: now(), Last: now(), Step: s.Main().Steps, Tokens: s.Usage.Total}}
	a.nodes = func() []session.Node { return s.Nodes("") }
	a.is.Nodes = a.nodes()
	if a.is.CostUSD = s.Cost(); s.Iterations == 0 && s.Unpriced == 0 {
		spent := s.Spent
		a.is.CostUSD = &spent
	}
	return a
}

// look returns what is done now.
func (a *activity) look() doing {
	a.mu.Lock()
	defer a.mu.Unlock()
	is := a.is
	is.Works = slices.Clone(is.Works)
	return is
}

func (a *activity) observe(scope string, d session.Data) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.is.Last = a.now()
	switch d := d.(type) {
	case *session.StepStart:
		if scope == "" {
			a.is.Step = d.Step
		}
		a.end(scope, "")
		a.begin(work{Scope: scope, What: theModel})
	case *session.RequestRetried:
		if d.Usage != nil {
			a.spend(*d.Usage, d.CostUSD)
		}
		if !d.GivenUp {
			a.retry(scope, d.Attempt+1)
		}
	case *session.AssistantMessage:
		a.end(scope, "")
		a.spend(d.Usage, d.CostUSD)
	case *session.ToolCall:
		a.end(scope, d.Call.String())
		a.begin(work{Scope: scope, What: oneLine(d.Tool, 64), Call: d.Call.String()})
	case *session.ToolResult:
		a.end(scope, d.Call.String())
	case *session.GraphSet, *session.ChildCreated:
		a.is.Nodes = a.nodes()
	case *session.TurnEnd:
		a.is.Works = slices.DeleteFunc(a.is.Works, func(w work) bool { return w.Scope == scope })
		a.is.Nodes = a.nodes()
	}
}

func (a *activity) begin(w work) {
	w.Since = a.now()
	a.is.Works = append(a.is.Works, w)
}

// end takes away a call, or with none the model call of the scope.
func (a *activity) end(scope, call string) {
	a.is.Works = slices.DeleteFunc(a.is.Works, func(w work) bool { return w.Scope == scope && w.Call == call })
}

// retry notes which attempt the scope's model makes now.
func (a *activity) retry(scope string, attempt int) {
	for i, w := range a.is.Works {
		if w.Scope == scope && w.What == theModel && w.Call == "" {
			a.is.Works[i].Attempt = attempt
		}
	}
}

func (a *activity) spend(used message.Usage, cost *float64) {
	a.is.Tokens += used.Total
	switch {
	case cost == nil:
		a.is.CostUSD = nil
	case a.is.CostUSD != nil:
		sum := *a.is.CostUSD + *cost
		a.is.CostUSD = &sum
	}
}

// line says it in one.
func (d doing) line(now time.Time) string {
	parts := []string{d.Agent, fmt.Sprintf("step %d", d.Step)}
	if len(d.Nodes) > 0 {
		parts = append(parts, fmt.Sprintf("nodes %d/%d", d.done(), len(d.Nodes)))
	}
	if works := d.working(now, func(w work) bool { return true }); works != "" {
		parts = append(parts, works)
	}
	parts = append(parts, count(d.Tokens)+" tokens")
	if d.CostUSD != nil && *d.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", *d.CostUSD))
	}
	return strings.Join(append(parts, shortDuration(max(now.Sub(d.Began), time.Second))), " · ")
}

// done counts the nodes that are completed.
func (d doing) done() (n int) {
	for _, node := range d.Nodes {
		if node.Status == session.NodeCompleted {
			n++
		}
	}
	return n
}

// working says what is waited for, of what is picked.
func (d doing) working(now time.Time, pick func(work) bool) string {
	var works []string
	for _, w := range d.Works {
		if !pick(w) {
			continue
		}
		text := inScope(w.Scope) + w.What
		if w.Attempt > 1 {
			text += fmt.Sprintf(" (attempt %d)", w.Attempt)
		}
		if since := now.Sub(w.Since); since >= 5*time.Second {
			text += " " + shortDuration(since)
		}
		works = append(works, text)
	}
	return strings.Join(works, ", ")
}

// count writes a large number in short.
func count(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
