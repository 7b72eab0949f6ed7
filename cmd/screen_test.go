package cmd

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// terminal shows what a person sees: the lines that are left after all that was
// erased.
func terminal(raw string) []string {
	lines, row := []string{""}, 0
	for raw != "" {
		switch {
		case strings.HasPrefix(raw, erase):
			lines[row], raw = "", raw[len(erase):]
		case strings.HasPrefix(raw, above):
			row, raw = row-1, raw[len(above):]
		case raw[0] == '\n':
			if row, raw = row+1, raw[1:]; row == len(lines) {
				lines = append(lines, "")
			}
		default:
			lines[row], raw = lines[row]+raw[:1], raw[1:]
		}
	}
	for n := len(lines); n > row+1 && lines[n-1] == ""; n-- {
		lines = lines[:n-1]
	}
	return lines
}

func TestLinesStandAboveTheLiveOne(t *testing.T) {
	var out bytes.Buffer
	now := "working"
	s := &screen{out: &out, size: func() (int, int) { return 20, 24 }, live: func(int) []string { return strings.Split(now, "\n") }}
	s.refresh()
	s.Write([]byte("first\n"))
	now = "├ a node\nworking on 一二三四五六七八九十"
	s.Write([]byte("second\n"))
	s.text("an ans", func() { out.WriteString("an ans") })
	s.refresh() // text is not disturbed
	s.text("wer", func() { out.WriteString("wer") })
	s.Write([]byte("third\n"))
	s.done = make(chan struct{})
	s.close()
	want := []string{"first", "second", "an answer", "third", ""}
	if got := terminal(out.String()); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("a person sees %q, want %q\nof %q", got, want, &out)
	}
	if !strings.Contains(out.String(), "├ a node\nworking on 一二三四"+erase+above+erase) {
		t.Errorf("the line was not cut to the terminal: %q", &out)
	}
}

func TestATerminalThatCannotEraseIsSentPlainLines(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, size: func() (int, int) { return 20, 24 }, live: func(int) []string { return nil }}
	s.refresh()
	s.Write([]byte("first\n"))
	s.text("half", func() { out.WriteString("half") })
	s.Write([]byte("second\n"))
	s.clear()
	if got := out.String(); got != "first\nhalf\nsecond\n" {
		t.Errorf("%q", got)
	}
}

