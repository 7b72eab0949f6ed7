package cmd

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

type resumeOptions struct {
	settings settingFlags
	display  displayFlags
	last     bool
	outcomes []string
	approve  string
	locked   lockFlag
	batch    batchFlags
}

func (a *app) resumeCommand() *cobra.Command {
	var o resumeOptions
	c := &cobra.Command{
		Use:   "resume [ID|PREFIX] [PROMPT...]",
		Short: "go on with a session exactly where it stopped",
		Long: "resume goes on where a session stopped. A prompt adds a turn. Flags that are given replace the session's\n" +
			"own settings from here on; the environment does not. A completed session prints its answer again.\n" +
			"With --interrupted, --status or --reason it goes on with all such sessions that no one runs, the oldest\n" +
			"first, and not before the time that a provider asked for; each ends with a line on stdout: its id and how\n" +
			"it stands, or a result object with -o json. The exit code is that of the worst; nothing to do is 0 and silent.",
		Example: "  kagent resume nightly\n  kagent resume --last\n  kagent resume 3f2a 'now write the tests' --max-steps 40\n" +
			"  kagent resume -q --interrupted --max-attempts 5 --jobs 4\n  kagent resume --reason max_steps --max-steps 80",
		ValidArgsFunction: a.completeFirstID,
		RunE: func(c *cobra.Command, args []string) error {
			return a.beating(o.display.heartbeat, func() error { return a.resume(c, &o, args) })
		},
	}
	f := c.Flags()
	o.settings.addTo(f)
	o.display.addTo(f)
	o.locked.addTo(f)
	o.batch.addTo(f)
	f.BoolVar(&o.last, "last", false, "the session that changed last")
	f.StringArrayVar(&o.outcomes, "outcome", nil, "what became of a call in doubt: CALL=done|not-done|rerun[:text]")
	f.StringVar(&o.approve, "approve", "", "consent to what the session is paused for: all, or the id of a call; a prompt asks for changes instead")
	return c
}

func (a *app) resume(c *cobra.Command, o *resumeOptions, args []string) error {
	began := time.Now()
	res := newResult()
	warnings, err := a.prepare(c, &o.display)
	if err != nil {
		return err
	}
	single := len(args) > 0 || o.last || len(o.outcomes) > 0 || o.display.answerFile != "" || o.display.record != ""
	if err := o.batch.check(c, single); err != nil {
		return err
	}
	if o.batch.chosen() {
		return a.resumeAll(c, o)
	}
	locked, err := o.locked.policy()
	if err != nil {
		return err
	}
	store := a.store()
	id, rest, err := a.pick(store, o.last, args)
	if err != nil {
		return err
	}
	prompt, err := a.resumePrompt(rest)
	if err != nil {
		return err
	}
	verdicts, err := parseOutcomes(o.outcomes, masker(session.Settings{APIKeyEnv: o.settings.apiKeyEnv}))
	if err != nil {
		return err
	}
	if err := checkApproveFlag(c, o.approve); err != nil {
		return err
	}
	if done, err := a.reprint(store, id, prompt, len(verdicts) > 0 || o.approve != "", o, c.Flags().Changed, began); done || err != nil {
		return err
	}
	r := &reopening{app: a, cmd: c, store: store, flags: &o.settings, given: c.Flags().Changed, verdicts: verdicts, approve: o.approve, prompted: strings.TrimSpace(prompt) != ""}
	var got *taken
	err = locked.take(a.signals.ctx, a.sayUnless(o.display.quiet), func() (err error) {
		got, err = r.open(id)
		return err
	})
	if err != nil {
		return a.unlessSkipped(err, res, o.display.quiet)
	}
	t := &turn{app: a, store: store, journal: got.journal, provider: got.provider, display: o.display, began: began, result: res}
	for _, more := range [][]string{warnings, got.warnings, trustWarnings(got.settings)} {
		t.result.Warnings = append(t.result.Warnings, more...)
	}
	prompt, t.result.Warnings = mask(got.settings, "the prompt", prompt, t.result.Warnings)
	return t.run(prompt)
}

