package cmd

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

type compactOptions struct {
	dryRun       bool
	instructions string
}

func (a *app) compactCommand() *cobra.Command {
	var o compactOptions
	c := &cobra.Command{
		Use:   "compact ID|PREFIX",
		Short: "put a summary in the place of what was said so far",
		Long: "compact has the session's model summarise what was said so far. From then on the model is sent the summary\n" +
			"in its place; the log keeps everything. With --output json it prints {turns, chars}: how many turns the summary\n" +
			"stands for, and how long it is. Nothing to summarise is no error. A session that can't be summarised, or whose\n" +
			"summary is interrupted, stays as it was.",
		Example:           "  kagent compact nightly\n  kagent compact nightly --dry-run -o json\n  kagent compact nightly --instructions 'keep all file names'",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeFirstID,
		RunE:              func(c *cobra.Command, args []string) error { return a.compact(c, &o, args[0]) },
	}
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "only say how many turns, and characters, would be summarised")
	c.Flags().StringVar(&o.instructions, "instructions", "", "what the summary should pay heed to")
	return c
}

// compaction is what the command prints.
type compaction struct {
	Turns int              `json:"turns"`
	Chars int              `json:"chars"`
	Error *session.Failure `json:"error,omitempty"`
}

func (a *app) compact(c *cobra.Command, o *compactOptions, arg string) error {
	store, id, err := a.named(c, arg)
	if err != nil {
		return err
	}
	v, err := store.Read(id)
	if err != nil {
		return err
	}
	past := agent.Compactable(v.State)
	switch {
	case o.dryRun:
		a.compacted(compaction{Turns: past.Turns, Chars: past.Chars}, "would summarise")
		return nil
	case v.Owner == nil && len(past.Entries) == 0:
		a.compacted(compaction{}, "nothing to summarise in")
		return nil
	}
	return a.compactOpen(store, id, o)
}

// compactOpen takes the session and has it summarised.
func (a *app) compactOpen(store *checkpoint.Store, id string, o *compactOptions) error {
	var p provider.Provider
	j, rec, err := store.Open(id, func(s *session.State) (err error) {
		p, err = newProvider(s.Settings)
		return err
	})
	if err != nil {
		return err
	}
	defer j.Close()
	s := j.State()
	instructions, warnings := mask(s.Settings, "--instructions", o.instructions, recoveryWarnings(rec))
	a.say("session %s", id)
	for _, w := range warnings {
		a.say("warning: %s", w)
	}
	r, err := a.runner(j, p)
	if err != nil {
		return err
	}
	r.Observe = (&progress{say: a.say, detail: func(string, ...any) {}}).observe
	before := s.Main().Cut
	ctx, heard := heed(a.signals.ctx, j.Inbox())
	end, err := r.Compact(ctx, strings.TrimSpace(instructions))
	heard()
	if err != nil {
		return err
	}
	now := s.Main().Cut
	done := compaction{Error: end.End.Error}
	if now.Before > before.Before {
		done.Turns, done.Chars = now.Covered-before.Covered, utf8.RuneCountInString(now.Summary)
	}
	a.code = exitCode(string(end.Status), string(end.Reason))
	switch {
	case end.Status == session.Completed:
		a.compacted(done, "summarised")
	case a.format == "json":
		a.out.json(done)
	}
	if end.Status != session.Completed {
		a.say("kagent: no summary was made: %s", whyEnded(end))
		a.say("session %s is as it was", id)
	}
	return nil
}

// compacted prints what was done, as people or scripts read it.
func (a *app) compacted(c compaction, what string) {
	if a.format == "json" {
		a.out.json(c)
		return
	}
	a.out.text(what + " " + plural(int64(c.Turns), "turn") + ", " + plural(int64(c.Chars), "character"))
}

// whyEnded says in a line why something ended as it did.
func whyEnded(end agent.Finish) string {
	why := string(end.Status)
	if end.Reason != "" {
		why += ": " + string(end.Reason)
	}
	if end.End.Error != nil {
		why += ": " + oneLine(end.End.Error.Message, 500)
	}
	return why
}
