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

	planned int     // how much of Added the plan has taken in
	said    []int64 // where Task, and each of Added, stands
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
	var at []int64
	if len(said) > 0 {
		seq = said[0].Seq
	}
	for _, e := range said {
		if e.spoken() && !blank(e.User.Text) {
			words, at = append(words, e.User.Text), append(at, e.Seq)
		}
	}
	if fresh {
		*w = Work{From: seq}
	}
	w.take(words, at)
}

// take adds to the task, or makes it.
func (w *Work) take(words []string, at []int64) {
	if w.Task != "" {
		w.Added, w.said = append(w.Added, words...), append(w.said, at...)
	} else if len(words) > 0 {
		w.Task, w.said = strings.Join(words, "\n\n"), at[:1]
	}
}

// words are those of the user that have gone.
func (w *Work) words(gone func(seq int64) bool) string {
	var out []string
	for i, at := range w.said {
		switch {
		case !gone(at):
		case i == 0:
			out = append(out, w.Task)
		default:
			out = append(out, w.Added[i-1])
		}
	}
	return strings.Join(out, "\n\n")
}

// add takes in what was said in the middle of the work.
func (w *Work) add(seq int64, words string) {
	if !blank(words) {
		w.take([]string{words}, []int64{seq})
	}
}

// Concluded counts the questions of a kind that the scope has asked its
// children and drawn its conclusion from: the next "plan" is plan-3 if it is 2.
func (sc *Scope) Concluded(kind string) int { return sc.concluded[kind] }

// conclude counts the child's question. Children are named after their parent,
// the kind of question and its number.
func (sc *Scope) conclude(from string) {
	kind := questionOf(from).kind
	if kind == "" {
		return
	}
	if sc.concluded == nil {
		sc.concluded = map[string]int{}
	}
	sc.concluded[kind]++
}
