package cmd

import (
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

type resumeOptions struct {
	settings settingFlags
	display  displayFlags
	last     bool
	outcomes []string
}

func (a *app) resumeCommand() *cobra.Command {
	var o resumeOptions
	c := &cobra.Command{
		Use:   "resume [ID|PREFIX] [PROMPT...]",
		Short: "go on with a session exactly where it stopped",
		Long: "resume goes on where a session stopped. A prompt adds a turn. Flags that are given replace the session's\n" +
			"own settings from here on; the environment does not. A completed session prints its answer again.",
		Example:           "  kagent resume nightly\n  kagent resume --last\n  kagent resume 3f2a 'now write the tests' --max-steps 40",
		ValidArgsFunction: a.completeFirstID,
		RunE:              func(c *cobra.Command, args []string) error { return a.resume(c, &o, args) },
	}
	f := c.Flags()
	o.settings.addTo(f)
	o.display.addTo(f)
	f.BoolVar(&o.last, "last", false, "the session that changed last")
	f.StringArrayVar(&o.outcomes, "outcome", nil, "what became of a call in doubt: CALL=done|not-done|rerun[:text]")
	return c
}

func (a *app) resume(c *cobra.Command, o *resumeOptions, args []string) error {
	began := time.Now()
	res := newResult()
	warnings, err := a.configure(c, display)
	if err != nil {
		return err
	}
	if err := a.checkFormat("text", "json", "jsonl"); err != nil {
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
	if done, err := a.reprint(store, id, prompt, len(verdicts) > 0, began); done || err != nil {
		return err
	}
	var settings session.Settings
	var p provider.Provider
	// What can be refused is refused before anything is written.
	j, rec, err := store.Open(id, func(s *session.State) (err error) {
		settings, p, err = o.prepare(c, s, verdicts)
		return err
	})
	if err != nil {
		return err
	}
	t := &turn{app: a, store: store, journal: j, provider: p, display: o.display, began: began, result: res}
	t.result.Warnings = append(append(t.result.Warnings, warnings...), recoveryWarnings(rec)...)
	prompt, t.result.Warnings = mask(settings, "the prompt", prompt, t.result.Warnings)
	settings.System, t.result.Warnings = mask(settings, "the system prompt", settings.System, t.result.Warnings)
	if err := o.record(j, settings, verdicts); err != nil {
		j.Close()
		return err
	}
	return t.run(prompt)
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

// reprint prints the answer of a completed session again, without taking it.
func (a *app) reprint(store *checkpoint.Store, id, prompt string, verdicts bool, began time.Time) (bool, error) {
	if prompt != "" || verdicts {
		return false, nil
	}
	// The log is read twice only where it is not gone on with.
	if sum, ok := store.Glance(id); !ok || sum.Status != session.Completed {
		return false, nil
	}
	v, err := store.Read(id)
	if err != nil {
		return false, err
	}
	if status, _ := v.Status(); status != session.Completed || !v.Saved {
		return false, nil
	}
	a.say("session %s", id)
	res := newResult()
	res.fill(v.State, agent.Finish{Status: session.Completed}, store)
	res.DurationMs = time.Since(began).Milliseconds()
	if a.format == "text" {
		a.out.text(*res.Answer)
	} else {
		a.out.json(res.as(a.format))
	}
	return true, nil
}

// prepare checks all that is given against the session as it stands.
func (o *resumeOptions) prepare(c *cobra.Command, state *session.State, verdicts []*session.OutcomeSettled) (s session.Settings, p provider.Provider, err error) {
	for _, verdict := range verdicts {
		if !inDoubt(state, verdict.Call) {
			return s, nil, usageErrorf("`kagent show "+state.ID+"` lists those that are", "--outcome: call %s is not in doubt", verdict.Call)
		}
	}
	s = state.Settings
	if err := o.settings.apply(&s, c.Flags().Changed); err != nil {
		return s, nil, err
	}
	p, err = newProvider(s)
	return s, p, err
}

func inDoubt(s *session.State, id session.CallID) bool {
	for _, c := range s.Main().Pending() {
		if c.ID == id && c.InDoubt() {
			return true
		}
	}
	return false
}

// record writes down what changed for the session.
func (o *resumeOptions) record(j *checkpoint.Journal, s session.Settings, verdicts []*session.OutcomeSettled) error {
	if !reflect.DeepEqual(s, j.State().Settings) {
		if err := j.Append("", &session.SettingsChanged{Settings: s}); err != nil {
			return err
		}
	}
	for _, v := range verdicts {
		if err := j.Append("", v); err != nil {
			return err
		}
	}
	return nil
}

// parseOutcomes reads CALL=done|not-done|rerun[:text].
func parseOutcomes(args []string, secrets *tool.Masker) ([]*session.OutcomeSettled, error) {
	var out []*session.OutcomeSettled
	for _, arg := range args {
		v := &session.OutcomeSettled{}
		call, said, ok := strings.Cut(arg, "=")
		verdict, text, _ := strings.Cut(said, ":")
		v.Verdict, v.Text = session.Verdict(verdict), secrets.Mask(message.Clean(text))
		err := v.Call.UnmarshalText([]byte(call))
		known := v.Verdict == session.VerdictDone || v.Verdict == session.VerdictNotDone || v.Verdict == session.VerdictRerun
		for _, other := range out {
			if err == nil && other.Call == v.Call {
				return nil, usageErrorf("give one", "--outcome: two of call %s", v.Call)
			}
		}
		if !ok || err != nil || !known {
			return nil, usageErrorf("want CALL=done, CALL=not-done or CALL=rerun, with :text after it if you like", "--outcome %q", arg)
		}
		out = append(out, v)
	}
	return out, nil
}

func recoveryWarnings(rec checkpoint.Recovery) []string {
	w := rec.Warnings
	if t := rec.Torn; t != nil {
		w = append(w, "the end of the log was torn by a crash: "+plural(t.Bytes, "byte")+" that had never been promised are set aside in "+t.File)
	}
	return w
}
