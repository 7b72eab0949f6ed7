package cmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
)

type rmOptions struct {
	force     bool
	dryRun    bool
	status    string
	olderThan string
}

// shortestPrefix is how much of an id must be given to delete by it.
const shortestPrefix = 8

func (a *app) rmCommand() *cobra.Command {
	var o rmOptions
	c := &cobra.Command{
		Use:   "rm ID... | --status S | --older-than T",
		Short: "remove sessions",
		Long: "rm removes sessions with everything that belongs to them. It wants the whole id or at least 8 characters\n" +
			"of it, and refuses a session that is in use. By --status and --older-than it removes all that both fit.",
		Example: "  kagent rm nightly\n  kagent rm --force 3f2a9c01\n" +
			"  kagent rm --status completed --older-than 720h --dry-run",
		ValidArgsFunction: a.completeID,
		RunE:              func(c *cobra.Command, args []string) error { return a.rm(c, &o, args) },
	}
	f := c.Flags()
	f.BoolVar(&o.force, "force", false, "also a damaged session")
	f.BoolVar(&o.dryRun, "dry-run", false, "only say what would be removed")
	f.StringVar(&o.status, "status", "", "remove all sessions of that status")
	f.StringVar(&o.olderThan, "older-than", "", "remove all sessions that have not changed since then: 720h ago, or 2026-12-01")
	return c
}

// rm removes what it can and reports each that it can't.
func (a *app) rm(c *cobra.Command, o *rmOptions, args []string) error {
	if err := a.configureDir(c); err != nil {
		return err
	}
	if err := a.readFormat(c); err != nil {
		return err
	}
	store := a.store()
	if o.status != "" || o.olderThan != "" {
		if len(args) > 0 {
			return usageErrorf("give the one or the other", "ids do not go with --status and --older-than")
		}
		a.checkDir()
		var err error
		if args, err = o.choose(store); err != nil {
			return err
		}
	} else if len(args) == 0 {
		return usageErrorf("give ids, --status or --older-than", "no session given")
	}
	return a.removeAll(store, args, o)
}

// A removal is one session in what rm prints as JSON.
type removal struct {
	SessionID string `json:"sessionId"`
	Removed   bool   `json:"removed"` // false: --dry-run
}

// removeAll tells of those that stay on stderr and by the exit code, so that
// stdout is one array of what was removed.
func (a *app) removeAll(store *checkpoint.Store, args []string, o *rmOptions) error {
	done := []removal{}
	var failed []error
	for _, arg := range args {
		id, err := a.remove(store, arg, o)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		done = append(done, removal{id, !o.dryRun})
	}
	err := errors.Join(failed...)
	if a.format != "json" {
		return err
	}
	a.out.json(done)
	if err != nil {
		a.complain(err)
		a.code, _, _ = classify(err)
	}
	return nil
}

// choose returns the ids of the sessions that the flags fit. What can't be
// read has no status and no age: it is removed by its id alone.
func (o *rmOptions) choose(store *checkpoint.Store) ([]string, error) {
	if err := checkStatus(o.status); err != nil {
		return nil, err
	}
	limit := time.Now()
	if o.olderThan != "" {
		var err error
		if limit, err = moment("older-than", o.olderThan, limit); err != nil {
			return nil, err
		}
		if limit.After(time.Now()) {
			return nil, usageErrorf("name a time that is past, or 0 for all", "--older-than %s is still to come", o.olderThan)
		}
	}
	list, err := store.List()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range withStatus(list, o.status) {
		if s.Owner == nil && s.Status != checkpoint.Damaged && !s.UpdatedAt.After(limit) {
			ids = append(ids, s.SessionID)
		}
	}
	return ids, nil
}

// remove removes one session, or would, and returns its id.
func (a *app) remove(store *checkpoint.Store, arg string, o *rmOptions) (string, error) {
	if arg == "" {
		return "", usageErrorf("give an id", "an id is empty")
	}
	id, err := store.Resolve(arg)
	var missing *checkpoint.NotFoundError
	if errors.As(err, &missing) && !o.dryRun {
		return arg, a.finishRemoval(store, arg, err)
	}
	if err != nil {
		return "", err
	}
	if id != arg && len(arg) < shortestPrefix {
		return "", usageErrorf("give the whole id or at least 8 characters", "%q is too short to remove %s by", arg, id)
	}
	if o.dryRun {
		a.say("would remove %s", id)
		return id, nil
	}
	err = store.Remove(id, o.force)
	var damaged *checkpoint.DamagedError
	if errors.As(err, &damaged) {
		return "", fmt.Errorf("%w; --force removes it all the same", err)
	}
	if err == nil {
		a.say("removed %s", id)
	}
	return id, err
}

// finishRemoval removes what a removal that was cut has left; no list shows it.
func (a *app) finishRemoval(store *checkpoint.Store, id string, notFound error) error {
	err := store.Remove(id, false)
	var missing *checkpoint.NotFoundError
	if errors.As(err, &missing) {
		return notFound
	}
	if err == nil {
		a.say("removed %s", id)
	}
	return err
}
