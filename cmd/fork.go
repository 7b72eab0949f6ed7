package cmd

import (
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

type forkOptions struct {
	as    string
	turns int
	at    int64
}

func (a *app) forkCommand() *cobra.Command {
	var o forkOptions
	c := &cobra.Command{
		Use:   "fork ID|PREFIX",
		Short: "make a new session with the same past",
		Long: "fork makes a new session that shares the past of another, and prints its id: to try another way, or to go\n" +
			"back. The old session is only read, and may be running. Calls that had begun and not ended are in doubt in\n" +
			"the new one too, under the same idempotency keys: see --on-unknown of `kagent resume`.",
		Example: "  kagent resume \"$(kagent fork nightly)\" 'now try it without the cache'\n" +
			"  kagent fork nightly --turns 2 --session nightly-b\n  kagent fork nightly --turns 0   # the settings alone\n" +
			"  kagent fork nightly --at \"$(kagent show nightly --events | jq -r 'select(.type==\"plan/set\").seq' | head -1)\" -o json",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeFirstID,
		RunE:              func(c *cobra.Command, args []string) error { return a.fork(c, &o, args[0]) },
	}
	f := c.Flags()
	f.StringVarP(&o.as, "session", "s", "", "id of the new session (default a UUID)")
	f.IntVar(&o.turns, "turns", 0, "share only so many of the user's turns; 0: only the system prompt and the settings")
	f.Int64Var(&o.at, "at", 0, "share only what came up to the event of that number")
	return c
}

func (a *app) fork(c *cobra.Command, o *forkOptions, arg string) error {
	if err := a.configureDir(c); err != nil {
		return err
	}
	if err := a.readFormat(c); err != nil {
		return err
	}
	past, err := o.past(c)
	if err != nil {
		return err
	}
	store := a.store()
	id, err := store.Resolve(arg)
	if err != nil {
		return err
	}
	f, err := store.Fork(id, o.as, past)
	if err != nil {
		return err
	}
	a.sayFork(store, f)
	if a.format == "json" {
		a.out.json(map[string]string{"sessionId": f.State.ID})
	} else {
		a.out.text(f.State.ID)
	}
	return nil
}

// past is what is to be shared.
func (o *forkOptions) past(c *cobra.Command) (p checkpoint.ForkOptions, err error) {
	given := c.Flags().Changed
	switch {
	case given("turns") && given("at"):
		return p, usageErrorf("give one of them", "--turns and --at exclude each other")
	case given("turns"):
		p.Turns = &o.turns
		err = notNegative("turns", o.turns)
	case given("at"):
		if p.At = o.at; o.at < 1 {
			return p, usageErrorf("want 1 or more", "--at %d is no event", o.at)
		}
	}
	if !given("session") {
		o.as = uuid.NewString()
	}
	return p, err
}

func (a *app) sayFork(store *checkpoint.Store, f checkpoint.Fork) {
	id := f.State.ID
	for _, ref := range f.Missing {
		a.say("warning: the artifact %s is missing or damaged in %s", ref, f.From)
	}
	a.say("session %s made from %s, up to event %d", id, f.From, f.At)
	for _, sc := range f.State.Live() {
		for _, c := range sc.Pending() {
			if c.InDoubt() {
				a.say("in doubt: call %s (%s): nobody knows what became of it; see `kagent resume --help`, --on-unknown and --outcome", c.ID, oneLine(c.Wire.Name, 64))
			}
		}
	}
	line := resumeLine(store, id)
	if status, _ := f.State.Status(); f.State.Blank() || status == session.Completed {
		line += " 'PROMPT'"
	}
	a.say("resume with: %s", line)
}
