package session

import "strings"

// Work is what an agent has concluded about its task. It lives until a turn
// has completed the task: whatever interrupts it, a resume, with a prompt or
// without one, goes on with the same route, plan and graph.
type Work struct {
	From     int64    // seq of what opened it; what was said before it is of earlier work
	Task     string   // what the user asked for, in the words that opened it
	Added    []string // what the user said since
	Route    *RouteSet
	Plan     *PlanSet
	PlanSeq  int64 // of the event that set its steps
	Approved bool  // a person has consented to the plan
	Graph    *GraphSet
	Verdicts []VerdictGiven

	planned int // how much of Added the plan has taken in
}

// Unplanned is what the user said after the plan was made.
func (w *Work) Unplanned() []string { return w.Added[w.planned:] }

// Whole is the task with all that the user added to it.
func (w *Work) Whole() string {
	return strings.Join(append([]string{w.Task}, w.Added...), "\n\n")
}

// setPlan takes a plan in and reports whether it is a new one: marking a step
// makes none.
func (w *Work) setPlan(seq int64, d *PlanSet) bool {
	fresh := w.Plan == nil || d.Replans != w.Plan.Replans || d.From != w.Plan.From
	if fresh {
		w.PlanSeq, w.planned = seq, len(w.Added)
	}
	w.Plan = d
	return fresh
}

// begin opens the work on what was said, or adds to it.
func (w *Work) begin(seq int64, fresh bool, said []Entry) {
	var words []string
	if len(said) > 0 {
		seq = said[0].Seq
	}
	for _, e := range said {
		if e.User != nil && e.User.Source != FromAgent && !blank(e.User.Text) {
			words = append(words, e.User.Text)
		}
	}
	switch {
	case fresh:
		*w = Work{From: seq, Task: strings.Join(words, "\n\n")}
	case w.Task == "":
		w.Task = strings.Join(words, "\n\n")
	default:
		w.Added = append(w.Added, words...)
	}
}

// Concluded counts the questions of a kind that the scope has asked its
// children and drawn its conclusion from: the next "plan" is plan-3 if it is 2.
func (sc *Scope) Concluded(kind string) int { return sc.concluded[kind] }

// conclude counts the child's question. Children are named after their parent,
// the kind of question and its number.
func (sc *Scope) conclude(from string) {
	kind := kindOf(from)
	if kind == "" {
		return
	}
	if sc.concluded == nil {
		sc.concluded = map[string]int{}
	}
	sc.concluded[kind]++
}

// kindOf is the kind of question that the name of a child tells: "plan" of
// "node/x/plan-2".
func kindOf(name string) string {
	kind := name[strings.LastIndexByte(name, '/')+1:]
	if i := strings.LastIndexByte(kind, '-'); i >= 0 {
		kind = kind[:i]
	}
	return kind
}
