package agent

import (
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// Inbox holds what is said to a session while it runs, durably, until the log
// has it. The ids of letters are never used again.
type Inbox interface {
	// Take returns what is there, the oldest first. It stays there until Done.
	Take() ([]Letter, error)
	// Done removes letters. One that is gone already is no error.
	Done(ids []string) error
}

// Letter is what somebody said.
type Letter struct{ ID, Text string }

// listen takes up what was said since the last step, each letter once: its id
// goes into the log with its text, and only when that is durable it leaves the
// inbox.
func (r *Runner) listen() error {
	if r.Inbox == nil {
		return nil
	}
	letters, err := r.Inbox.Take()
	if err != nil || len(letters) == 0 {
		return err
	}
	var said []session.Data
	var ids []string
	for _, l := range letters {
		ids = append(ids, l.ID)
		if !r.Journal.State().Took(l.ID) {
			said = append(said, &session.UserMessage{Source: session.FromUser, Text: r.Mask.Mask(message.Clean(l.Text)), Inbox: l.ID})
		}
	}
	if err := r.append("", said...); err != nil {
		return err
	}
	if err := r.Journal.Sync(); err != nil {
		return err
	}
	return r.Inbox.Done(ids)
}

// hear listens where the user may speak: in the session's own scope, and not
// between a call and its result.
func (r *run) hear() error {
	if r.name != "" || r.deaf || len(r.state().Pending()) > 0 {
		return nil
	}
	return r.listen()
}
