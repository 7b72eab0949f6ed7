package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// marks are the statuses that a person may give.
func marks() []string {
	return []string{string(session.Completed), string(session.Failed), string(session.Cancelled)}
}

func (a *app) markCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mark ID|PREFIX " + strings.Join(marks(), "|"),
		Short: "say how a session stands",
		Long: "mark writes down that a session, which no one runs, is completed, failed or cancelled, so that\n" +
			"`kagent resume --interrupted` and --if-exists skip leave it alone. It can still be resumed.",
		Example:           "  kagent mark nightly completed",
		Args:              usageArgs(cobra.ExactArgs(2)),
		ValidArgsFunction: a.completeMark,
		RunE:              a.mark,
	}
}

func (a *app) completeMark(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return marks(), cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeFirstID(c, args, word)
}

func (a *app) mark(c *cobra.Command, args []string) error {
	store, id, err := a.named(c, args[0])
	if err != nil {
		return err
	}
	if err := oneOf("mark", args[1], marks()...); err != nil {
		return usageErrorf("want "+strings.Join(marks(), ", "), "a session can't be marked as %q", args[1])
	}
	status, err := markIdle(store, id, func(session.Status) session.Status { return session.Status(args[1]) })
	if err != nil {
		return err
	}
	a.stands(id, status)
	return nil
}

// named finds the session of a command that runs no agent.
func (a *app) named(c *cobra.Command, prefix string) (*checkpoint.Store, string, error) {
	if err := a.configureDir(c); err != nil {
		return nil, "", err
	}
	if err := a.readFormat(c); err != nil {
		return nil, "", err
	}
	store := a.store()
	id, err := store.Resolve(prefix)
	return store, id, err
}

// markIdle gives a session that no one runs the status that choose makes of
// its own, and returns it. Nothing is written where that is the same.
func markIdle(store *checkpoint.Store, id string, choose func(session.Status) session.Status) (session.Status, error) {
	var status session.Status
	j, _, err := store.Open(id, func(s *session.State) error {
		now, _ := checkpoint.Unowned(s)
		if status = choose(now); status == now {
			return errNothingToMark
		}
		return nil
	})
	if err == errNothingToMark {
		return status, nil
	}
	if err != nil {
		return "", err
	}
	defer j.Close()
	return status, j.Mark(session.TurnEnd{Status: status})
}

// stands says how a session stands now.
func (a *app) stands(id string, status session.Status) {
	a.say("session %s is %s", id, status)
	if a.format == "json" {
		a.out.json(struct {
			SessionID string         `json:"sessionId"`
			Status    session.Status `json:"status"`
		}{id, status})
	}
}
