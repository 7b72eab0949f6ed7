package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// tb is what testing.T and rapid.T share.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

func check(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

func slurp(t tb, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	check(t, err)
	return b
}

func write(t tb, name string, b []byte) {
	t.Helper()
	check(t, os.WriteFile(name, b, fileMode))
}

// clock ticks a second at each look, whoever looks.
func clock() func() time.Time {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var looks atomic.Int64
	return func() time.Time { return start.Add(time.Duration(looks.Add(1)) * time.Second) }
}

// newTestStore returns a store whose syncs are counted and not done: no test
// here takes the power away for real.
func newTestStore(dir string) (*Store, *seam) {
	s := newSeam()
	s.volatil = true
	return NewStore(dir, Options{FS: s, Now: clock(), Owner: session.Opened{PID: 42, Host: "here", BootID: "boot", Version: "v1"}}), s
}

var task = session.Created{
	Task: "what is in this directory?", Version: "v1",
	Settings: session.Settings{Agent: "react", Model: "demo", System: "You are an agent.", Workdir: "/w", Tools: []string{"shell"}},
}

// create makes a session and opens its first turn, as a runner does.
func create(t tb, s *Store, id string) *Journal {
	t.Helper()
	j, err := s.Create(id, task)
	check(t, err)
	check(t, j.Append("", &session.UserMessage{Source: session.FromTask}))
	check(t, j.Append("", &session.TurnStart{Turn: j.State().Main().Turn.N + 1}))
	check(t, j.Commit())
	return j
}

func reopen(t tb, s *Store, id string) (*Journal, Recovery) {
	t.Helper()
	j, rec, err := s.Open(id)
	check(t, err)
	return j, rec
}

// ask appends a reply that wants n calls; begin makes them durable.
func ask(t tb, j *Journal, text string, n int) {
	t.Helper()
	step := j.State().Main().Steps + 1
	check(t, j.Append("", &session.StepStart{Step: step}, &session.RequestHeader{Model: "demo", Tools: []string{"shell"}, Prompt: strings.Repeat("a", 64)}))
	parts := []message.Part{message.Text(text)}
	for i := range n {
		parts = append(parts, message.Call(message.ToolCall{ID: fmt.Sprintf("call_%d_%d", step, i), Name: "shell", Arguments: `{"command":"ls"}`}))
	}
	check(t, j.Append("", &session.AssistantMessage{Parts: parts, Stop: message.StopCalls, Usage: message.Usage{Input: 90, Output: 10, Total: 100}, Model: "demo"}))
}

func begin(t tb, j *Journal) {
	t.Helper()
	var begun []session.Data
	for _, c := range j.State().Main().Pending() {
		begun = append(begun, &session.ToolCall{Call: c.ID, Tool: c.Wire.Name, Attempt: 1, Key: "3f1c0b52-0000-4000-8000-000000000000"})
	}
	check(t, j.Append("", begun...))
	check(t, j.Sync())
}

// settle records the results and ends the step.
func settle(t tb, j *Journal, result string) {
	t.Helper()
	for _, c := range j.State().Main().Pending() {
		check(t, j.Append("", &session.ToolResult{Call: c.ID, Outcome: session.OutcomeOK, Text: result}))
	}
	check(t, j.Append("", &session.StepEnd{Step: j.State().Main().Steps}))
	check(t, j.Commit())
}

// toolStep is a whole step with n calls, in the order of the runner.
func toolStep(t tb, j *Journal, text, result string, n int) {
	t.Helper()
	ask(t, j, text, n)
	begin(t, j)
	settle(t, j, result)
}

// answer is the last step: a reply without calls, and the end of the turn.
func answer(t tb, j *Journal, text string) {
	t.Helper()
	ask(t, j, text, 0)
	m := j.State().Main()
	check(t, j.Append("", &session.StepEnd{Step: m.Steps}))
	check(t, j.Append("", &session.TurnEnd{Turn: m.Turn.N, Status: session.Completed}))
	check(t, j.Commit())
}

// finished makes a session that is completed and closed.
func finished(t tb, s *Store, id string) {
	t.Helper()
	j := create(t, s, id)
	toolStep(t, j, "I look.", "a.go\nb.go", 1)
	answer(t, j, "Two files.")
	check(t, j.Close())
}

// snapshot is the whole tree under dir: names, modes, contents.
func snapshot(t tb, dir string) string {
	t.Helper()
	var b bytes.Buffer
	check(t, filepath.Walk(dir, func(p string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v\n", p, info.Mode())
		if info.Mode().IsRegular() && info.Name() != "lock" {
			fmt.Fprintf(&b, "%q\n", slurp(t, p))
		}
		return nil
	}))
	return b.String()
}

func wantError[E error](t testing.TB, err error) E {
	t.Helper()
	var e E
	if !errors.As(err, &e) {
		t.Fatalf("error %T %v, want %T", err, err, e)
	}
	return e
}
