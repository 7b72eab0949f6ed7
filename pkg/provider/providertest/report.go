package providertest

import (
	"fmt"
	"strings"
	"testing"
)

// Report replays the whole collection through adapters of all protocols and
// says how much of it agrees. Nothing is left out: each case that the index
// names, each conversation and each error has its adapter.
func Report(t *testing.T, adapters []Adapter) {
	index := map[string]string{} // protocols of cases that no adapter has read yet
	for _, c := range lines[struct{ ID, Protocol string }](t, "wire/cases.index.jsonl") {
		index[c.ID] = c.Protocol
	}
	whole := len(index)
	rows := []string{"protocol            cases  whole  1 byte  7 bytes  wrong  conversations  errors  wrong"}
	var sum Tally
	talks, errors, wrong := 0, 0, 0
	for _, a := range adapters {
		for _, r := range a.recordings(t) {
			if index[r.ID] != a.Protocol {
				t.Errorf("%s is not in the index", r.ID)
			}
			delete(index, r.ID)
		}
		c := Recorded(t, a)
		n := Conversations(t, a)
		e, w := RecordedErrors(t, a)
		rows = append(rows, fmt.Sprintf("%-18s %6d %6d %7d %8d %6d %14d %7d %6d", a.Protocol, c.Cases, c.Whole, c.Ones, c.Sevens, c.Wrong, n, e, w))
		sum.Cases, sum.Wrong = sum.Cases+c.Cases, sum.Wrong+c.Wrong
		talks, errors, wrong = talks+n, errors+e, wrong+w
	}
	t.Logf("\n%s", strings.Join(rows, "\n"))
	for id := range index {
		t.Errorf("no adapter has read %s", id)
	}
	if n := len(lines[conversation](t, "wire/cases.sequences.jsonl")); talks != n {
		t.Errorf("%d of %d conversations were played", talks, n)
	}
	if n := len(lines[recordedError](t, "wire/errors.jsonl")); errors != n {
		t.Errorf("%d of %d errors were judged", errors, n)
	}
	if sum.Cases != whole || sum.Wrong+wrong > maxWrong {
		t.Errorf("%d of %d cases, of which %d are listed as wrong, and %d errors; at most %d may be", sum.Cases, whole, sum.Wrong, wrong, maxWrong)
	}
}
