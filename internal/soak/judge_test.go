//go:build soak

package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// line is what the judge reads of an event.
type line struct {
	Seq   int64
	Scope string
	Type  string
	Data  struct {
		Source, Text, Status string
		Call, Tool, Key      string
		Outcome              string
		Attempt              int
		Parts                []struct {
			Call *struct{ Name, Arguments string }
		}
	}
}

// deed is an effect that a reply asked for.
type deed struct {
	label   string
	n       int
	key     string
	begun   int
	results []string
}

var deedOf = regexp.MustCompile(`KEY (\S+) step (\d+)`)

// judge looks at everything once nothing runs any more.
func (w *world) judge(drivers []*driver) {
	w.expect(w.run("verify"), "verify", 0)
	stands := w.run("list", "-o", "json")
	for _, d := range drivers {
		if !strings.Contains(stands.out, `"sessionId":"`+d.id+`","agentType":"`+d.agent+`","status":"completed"`) {
			w.problem("%s is not completed: %s", d.id, stands.out)
		}
		events := d.events()
		d.heard(events)
		deeds := d.deeds(events)
		d.inOrder(deeds)
		d.effected(deeds)
	}
}

func (d *driver) events() (all []line) {
	for raw := range bytes.Lines(d.log()) {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil && l.Type == "" {
			d.problem("%s: the log holds %q: %v", d.id, raw, err)
		}
		all = append(all, l)
	}
	return all
}

// heard: each prompt and each note stands in the log once.
func (d *driver) heard(events []line) {
	times := map[string]int{}
	for _, e := range events {
		if e.Type == "user/message" && e.Scope == "" {
			times[e.Data.Text]++
		}
	}
	for n := 2; n <= d.turns; n++ {
		if prompt := fmt.Sprintf("work %s.%d: %d steps", d.id, n, turnSteps); times[prompt] != 1 {
			d.problem("%s: the prompt of turn %d stands in the log %d times", d.id, n, times[prompt])
		}
	}
	for text, id := range d.notes {
		if id == d.id && times[text] > 1 {
			d.problem("%s: %q was heard %d times", d.id, text, times[text])
		}
		if id == d.id && times[text] == 0 && !d.waits(text) {
			d.problem("%s: %q is lost", d.id, text)
		}
	}
}

// waits reports whether a note is kept for the next resume.
func (d *driver) waits(text string) bool {
	files, _ := filepath.Glob(filepath.Join(d.store, d.id, "inbox", "*"))
	return slices.ContainsFunc(files, func(name string) bool {
		b, err := os.ReadFile(name)
		return err == nil && bytes.Contains(b, []byte(text))
	})
}

// deeds follows the calls of the log: each has one intent at least before its
// result, and one result.
func (d *driver) deeds(events []line) []*deed {
	var all []*deed
	calls := map[string]*deed{}
	for _, e := range events {
		switch e.Type {
		case "assistant/message":
			n := 0
			for _, p := range e.Data.Parts {
				if p.Call == nil {
					continue
				}
				if m := deedOf.FindStringSubmatch(p.Call.Arguments); m != nil {
					k, _ := strconv.Atoi(m[2])
					one := &deed{label: m[1], n: k}
					all = append(all, one)
					calls[fmt.Sprintf("%d.%d", e.Seq, n)] = one
				}
				n++
			}
		case "tool/call":
			if one := calls[e.Data.Call]; one != nil {
				one.begun++
				one.key = e.Data.Key
			}
		case "tool/result":
			if one := calls[e.Data.Call]; one != nil {
				one.results = append(one.results, e.Data.Outcome)
			}
		}
	}
	return all
}

// inOrder: of each piece of work every step was asked for once, none was lost
// and none doubled, and each came to one end.
func (d *driver) inOrder(deeds []*deed) {
	reached := map[string]int{}
	for _, one := range deeds {
		if one.n != reached[one.label]+1 {
			d.problem("%s: step %d of %s comes after step %d", d.id, one.n, one.label, reached[one.label])
		}
		reached[one.label] = one.n
		if one.begun != 1 || len(one.results) != 1 {
			d.problem("%s: step %d of %s was begun %d times and has the results %q", d.id, one.n, one.label, one.begun, one.results)
		}
	}
	want := map[string]int{}
	for n := 1; n <= d.turns; n++ {
		if label := fmt.Sprintf("%s.%d", d.id, n); d.agent != "orchestrator" {
			want[label] = turnSteps
		} else {
			for _, id := range []string{"a", "b", "c", "d"} {
				want[label+"."+id] = turnSteps / 4
			}
		}
	}
	if !maps.Equal(reached, want) {
		d.problem("%s: reached %v, want %v", d.id, reached, want)
	}
}

// effected: what happened outside had its intent in the log and happened once;
// what the log calls done did happen; only what it calls unknown may have or not.
func (d *driver) effected(deeds []*deed) {
	b, err := os.ReadFile(filepath.Join(d.effects, d.id))
	if err != nil {
		d.problem("%v", err)
	}
	happened := map[string]int{}
	for _, text := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		happened[text]++
	}
	for _, one := range deeds {
		text := fmt.Sprintf("%s %s step %d", one.key, one.label, one.n)
		n := happened[text]
		delete(happened, text)
		outcome := strings.Join(one.results, " ")
		d.count("effects")
		if outcome == "unknown" {
			d.count("effects in doubt")
		}
		if n > 1 || outcome == "ok" && n != 1 || n == 0 && outcome != "unknown" && outcome != "error" && outcome != "cancelled" {
			d.problem("%s: %q (%s) happened %d times", d.id, text, outcome, n)
		}
	}
	for text := range happened {
		d.problem("%s: %q happened without an intent", d.id, text)
	}
}

// figures says what it was like.
func (w *world) figures(drivers []*driver) {
	turns := 0
	for _, d := range drivers {
		turns += d.turns
	}
	list := func(all map[string]int) string {
		var b strings.Builder
		for _, k := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(&b, "\n  %-32s %6d", k, all[k])
		}
		return b.String()
	}
	spent := time.Since(w.began)
	w.t.Logf("%d sessions, %d turns, %d steps in %v: %.1f a second, kills included; the largest process had %d MiB\nwhat happened:%s\nhow processes ended:%s",
		len(drivers), turns, w.steps.Load(), spent.Round(time.Second), float64(w.steps.Load())/spent.Seconds(), w.peak/1024, list(w.counts), list(w.codes))
	if got := w.steps.Load(); got < w.quota {
		w.t.Errorf("%d steps, want %d", got, w.quota)
	}
}