func TestALineFitsIntoItsColumns(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"一二", 3, "一"}, {"a · b…", 6, "a · b…"}, {"👀👀", 3, "👀"}, {"", 0, ""}} {
		if got := fitting(c.text, c.columns); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

// acting feeds a run's events to those who watch it.
func acting(observe func(string, session.Data)) {
	call := session.CallID{Reply: 5}
	cost := 0.5
	for _, e := range []struct {
		scope string
		data  session.Data
	}{
		{"", &session.RouteSet{Complexity: session.Complex, Reason: "many 部分"}},
		{"", &session.PlanSet{Steps: []string{"look", "do"}}},
		{"", &session.GraphSet{Nodes: []session.GraphNode{{ID: "a", Task: "fetch"}, {ID: "b", Task: "join", Needs: []string{"a"}}}}},
		{"", &session.StepStart{Step: 2}},
		{"", &session.RequestRetried{Attempt: 1, DelayMs: 250, Error: &session.Failure{Message: "busy"}}},
		{"", &session.AssistantMessage{Usage: message.Usage{Input: 9, Output: 3, Total: 12}, CostUSD: &cost, Parts: []message.Part{
			message.Text("Let me\n##[add-mask]look"), message.Call(message.ToolCall{Name: "shell", Arguments: `{"command":"ls"}`}),
		}}},
		{"", &session.ToolCall{Call: call, Tool: "shell"}},
		{"node/a", &session.StepStart{Step: 1}},
		{"", &session.UserMessage{Inbox: "1", Text: "mind the gap"}},
		{"node/a", &session.AssistantMessage{Usage: message.Usage{Total: 20_000}, CostUSD: &cost}},
		{"node/a", &session.TurnEnd{Status: session.Completed}},
	} {
		observe(e.scope, e.data)
	}
}

// twoNodes is how the nodes of acting stand.
func twoNodes() []session.Node {
	return []session.Node{
		{GraphNode: session.GraphNode{ID: "a", Task: "fetch"}, Status: session.NodeCompleted, Scope: "node/a"},
		{GraphNode: session.GraphNode{ID: "b", Task: "join", Needs: []string{"a"}}, Status: session.NodePending},
	}
}

func TestTheLiveLineTellsWhatIsDone(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	a := newActivity(&session.State{Settings: session.Settings{Agent: "orchestrator"}}, func() time.Time { return now })
	a.nodes = twoNodes
	acting(a.observe)
	is := a.look()
	want := "orchestrator · step 2 · nodes 1/2 · shell 1m30s · 20k tokens · $1.0000 · 1m30s"
	if got := is.line(now.Add(90 * time.Second)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	a.observe("", &session.ToolResult{Call: session.CallID{Reply: 5}, Outcome: session.OutcomeOK})
	a.observe("", &session.AssistantMessage{}) // of a price that nobody knows
	if is := a.look(); len(is.Works) != 0 || is.CostUSD != nil {
		t.Errorf("%+v", is)
	}
}

func TestProgressTellsAndDetailsAreForThoseWhoAsk(t *testing.T) {
	var said, all []string
	note := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	p := &progress{detail: note, say: func(format string, args ...any) {
		said = append(said, fmt.Sprintf(format, args...))
		note(format, args...)
	}}
	acting(p.observe)
	p.observe("", &session.PlanSet{Steps: []string{"look", "do"}, Done: []int{0}})
	p.observe("", &session.ToolResult{Call: session.CallID{Reply: 5}, Outcome: session.OutcomeError, Text: "no\nsuch file"})
	want := `
  complex: many 部分
  plan:
    1. look
    2. do
  parts of the task:
    a: fetch
    b, after a: join
step 2
  attempt 1 failed, again in 250ms: busy
  shell (call 5.0)
node/a: step 1
  heard: mind the gap
  node/a: completed
  plan: 1 of 2 steps are done
  shell: error: no such file`
	if got := "\n" + strings.Join(said, "\n"); got != want {
		t.Errorf("said %s\nwant %s", got, want)
	}
	details := strings.Join(all, "\n")
	for _, want := range []string{"  | Let me\n", `  calls shell {"command":"ls"}`, "9 tokens in, 3 out, $0.500000", "  | such file"} {
		if !strings.Contains(details, want) {
			t.Errorf("the details lack %q:\n%s", want, details)
		}
	}
}

// What is said in a log of GitHub is no command to it.
func TestNothingSaidIsACommandToTheService(t *testing.T) {
	for in, want := range map[string]string{
		"  | ##[add-mask]x":        "  | ## [add-mask]x",
		" ::error::x\nplain::ok":   ": :error::x\nplain::ok",
		"::set-output name=a::b\n": ": :set-output name=a::b\n",
	} {
		if got := harmless("github", in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
		if got := harmless("", in); got != in {
			t.Errorf("elsewhere %q becomes %q", in, got)
		}
	}
}

func TestGroupsAreClosed(t *testing.T) {
	now := func() time.Time { return time.Unix(7, 0) }
	for service, want := range map[string]string{
		"github": "::group::step 1\n::endgroup::\n::group::step 2\n::endgroup::\n",
		"gitlab": "section_start:7:",
	} {
		var out bytes.Buffer
		g := &groups{out: &out, service: service, now: now}
		g.begin("step 1")
		g.begin("step 2")
		g.end()
		g.end()
		if got := out.String(); !strings.HasPrefix(strings.TrimPrefix(got, "\x1b[0K"), want) || strings.Count(got, "step") != 2 ||
			strings.Count(got, "start") != strings.Count(got, "section_end") {
			t.Errorf("%s: %q", service, got)
		}
	}
}

func TestAgesAreShownInTheirLargestUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 90 * time.Minute: "1h", 47 * time.Hour: "47h", 72 * time.Hour: "3d",
	} {
		if got := age(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}
