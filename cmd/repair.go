package cmd

import (
	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
)

func (a *app) repairCommand() *cobra.Command {
	var as string
	c := &cobra.Command{
		Use:   "repair ID|PREFIX",
		Short: "make a new session from what is sound of a damaged one",
		Long: "repair makes a new session from all lines of a damaged log that are sound, and prints its id. The old session\n" +
			"stays as it is, byte for byte. What was lost is said on stderr, and to the model when it is next asked. A\n" +
			"call whose record is not whole counts as begun: see --on-unknown of `kagent resume`.",
		Example:           "  kagent repair nightly\n  kagent resume \"$(kagent repair nightly)\"\n  kagent repair nightly --session nightly2 -o json | jq .lost",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeFirstID,
		RunE:              func(c *cobra.Command, args []string) error { return a.repair(c, as, args[0]) },
	}
	c.Flags().StringVarP(&as, "session", "s", "", "id of the new session (default the old one with -repaired)")
	return c
}

func (a *app) repair(c *cobra.Command, as, arg string) error {
	if err := a.configureDir(c); err != nil {
		return err
	}
	if err := a.checkFormat("text", "json"); err != nil {
		return err
	}
	if as != "" {
		if err := checkpoint.CheckID(as); err != nil {
			return err
		}
	}
	store := a.store()
	id, err := store.Resolve(arg)
	if err != nil {
		return err
	}
	r, err := store.Repair(id, as)
	if err != nil {
		return err
	}
	for _, l := range r.Lost {
		a.say("lost at byte %d: %s", l.Offset, l.What())
	}
	if len(r.Lost) == 0 {
		a.say("nothing was lost")
	}
	for _, d := range r.InDoubt {
		what := "nobody knows what became of it; see `kagent resume --help`, --on-unknown and --outcome"
		if d.Told {
			what = "its result is lost, and the model is told so"
		}
		a.say("in doubt: call %s (%s): %s", d.Call, oneLine(d.Tool, 64), what)
	}
	a.say("session %s made from %s, which stays as it is", r.SessionID, r.From)
	a.say("resume with: %s", resumeLine(store, r.SessionID))
	if a.format == "json" {
		a.out.json(r)
	} else {
		a.out.text(r.SessionID)
	}
	return nil
}
