package agent_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"kagent/pkg/session"
)

// ledger is a journal without a disk. fail may refuse an operation; n counts
// them all, from 1.
type ledger struct {
	mu        sync.Mutex
	state     *session.State
	events    []session.Event
	durable   int // events that survive a power cut
	committed int // events that the checkpoint shows
	reserved  []int64
	ops       int
	fail      func(op string, n int) error
}

func newLedger(settings session.Settings) *ledger {
	m := &ledger{state: &session.State{}}
	_ = m.Append("", &session.Created{Schema: session.Schema, ID: "s", Task: "the task", Settings: settings}, &session.Opened{Attempt: 1})
	m.durable = len(m.events)
	return m
}

// reopened is the session as the next process finds it after a power cut that
// left n events, with the turn that was open closed, as an open does.
func (m *ledger) reopened(n int) *ledger {
	next := &ledger{state: &session.State{}, events: m.events[:n:n], durable: n}
	for _, e := range next.events {
		next.state.Apply(e)
	}
	data := []session.Data{&session.Opened{Attempt: next.state.Attempts + 1}}
	if t := next.state.Main().Turn; t.Open {
		data = append(data, &session.TurnEnd{Turn: t.N, Status: session.Interrupted, Reason: session.ReasonCrash})
	}
	_ = next.Append("", data...)
	return next
}

func (m *ledger) State() *session.State { return m.state }

func (m *ledger) refuses(op string) error {
	m.ops++
	if m.fail == nil {
		return nil
	}
	return m.fail(op, m.ops)
}

func (m *ledger) Append(scope string, data ...session.Data) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	op := "append"
	if len(data) > 0 {
		op += " " + string(data[0].Type())
	}
	if err := m.refuses(op); err != nil {
		return err
	}
	for _, d := range data {
		seq := m.state.Seq + 1
		e := session.Event{Seq: seq, Epoch: 1, Time: epoch.Add(time.Duration(seq) * time.Second), Scope: scope, Type: d.Type(), Data: d}
		m.events = append(m.events, e)
		m.state.Apply(e)
	}
	return nil
}

func (m *ledger) Reserve(n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved = append(m.reserved, n)
	return m.refuses("reserve")
}

func (m *ledger) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuses("sync"); err != nil {
		return err
	}
	m.durable = len(m.events)
	return nil
}

func (m *ledger) Commit() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuses("commit"); err != nil {
		return err
	}
	m.durable = len(m.events)
	m.committed = m.durable
	return nil
}

// intended reports whether the intent of the call with that key is durable.
func (m *ledger) intended(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.events[:m.durable] {
		if c, ok := e.Data.(*session.ToolCall); ok && c.Key == key {
			return true
		}
	}
	return false
}

// saved reports whether the turn is closed, and that as durably as can be.
func (m *ledger) saved() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, end := m.events[len(m.events)-1].Data.(*session.TurnEnd)
	return end && m.committed == len(m.events)
}

// closed reports whether the checkpoint shows the end of the main turn. Children
// that end after it may have written more.
func (m *ledger) closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.events[:m.committed], func(e session.Event) bool {
		_, end := e.Data.(*session.TurnEnd)
		return end && e.Scope == ""
	})
}

// replays checks that the log leads to the state that the run has seen.
func (m *ledger) replays(t testing.TB) {
	t.Helper()
	again := &session.State{}
	for _, e := range m.events {
		b, err := json.Marshal(e)
		var back session.Event
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil {
			t.Fatalf("%s can't be stored: %v", e.Type, err)
		}
		again.Apply(back)
	}
	if !reflect.DeepEqual(again, m.state) {
		t.Errorf("the log leads to another state than the run\nlog %+v\nrun %+v", again.Main(), m.state.Main())
	}
}

// data returns the events of one kind.
func data[T session.Data](m *ledger) (list []T) {
	for _, e := range m.events {
		if d, ok := e.Data.(T); ok {
			list = append(list, d)
		}
	}
	return list
}

// results are the outcomes in the order in which they were recorded.
func results(m *ledger) (list []string) {
	for _, r := range data[*session.ToolResult](m) {
		list = append(list, fmt.Sprintf("%d %s", r.Call.Index, r.Outcome))
	}
	return list
}
