//go:build faults

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// call is a tool call as the log tells it.
type call struct {
	id, tool, arguments string
	begun               []eventData // its tool/call events
	rerun               int         // attempts that a recorded decision allows
	results             []eventData
}

// calls gathers the calls of the log, in the order in which they were asked
// for. It says where a result comes before its intent, or a second one.
func (t *trial) calls(fail func(format string, args ...any)) []*call {
	var all []*call
	find := func(e event, id string) *call {
		for _, c := range all {
			if c.id == id {
				return c
			}
		}
		fail("log: event %d (%s) is about call %s, which nobody asked for", e.Seq, e.Type, id)
		return &call{}
	}
	onUnknown := ""
	for _, e := range t.log {
		d := e.data()
		switch e.Type {
		case "session/created", "settings/changed":
			onUnknown = d.Settings.OnUnknown
		case "assistant/message":
			n := 0
			for _, p := range d.Parts {
				if p.Call != nil {
					all = append(all, &call{id: fmt.Sprintf("%d.%d", e.Seq, n), tool: p.Call.Name, arguments: p.Call.Arguments})
					n++
				}
			}
		case "tool/call":
			c := find(e, d.Call)
			if len(c.begun) > 0 && onUnknown == "rerun" {
				c.rerun++
			}
			c.begun = append(c.begun, d)
		case "outcome/settled":
			if c := find(e, d.Call); d.Verdict == "rerun" {
				c.rerun++
			}
		case "tool/result":
			c := find(e, d.Call)
			refused := c.tool == "mark_step" || t.disk.errno != "" && d.Outcome == "error" // the disk of the work directory failed before
			if len(c.begun) == 0 && !refused {
				fail("log: event %d: call %s has a result without an intent", e.Seq, d.Call)
			}
			c.results = append(c.results, d)
		}
	}
	return all
}

// callsInOrder: each call is begun before it ends, ends once, keeps its key,
// and begins again only where that is safe or was decided.
func (t *trial) callsInOrder() {
	for _, c := range t.calls(t.fail) {
		for i, b := range c.begun {
			if b.Attempt != i+1 || b.Key == "" || b.Key != c.begun[0].Key {
				t.fail("log: call %s: attempt %d with key %q follows %d others", c.id, b.Attempt, b.Key, i)
			}
			if i == 0 {
				continue
			}
			first := c.begun[0].Change
			switch {
			case c.tool == "read_file", c.rerun > 0:
			case c.tool == "write_file" && b.Change != nil && first != nil && b.Change.Before == first.Before:
			default:
				t.fail("log: call %s (%s) was run again blindly", c.id, c.tool)
			}
		}
		decides := c.tool == "set_plan" || c.tool == "set_graph" // what they say is recorded by another event
		if n := len(c.results); n > 1 || t.recovered && n == 0 && !decides {
			t.fail("log: call %s (%s) has %d results", c.id, c.tool, n)
		}
	}
}

var effectOf = regexp.MustCompile(`effect (\d+)`)

// effectsAllowed: every effect has its intent in the log, and happened once,
// unless a recorded decision allowed it again. What ended well did happen.
func (t *trial) effectsAllowed() {
	calls := t.calls(func(string, ...any) {})
	seen := map[string]bool{}
	for _, c := range calls {
		m := effectOf.FindStringSubmatch(c.arguments)
		if m == nil || len(c.begun) == 0 {
			continue
		}
		n, count := m[1], t.effects[m[1]]
		seen[n] = true
		if count > 1+c.rerun {
			t.fail("effect %s happened %d times", n, count)
		}
		if len(c.results) > 0 && c.results[0].Outcome == "ok" && count == 0 {
			t.fail("effect %s is recorded as done and did not happen", n)
		}
	}
	for n := range t.effects {
		if !seen[n] {
			t.fail("effect %s happened without an intent in the log", n)
		}
	}
}

// fileAsSaid: the written file holds what the last finished write put there,
// or what one begun since wants.
func (t *trial) fileAsSaid() {
	var may []string
	done := false
	name := ""
	for _, c := range t.calls(func(string, ...any) {}) {
		if c.tool != "write_file" || len(c.begun) == 0 {
			continue
		}
		var args struct{ Path, Content string }
		if err := json.Unmarshal([]byte(c.arguments), &args); err != nil {
			t.fail("log: arguments of call %s: %v", c.id, err)
			return
		}
		name = args.Path
		if len(c.results) > 0 {
			switch o := c.results[0].Outcome; {
			case o == "ok":
				may, done = nil, true
			case t.disk.errno == "" || o != "error": // the disk of the work directory may fail as well
				t.fail("log: call %s (write_file) ended as %s: %s", c.id, o, c.results[0].Text)
			}
		}
		may = append(may, args.Content)
	}
	if !done {
		return
	}
	b, err := os.ReadFile(filepath.Join(t.dir, name))
	if err != nil || !slices.Contains(may, string(b)) {
		t.fail("%s: holds %q (%v), the log says %q", name, b, err, may)
	}
}
