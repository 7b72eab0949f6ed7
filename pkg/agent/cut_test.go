package agent_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// Every prefix of a log is a session. These tests cut the logs of scripted
// sessions at every event and go on: the same answer, the same messages, the
// same status, no effect twice.

var offered = []string{"look", "act", "ping", "put", "miss"}

// played is a session that was played to its end without a cut.
func played(t testing.TB, p play) *stage {
	t.Helper()
	s := newStage(t, p)
	j := s.create(offered...)
	end, err := s.perform(j)
	j.Close()
	if err != nil || end.Status != p.end {
		t.Fatalf("the whole session ended %s %s, %v", end.Status, end.Reason, err)
	}
	s.final = j.State()
	s.sound(s.final, nil)
	s.stepsEnd()
	return s
}

// cutAt is a stage with the first k events of the session, and no checkpoint.
// Calls in doubt have happened or not; either may be true after a kill.
func (s *stage) cutAt(t testing.TB, k int, happened bool) (*stage, doubts) {
	t.Helper()
	lines, err := os.ReadFile(s.log())
	if err != nil {
		t.Fatal(err)
	}
	c := newStage(t, s.play)
	if err := os.Mkdir(filepath.Dir(c.log()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.log(), bytes.Join(bytes.SplitAfter(lines, []byte("\n"))[:k], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := c.store.Read("s")
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := v.Status(); status == session.Active {
		t.Errorf("cut at event %d the session seems to be alive", k)
	}
	for _, call := range c.begun() {
		if call.Result != nil || happened {
			c.w.happen(call.Wire.Name, call.Key, json.RawMessage(call.Wire.Arguments))
		}
	}
	c.asked = v.State.Iterations
	return c, doubted(v.State, nil)
}

// begun are all calls that began, in their order, also those that the state
// does not hold any more.
func (s *stage) begun() []*session.Call {
	s.Helper()
	all := map[session.CallID]*session.Call{}
	err := s.store.Events(s.Context(), "s", false, func(e session.Event) {
		switch d := e.Data.(type) {
		case *session.AssistantMessage:
			for i, wire := range (message.Message{Parts: d.Parts}).Calls() {
				id := session.CallID{Reply: e.Seq, Index: i}
				all[id] = &session.Call{ID: id, Wire: wire}
			}
		case *session.ToolCall:
			all[d.Call].Key = d.Key
		case *session.ToolResult:
			all[d.Call].Result = d
		}
	})
	if err != nil {
		s.Fatal(err)
	}
	maps.DeleteFunc(all, func(_ session.CallID, c *session.Call) bool { return c.Key == "" })
	return slices.SortedFunc(maps.Values(all), func(a, b *session.Call) int {
		return cmp.Or(cmp.Compare(a.ID.Reply, b.ID.Reply), cmp.Compare(a.ID.Index, b.ID.Index))
	})
}

// said reports whether the log holds a prompt.
func (s *stage) said(prompt string) bool {
	s.Helper()
	v, err := s.store.Read("s")
	if err != nil {
		s.Fatal(err)
	}
	return heard(v.State, prompt)
}

// events is the length of the session's log.
func (s *stage) events() (n int) {
	s.Helper()
	if err := s.store.Events(s.Context(), "s", false, func(session.Event) { n++ }); err != nil {
		s.Fatal(err)
	}
	return n
}

// cuts is how many of its prefixes must end as the session did: all, but where
// it had stopped by itself, whoever resumes the whole wants more of it.
func (s *stage) cuts() int {
	if s.play.end == session.Completed {
		return s.events()
	}
	return s.events() - 1
}

func TestASessionCutAnywhereEndsTheSameWay(t *testing.T) {
	for _, p := range repertoire() {
		t.Run(p.name, func(t *testing.T) {
			whole := played(t, p)
			for k := 1; k <= whole.cuts(); k++ {
				for _, happened := range []bool{false, true} {
					c, doubt := whole.cutAt(t, k, happened)
					if happened && len(doubt) == 0 || p.midway != "" && !c.said(p.midway) {
						continue
					}
					t.Run(fmt.Sprintf("event %d, in doubt %d, happened %v", k, len(doubt), happened), func(t *testing.T) {
						c.TB = t
						j := c.open()
						_, err := c.perform(j)
						j.Close()
						if err != nil {
							t.Fatal(err)
						}
						c.fits(whole, j.State(), doubt)
						check(c, "replies paid for", c.asked, j.State().Iterations)
					})
				}
			}
		})
	}
}

// The cut falls while the session runs, at every other event, in the middle of
// an append if need be, and what the tools did is what they did. It is killed a
// second time, after a few events more, and maybe a third.
func TestASessionKilledAgainAndAgainEndsTheSameWay(t *testing.T) {
	for _, p := range repertoire() {
		t.Run(p.name, func(t *testing.T) {
			if p.midway != "" {
				t.Skip("whether it was interrupted before the kill is not known")
			}
			whole := played(t, p)
			n := whole.cuts() - 3 // the last ones only when nothing more is to come
			for k := 0; k <= n; k += 2 + n/60 {
				kills := [][]int{{k}, {k, k % 5}, {k, 1, 2 + k%7}}[k%3]
				s := newStage(t, p)
				state, doubt := s.survive(kills, offered...)
				s.fits(whole, state, doubt)
				if lost := s.asked - state.Iterations; lost > len(kills)*4 {
					t.Errorf("%d replies were paid for and are not recorded; four may be under way at once", lost)
				}
				if t.Failed() {
					t.Fatalf("killed after %v events", kills)
				}
			}
		})
	}
}

// survive plays a session that is killed after so many events of each run, as
// long as there is something left to do.
func (s *stage) survive(kills []int, tools ...string) (*session.State, doubts) {
	s.Helper()
	j, doubt := s.create(tools...), doubts{}
	for _, left := range kills {
		if _, err := s.perform(&dying{j, left}); err == nil {
			j.Close()
			return j.State(), doubt
		}
		j.Close()
		doubt = doubted(j.State(), doubt)
		j = s.open()
	}
	_, err := s.perform(j)
	j.Close()
	if err != nil {
		s.Fatalf("killed after %v events: %v", kills, err)
	}
	return j.State(), doubt
}

// The same with the tools that there are, on a real directory.
func TestRealToolsActOnceHoweverOftenTheRunIsKilled(t *testing.T) {
	p := play{name: "real", end: session.Completed, script: `
replies:
  - when: {ordinal: 1}
    tool_calls:
      - {name: write_file, arguments: {path: a/f.txt, content: "one\n"}}
      - {name: shell, arguments: {command: "echo $KAGENT_IDEMPOTENCY_KEY >> marks"}}
      - {name: write_file, arguments: {path: a/f.txt, content: "two\n"}}
  - {when: {ordinal: 2}, tool_calls: [{name: read_file, arguments: {path: a/f.txt}}]}
  - {when: {ordinal: 3}, tool_calls: [{name: shell, arguments: {command: "echo $KAGENT_IDEMPOTENCY_KEY >> marks"}}]}
  - text: done`}
	perform := func(s *stage, kills ...int) (*session.State, doubts) {
		work := t.TempDir()
		ws, err := tool.NewWorkspace(work, s.dir)
		if err != nil {
			t.Fatal(err)
		}
		if s.tools, err = tool.NewSet(tool.ReadFile(ws, nil), tool.WriteFile(ws), tool.Shell(ws, tool.ShellOptions{})); err != nil {
			t.Fatal(err)
		}
		state, doubt := s.survive(kills, s.tools.Names()...)
		s.look(work)
		return state, doubt
	}
	whole := newStage(t, p)
	whole.final, _ = perform(whole)
	for kill := range whole.cuts() - 2 {
		s := newStage(t, p)
		state, doubt := perform(s, kill)
		s.fits(whole, state, doubt)
		if t.Failed() {
			t.Fatalf("killed after %d events", kill)
		}
	}
}

// look takes the world from a directory: effects are marked by their keys.
func (s *stage) look(work string) {
	s.Helper()
	marks, _ := os.ReadFile(filepath.Join(work, "marks"))
	for _, key := range strings.Fields(string(marks)) {
		s.w.count[key]++
	}
	b, err := os.ReadFile(filepath.Join(work, "a/f.txt"))
	if err != nil {
		s.Fatal(err)
	}
	s.w.files["a/f.txt"] = string(b)
}