// prepare reads what is configured, and opens what is shown.
func (a *app) prepare(c *cobra.Command, d *displayFlags) (warnings []string, err error) {
	if warnings, err = a.configure(c, display); err != nil {
		return nil, err
	}
	if err := a.checkFormat("text", "json", "jsonl"); err != nil {
		return nil, err
	}
	if err := a.openDisplay(d); err != nil {
		return nil, err
	}
	return warnings, d.checkFiles()
}

// pick finds the session that is meant, and what remains as the prompt.
func (a *app) pick(store *checkpoint.Store, last bool, args []string) (string, []string, error) {
	if last {
		list, err := store.List()
		if err != nil {
			return "", nil, err
		}
		if len(list) == 0 {
			return "", nil, &checkpoint.NotFoundError{}
		}
		return list[0].SessionID, args, nil
	}
	if len(args) == 0 || args[0] == "" {
		return "", nil, usageErrorf("give an id, a prefix of one, or --last", "no session given")
	}
	id, err := store.Resolve(args[0])
	return id, args[1:], err
}

// resumePrompt joins the words; only - reads stdin.
func (a *app) resumePrompt(words []string) (string, error) {
	if len(words) == 0 {
		return "", nil
	}
	in := Input{Args: words, Mode: "none", Stdin: os.Stdin, Stderr: a.stderr}
	if len(words) == 1 && words[0] == "-" {
		in.Mode, in.Wait = "auto", 10*time.Minute
	}
	p, err := in.Read(a.signals.ctx)
	return p.Text, err
}

// reprint prints the answer of a completed session again, without taking it unless
// the answer is to fit another schema now.
func (a *app) reprint(store *checkpoint.Store, id, prompt string, decided bool, o *resumeOptions, given func(string) bool, began time.Time) (bool, error) {
	if prompt != "" || decided {
		return false, nil
	}
	v, done, err := a.readCompleted(store, id)
	if !done || err != nil {
		return false, err
	}
	if err := a.reshape(store, v.State, &o.settings, given); err != nil {
		return false, err
	}
	a.say("session %s", id)
	a.answer(completedResult(v.State, store, began), &o.display)
	return true, nil
}

// readCompleted reads a session if it is completed, the one who completed it
// has said so, and nobody has said more to it.
func (a *app) readCompleted(store *checkpoint.Store, id string) (checkpoint.View, bool, error) {
	// The log is read twice only where it is not gone on with.
	if sum, ok := store.Glance(id); !ok || sum.Status != session.Completed {
		return checkpoint.View{}, false, nil
	}
	v, err := store.Read(id)
	if err != nil {
		return v, false, err
	}
	status, _ := v.Status()
	inbox, err := store.Inbox(id)
	return v, err == nil && status == session.Completed && v.Saved && inbox.Empty(), err
}

// answer prints what a completed session came to.
func (a *app) answer(res result, d *displayFlags) {
	a.finish(&res, d)
	if a.format == "text" {
		a.out.text(*res.Answer)
	} else {
		a.out.json(res.as(a.format))
	}
	a.settle(a.store(), res.Session)
}

func completedResult(s *session.State, store *checkpoint.Store, began time.Time) result {
	res := newResult()
	res.fill(s, agent.Finish{Status: session.Completed}, store)
	res.DurationMs = time.Since(began).Milliseconds()
	return res
}

// unlessSkipped is err, or nothing where a session that is in use was to be
// left alone.
func (a *app) unlessSkipped(err error, res result, quiet bool) error {
	var skipped *lockSkipped
	if !errors.As(err, &skipped) {
		return err
	}
	a.sayUnless(quiet)("%v: nothing to do", skipped)
	if a.format != "text" {
		res.Session, res.Status, res.Reason = skipped.ID, session.Active, "in_use"
		a.out.json(res.as(a.format))
	}
	return nil
}
