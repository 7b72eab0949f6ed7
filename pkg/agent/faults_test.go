package agent_test

import (
	"context"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/session"
)

// memory is a journal without a disk; it counts the checkpoints.
type memory struct {
	state   session.State
	commits int
}

func (m *memory) State() *session.State { return &m.state }
func (m *memory) Sync() error           { return nil }
func (m *memory) Commit() error         { m.commits++; return nil }
func (m *memory) Append(scope string, data ...session.Data) error {
	for _, d := range data {
		m.state.Apply(session.Event{Seq: m.state.Seq + 1, Scope: scope, Type: d.Type(), Data: d})
	}
	return nil
}

// What the fault lab found on the built binary: a run that was killed between
// the end of its turn and the checkpoint stayed "active" there for ever.
func TestACompletedSessionIsSavedAgain(t *testing.T) {
	m := &memory{}
	if err := m.Append("", &session.Created{Task: "x"}, &session.UserMessage{Source: session.FromTask},
		&session.TurnStart{Turn: 1}, &session.TurnEnd{Turn: 1, Status: session.Completed}); err != nil {
		t.Fatal(err)
	}
	end, err := (&agent.Runner{Journal: m, Strategy: agent.React}).Run(context.Background(), "")
	if err != nil || end.Status != session.Completed {
		t.Fatalf("ended as %s: %v", end.Status, err)
	}
	if m.commits != 1 {
		t.Errorf("%d checkpoints, want 1", m.commits)
	}
}
