package agent_test

import (
	"context"
	"strings"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/provider/demo"
	"kagent/pkg/session"
)

func TestAnAgentThatThereIsNotIsSaidAndNothingIsWritten(t *testing.T) {
	store := checkpoint.NewStore(t.TempDir(), checkpoint.Options{})
	j, err := store.Create("s", session.Created{Task: "x", Settings: session.Settings{Agent: "reactor"}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	seq := j.State().Seq
	r := agent.Runner{Journal: j, Provider: demo.New()}
	if _, err := r.Run(context.Background(), ""); err == nil || !strings.Contains(err.Error(), `"reactor" is not known; known are react`) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Compact(context.Background(), ""); err == nil || j.State().Seq != seq {
		t.Errorf("got %v, and %d events more", err, j.State().Seq-seq)
	}
}
