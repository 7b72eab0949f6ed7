package cmd

import (
	"encoding/json"
	"sync"
	"time"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

const statusSchema = "kagent/status/v1"

// statusEvery is how often status.json is written anew, also while nothing
// happens: whoever watches it knows that the process lives.
const statusEvery = 10 * time.Second

// runStatus is what status.json holds.
type runStatus struct {
	Schema    string         `json:"schema"`
	Session   string         `json:"session"`
	Status    session.Status `json:"status"`
	Reason    session.Reason `json:"reason"`
	PID       int            `json:"pid"`
	Host      string         `json:"host"`
	Agent     string         `json:"agent"`
	Model     string         `json:"model"`
	Step      int            `json:"step"`
	Nodes     int            `json:"nodes,omitempty"`
	NodesDone int            `json:"nodesDone,omitempty"`
	Doing     []work         `json:"doing"`
	Tokens    int64          `json:"tokens"`
	CostUSD   *float64       `json:"costUSD"`
	StartedAt time.Time      `json:"startedAt"`
	LastEvent time.Time      `json:"lastEventAt"`
	UpdatedAt time.Time      `json:"updatedAt"`
}

// statusFile keeps a session's status.json while it runs.
type statusFile struct {
	put   func([]byte) error
	first runStatus
	is    *activity
	done  chan struct{}
	gone  sync.WaitGroup
}

func startStatus(j *checkpoint.Journal, is *activity) *statusFile {
	s, owner := j.State(), checkpoint.ThisProcess(version)
	f := &statusFile{put: j.PutStatus, is: is, done: make(chan struct{})}
	f.first = runStatus{
		Schema: statusSchema, Session: s.ID, Status: session.Active, PID: owner.PID, Host: owner.Host,
		Agent: s.Settings.Agent, Model: s.Settings.Model,
	}
	f.write(session.Active, "")
	f.gone.Go(func() {
		tick := time.NewTicker(statusEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				f.write(session.Active, "")
			case <-f.done:
				return
			}
		}
	})
	return f
}

// end writes how the run has ended.
func (f *statusFile) end(status session.Status, reason session.Reason) {
	close(f.done)
	f.gone.Wait()
	f.write(status, reason)
}

// write is for people and monitors: what goes wrong with it harms no run.
func (f *statusFile) write(status session.Status, reason session.Reason) {
	is, out := f.is.look(), f.first
	out.Status, out.Reason, out.Step, out.Nodes, out.NodesDone = status, reason, is.Step, len(is.Nodes), is.done()
	out.Tokens, out.CostUSD, out.StartedAt, out.LastEvent, out.UpdatedAt = is.Tokens, is.CostUSD, is.Began.UTC(), is.Last.UTC(), f.is.now().UTC()
	if out.Doing = is.Works; out.Doing == nil || status != session.Active {
		out.Doing = []work{}
	}
	if text, err := json.Marshal(out); err == nil {
		_ = f.put(append(text, '\n'))
	}
}
