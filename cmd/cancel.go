package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

const (
	// askEvery is how often a run looks whether it is asked to stop, and
	// whoever asked whether it has.
	askEvery = 100 * time.Millisecond
	// askFor is how long a run has to stop: its tools are ended with it.
	askFor = 20 * time.Second
)

var errNothingToMark = errors.New("it stands so already")

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID|PREFIX",
		Short: "stop a session, or mark one that no one runs as cancelled",
		Long: "cancel asks the process that runs a session to stop, wherever that is and whatever it waits for: the session\n" +
			"is saved as cancelled, the tools are ended, and cancel returns when it is over. A session that no one runs is\n" +
			"marked as cancelled; one that is completed stays so. A cancelled session can be resumed.",
		Example:           "  kagent cancel nightly",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeFirstID,
		RunE:              a.cancel,
	}
}

func (a *app) cancel(c *cobra.Command, args []string) error {
	store, id, err := a.named(c, args[0])
	if err != nil {
		return err
	}
	status, err := stop(a.signals.ctx, store, id)
	if err != nil {
		return err
	}
	a.stands(id, status)
	return nil
}

// heed returns a context that ends when the session's process is asked to stop.
// The function that goes with it waits until nobody looks any more.
func heed(ctx context.Context, inbox *checkpoint.Inbox) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(askEvery)
		defer tick.Stop()
		for !inbox.Asked() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		cancel(&agent.Stop{Status: session.Cancelled})
	}()
	return ctx, func() { cancel(nil); <-gone }
}

// stop asks whoever has the session until nobody has. Where that one came to
// an end of its own first, the end counts if it is a good one.
func stop(ctx context.Context, store *checkpoint.Store, id string) (session.Status, error) {
	began := time.Now()
	for {
		status, err := markIdle(store, id, func(now session.Status) session.Status {
			if now == session.Completed {
				return now
			}
			return session.Cancelled
		})
		var inUse *checkpoint.InUseError
		if !errors.As(err, &inUse) || time.Since(began) > askFor {
			return status, err
		}
		if !inUse.Tools {
			if err := askToStop(store, id); err != nil {
				return "", err
			}
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(askEvery):
		}
	}
}

func askToStop(store *checkpoint.Store, id string) error {
	inbox, err := store.Inbox(id)
	if err != nil {
		return err
	}
	return inbox.AskToStop()
}
