package cmd

import (
	"encoding/json"
	"testing"
	"time"

	"kagent/pkg/session"
)

// What status.json says is what is done now; at the end nothing is.
func TestStatusFileTellsWhatIsDone(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	var got runStatus
	f := &statusFile{
		is: newActivity(&session.State{}, func() time.Time { return now }), done: make(chan struct{}),
		put: func(b []byte) error { return json.Unmarshal(b, &got) },
	}
	f.is.nodes = twoNodes
	acting(f.is.observe)
	now = now.Add(time.Minute)
	f.write(session.Active, "")
	if got.Status != session.Active || got.Step != 2 || len(got.Doing) != 1 || got.Doing[0].What != "shell" || got.Nodes != 2 || got.NodesDone != 1 ||
		got.Tokens != 20_012 || *got.CostUSD != 1 || now.Sub(got.LastEvent) != time.Minute || !got.UpdatedAt.Equal(now) {
		t.Errorf("%+v", got)
	}
	f.end(session.Interrupted, session.ReasonNetwork)
	if got.Status != session.Interrupted || got.Reason != session.ReasonNetwork || len(got.Doing) != 0 {
		t.Errorf("%+v", got)
	}
}
