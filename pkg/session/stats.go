package session

import (
	"time"

	"kagent/pkg/message"
)

// Stats counts what a session has done, and how long it took.
type Stats struct {
	TurnEnds map[string]int    `json:"turnEnds"` // by status and reason
	Usage    message.Usage     `json:"usage"`
	CostUSD  *float64          `json:"costUSD"` // null: of some reply it is not known
	Retries  int               `json:"retries"`
	LLM      Effort            `json:"llm"`
	Tools    map[string]Effort `json:"tools"`
	Children map[string]int    `json:"children"` // by kind of question
}

// Effort is what steps of one kind took.
type Effort struct {
	Count   int   `json:"count"`
	Failed  int   `json:"failed"`
	TotalMs int64 `json:"totalMs"`
	MaxMs   int64 `json:"maxMs"`
}

func (f *Effort) add(s *Step) {
	f.Count++
	if s.Status == StepFailed {
		f.Failed++
	}
	ms := max(s.Took()/time.Millisecond, 0)
	f.TotalMs += int64(ms)
	f.MaxMs = max(f.MaxMs, int64(ms))
}

// Tally gathers Stats of a log.
type Tally struct {
	steps Steps
	state State
	out   Stats
}

// NewTally returns one that has seen nothing.
func NewTally() *Tally {
	return &Tally{
		steps: Steps{Brief: 1},
		out:   Stats{TurnEnds: map[string]int{}, Tools: map[string]Effort{}, Children: map[string]int{}},
	}
}

// See takes in the next event. Of what was said it keeps nothing.
func (t *Tally) See(e Event) {
	t.steps.See(e)
	t.state.Apply(e)
	t.state.Forget(e.Scope)
	switch d := e.Data.(type) {
	case *TurnEnd:
		if e.Scope == "" {
			end := string(d.Status)
			if d.Reason != "" {
				end += ": " + string(d.Reason)
			}
			t.out.TurnEnds[end]++
		}
	case *RequestRetried:
		if !d.GivenUp {
			t.out.Retries++
		}
	case *ChildCreated:
		kind := questionOf(e.Scope).kind
		if kind == "" {
			kind = "node"
		}
		t.out.Children[kind]++
	}
}

// Stats returns what there is to count. A session that nobody runs waits for no
// reply any more.
func (t *Tally) Stats(alive bool) Stats {
	if !alive {
		t.steps.Abandon(t.state.Updated)
	}
	out := t.out
	out.Usage, out.CostUSD = t.state.Usage, t.state.Cost()
	for _, s := range t.steps.All() {
		switch s.Type {
		case StepLLM:
			out.LLM.add(s)
		case StepTool:
			f := out.Tools[s.Tool]
			f.add(s)
			out.Tools[s.Tool] = f
		}
	}
	return out
}
