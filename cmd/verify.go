package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
)

func (a *app) verifyCommand() *cobra.Command {
	var secrets bool
	c := &cobra.Command{
		Use:   "verify [ID|PREFIX]",
		Short: "look for damage in one session, or in all",
		Long: "verify reads everything that belongs to a session: the chain of its log, what the events say of each other,\n" +
			"the checkpoint, the artifacts, and who may read the files. It changes nothing and disturbs nobody. Each\n" +
			"problem is a line on stdout. It exits with 5 if something is damaged, with 1 if others may use the files or\n" +
			"secrets were found; notes change nothing.",
		Example:           "  kagent verify\n  kagent verify nightly\n  kagent verify --secrets\n  kagent verify -o json | jq -r '.[] | select(.ok | not).sessionId'",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: a.completeFirstID,
		RunE:              func(c *cobra.Command, args []string) error { return a.verify(c, secrets, args) },
	}
	c.Flags().BoolVar(&secrets, "secrets", false, "look for secrets instead: those of the environment, and well-known forms of keys")
	return c
}

func (a *app) verify(c *cobra.Command, secrets bool, args []string) error {
	if err := a.configureDir(c); err != nil {
		return err
	}
	if err := a.checkFormat("text", "json"); err != nil {
		return err
	}
	store := a.store()
	if len(args) == 0 {
		a.checkDir()
	}
	ids, err := store.IDs()
	if err == nil && len(args) > 0 {
		ids = make([]string, 1)
		ids[0], err = store.Resolve(args[0])
	}
	if err != nil {
		return err
	}
	look := store.Verify
	if secrets {
		look = func(id string) (checkpoint.Report, error) { return a.findSecrets(store, id) }
	}
	reports, failed := a.verifyAll(look, ids, len(args) > 0)
	if a.format == "json" {
		a.out.json(reports)
	}
	if len(ids) != len(reports) && len(args) > 0 {
		return errors.Join(failed...)
	}
	sound, codes := 0, []int{exitOK}
	for _, r := range reports {
		switch {
		case r.OK:
			sound++
		case r.Damaged():
			codes = append(codes, exitDamaged)
		default:
			codes = append(codes, exitFailed)
		}
	}
	for _, err := range failed {
		a.say("kagent: %s", oneLine(err.Error(), 2000))
		code, _, _ := classify(err)
		codes = append(codes, code)
	}
	a.code = exitFirst(codes...)
	a.say("%d of %s sound", sound, plural(int64(len(reports)+len(failed)), "session"))
	return nil
}

// verifyAll looks at each session and shows what it finds as it goes. One that
// can't be read hides no other; what is no session, or was removed meanwhile,
// is passed over unless it was asked for.
func (a *app) verifyAll(look func(id string) (checkpoint.Report, error), ids []string, asked bool) ([]checkpoint.Report, []error) {
	reports := []checkpoint.Report{}
	var failed []error
	for _, id := range ids {
		r, err := look(id)
		var missing *checkpoint.NotFoundError
		switch {
		case errors.As(err, &missing) && !asked:
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", id, err))
		default:
			reports = append(reports, r)
			a.showReport(r)
		}
	}
	return reports, failed
}

func (a *app) showReport(r checkpoint.Report) {
	if a.format != "text" {
		return
	}
	for _, p := range r.Problems {
		at := ""
		if p.Offset >= 0 {
			at = fmt.Sprintf(" byte %d:", p.Offset)
		}
		line := fmt.Sprintf("%s: %s: %s:%s %s", r.SessionID, level(p.Kind), p.Path, at, p.Message)
		if do := whatToDo(r.SessionID, p); do != "" {
			line += "; " + do
		}
		a.out.text(oneLine(line, 2000))
	}
}

func level(k checkpoint.Kind) string {
	switch {
	case k.Note():
		return "note"
	case k.Damage():
		return "damage"
	}
	return string(k)
}

func whatToDo(id string, p checkpoint.Problem) string {
	if p.Orphan {
		return takeUp(id, p.Path)
	}
	switch p.Kind {
	case checkpoint.KindLog, checkpoint.KindEvent:
		return "`kagent repair " + id + "` makes a new session from what is sound"
	case checkpoint.KindCheckpoint:
		return "the log is what counts; whoever goes on with the session makes it anew"
	case checkpoint.KindArtifact:
		return "the log still has what the model saw of it"
	case checkpoint.KindFile:
		return "put back what was there"
	case checkpoint.KindPermissions:
		return "chmod go= " + quote(p.Path) + ", or chown it"
	case checkpoint.KindTorn:
		return "`kagent resume " + id + "` sets it aside"
	case checkpoint.KindSecret:
		return "change the secret; `kagent rm " + id + "` removes the session"
	case checkpoint.KindNewer:
		return "use that version"
	}
	return ""
}
