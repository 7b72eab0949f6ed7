package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
)

type rmOptions struct{ force bool }

// shortestPrefix is how much of an id must be given to delete by it.
const shortestPrefix = 8

func (a *app) rmCommand() *cobra.Command {
	var o rmOptions
	c := &cobra.Command{
		Use:   "rm ID...",
		Short: "remove sessions",
		Long: "rm removes sessions with everything that belongs to them. It wants the whole id or at least 8 characters\n" +
			"of it, and refuses a session that is in use.",
		Example: "  kagent rm nightly\n  kagent rm --force 3f2a9c01",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return a.rm(c, &o, args) },
	}
	c.Flags().BoolVar(&o.force, "force", false, "also a damaged session")
	return c
}

// rm removes what it can and reports each that it can't.
func (a *app) rm(c *cobra.Command, o *rmOptions, args []string) error {
	if _, err := a.configure(c, common); err != nil {
		return err
	}
	store := a.store()
	var failed []error
	for _, arg := range args {
		if err := a.remove(store, arg, o.force); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func (a *app) remove(store *checkpoint.Store, arg string, force bool) error {
	id, err := store.Resolve(arg)
	if err != nil {
		return err
	}
	if id != arg && len(arg) < shortestPrefix {
		return usageErrorf("give the whole id or at least 8 characters", "%q is too short to remove %s by", arg, id)
	}
	err = store.Remove(id, force)
	var damaged *checkpoint.DamagedError
	if errors.As(err, &damaged) {
		return fmt.Errorf("%w; --force removes it all the same", err)
	}
	if err == nil {
		a.say("removed %s", id)
	}
	return err
}
