package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// box is an inbox that lies outside of the session and outlives every crash.
type box struct {
	letters []agent.Letter
	died    *dying // removes nothing once its process is dead
	fails   error
}

func (b *box) Take() ([]agent.Letter, error) { return slices.Clone(b.letters), b.fails }

func (b *box) Done(ids []string) error {
	if b.died != nil && b.died.left < 0 {
		return errDisk
	}
	b.letters = slices.DeleteFunc(b.letters, func(l agent.Letter) bool { return slices.Contains(ids, l.ID) })
	return nil
}

func said(s *session.State, text string) (n int) {
	for _, e := range s.Main().Entries {
		if e.User != nil && e.User.Text == text {
			n++
		}
	}
	return n
}

const lookTwice = `
replies:
  - when: {tool_results: 0}
    tool_calls: [{name: look, arguments: {v: a}}]
  - when: {tool_results: 1}
    tool_calls: [{name: look, arguments: {v: b}}]
  - text: "answer to {{last_user}}"
`

// Whenever the process dies, a letter is taken exactly once, and its place is
// never between a call and its result.
func TestALetterIsTakenExactlyOnceWhereverTheRunDies(t *testing.T) {
	for left := 0; ; left++ {
		s := newStage(t, play{script: lookTwice})
		b := &box{letters: []agent.Letter{{ID: "1", Text: "one"}, {ID: "2", Text: "two 二"}}}
		j := s.create("look")
		d := &dying{Journal: j, left: left}
		b.died = d
		_, err := s.performWith(d, b)
		j.Close()
		b.died = nil
		whole := err == nil
		j = s.open()
		if end, err := s.performWith(j, b); err != nil || end.Status != session.Completed {
			t.Fatalf("left %d: %+v %v", left, end, err)
		}
		j.Close()
		v, err := s.store.Read("s")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"one", "two 二"} {
			if n := said(v.State, text); n != 1 {
				t.Fatalf("left %d: %q was taken %d times", left, text, n)
			}
		}
		if len(b.letters) > 0 {
			t.Fatalf("left %d: %d letters are still there", left, len(b.letters))
		}
		paired(t, v.State.Main().Messages())
		if whole {
			break
		}
	}
}

func paired(t *testing.T, messages []message.Message) {
	t.Helper()
	open := 0
	for _, m := range messages {
		switch {
		case m.Role == message.Tool:
			open--
		case open != 0:
			t.Fatalf("a %s message stands between a call and its result", m.Role)
		default:
			open = len(m.Calls())
		}
	}
}

func (s *stage) performWith(j agent.Journal, b agent.Inbox) (agent.Finish, error) {
	r := agent.Runner{
		Journal: j, Provider: parse(s, s.play.script), Tools: s.w.tools(s), Strategy: agent.React, Inbox: b,
		NewKey: func() string { s.keys++; return fmt.Sprint(s.keys) },
	}
	return r.Run(s.Context(), "")
}

// What comes right before the end is answered before the end; what comes
// behind it waits for the next run, which needs no prompt for it.
func TestALetterBeforeTheEndKeepsTheTurnOpen(t *testing.T) {
	r := newRig(t, `replies: [{text: "answer to {{last_user}}"}]`)
	b := &box{}
	r.Inbox = b
	r.Observe = func(_ string, d session.Data) {
		if _, ok := d.(*session.AssistantMessage); ok && len(r.asked) == 1 {
			b.letters = append(b.letters, agent.Letter{ID: "1", Text: "one more thing"})
		}
	}
	r.run("", session.Completed, "")
	r.answer("answer to one more thing")
	check(t, "turns", r.log.state.Main().Turn.N, 1)

	b.letters = append(b.letters, agent.Letter{ID: "2", Text: "later\x00"})
	r.run("", session.Completed, "")
	r.answer("answer to later\uFFFD")
	check(t, "turns", r.log.state.Main().Turn.N, 2)
	check(t, "work", r.log.state.Main().Work.Task, "later\uFFFD")

	r.run("", session.Completed, "")
	check(t, "requests", len(r.asked), 3)
}

// What is said in the middle belongs to the work.
func TestALetterAddsToTheWork(t *testing.T) {
	r := newRig(t, lookTwice, read("look"))
	r.Inbox = &box{letters: []agent.Letter{{ID: "1", Text: "and mind the gap"}}}
	r.run("", session.Completed, "")
	checkList(t, "added", r.log.state.Main().Work.Added, "and mind the gap")
}

func TestAnInboxThatCannotBeReadEndsTheRunAsStorage(t *testing.T) {
	r := newRig(t, `replies: [{text: hi}]`)
	r.Inbox = &box{fails: &checkpoint.StorageError{Op: "read inbox", Err: errors.New("gone")}}
	end, err := r.Run(t.Context(), "")
	if err == nil || end.Reason != session.ReasonStorage {
		t.Errorf("%+v %v", end, err)
	}
}
