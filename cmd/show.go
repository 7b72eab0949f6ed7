package cmd

import (
	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

type showOptions struct {
	last, follow                         bool
	events, messages, plan, steps, stats bool
}

func (a *app) showCommand() *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show ID|PREFIX",
		Short: "show a session",
		Example: "  kagent show nightly\n  kagent show --last --events | jq .type\n" +
			"  kagent show nightly --events --follow\n  kagent show nightly -o json | jq .usage\n" +
			"  kagent show nightly --steps -o json | jq '.[] | select(.type==\"tool\")'",
		ValidArgsFunction: a.completeFirstID,
		RunE:              func(c *cobra.Command, args []string) error { return a.show(c, &o, args) },
	}
	f := c.Flags()
	f.BoolVar(&o.last, "last", false, "the session that changed last")
	f.BoolVar(&o.events, "events", false, "the events of the log, a JSON object a line")
	f.BoolVar(&o.messages, "messages", false, "what the model would be sent, as JSON")
	f.BoolVar(&o.plan, "plan", false, "what the agent has concluded: plan, route, verdicts, task graph")
	f.BoolVar(&o.steps, "steps", false, "what was done, step by step: model calls, thoughts, tools, with their times")
	f.BoolVar(&o.stats, "stats", false, "how turns ended, tokens, cost, time by step and tool")
	f.BoolVar(&o.follow, "follow", false, "go on with what is written until the run ends")
	return c
}

func (a *app) show(c *cobra.Command, o *showOptions, args []string) error {
	if err := a.configureDir(c); err != nil {
		return err
	}
	if err := a.readFormat(c); err != nil {
		return err
	}
	if err := o.check(a.format, args); err != nil {
		return err
	}
	store := a.store()
	id, _, err := a.pick(store, o.last, args)
	if err != nil {
		return err
	}
	switch {
	case o.plan:
		return a.showPlan(store, id)
	case o.steps:
		return a.showSteps(store, id)
	case o.stats:
		return a.showStats(store, id)
	case o.messages, a.format == "json" && !o.events:
		return a.showWhole(store, id, o)
	case o.events:
		return store.Events(a.signals.ctx, id, o.follow, func(e session.Event) { a.out.json(e) })
	}
	sum, err := store.Summary(id)
	if err != nil {
		return err
	}
	t := newTranscript(a.out, o.follow)
	t.head(sum)
	err = store.Events(a.signals.ctx, id, o.follow, t.event)
	t.end()
	return err
}

// check refuses what can't be meant.
func (o *showOptions) check(format string, args []string) error {
	views := 0
	for _, chosen := range []bool{o.events, o.messages, o.plan, o.steps, o.stats} {
		if chosen {
			views++
		}
	}
	// What is followed is what comes event by event.
	if views > 1 || o.follow && !o.events && (views > 0 || format == "json") {
		return usageErrorf("see `kagent show --help`", "these do not go together")
	}
	if len(args) > 1 || o.last && len(args) > 0 {
		return usageErrorf("see `kagent show --help`", "show takes one session")
	}
	return nil
}

// showWhole prints what needs the fold of the whole log.
func (a *app) showWhole(store *checkpoint.Store, id string, o *showOptions) error {
	v, err := store.Read(id)
	if err != nil {
		return err
	}
	if o.messages {
		sent := v.State.View("")
		if sent.Messages == nil {
			sent.Messages = []message.Message{}
		}
		a.out.json(map[string]any{"system": sent.System, "messages": sent.Messages, "tools": v.State.Settings.Tools})
		return nil
	}
	b, err := v.Image()
	if err != nil {
		return err
	}
	a.out.Write(b)
	return nil
}
