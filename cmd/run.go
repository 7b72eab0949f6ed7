package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"kagent/pkg/agent"
	"kagent/pkg/session"
)

type runOptions struct {
	settings  settingFlags
	display   displayFlags
	locked    lockFlag
	session   string
	ifExists  string
	stdin     string
	stdinWait time.Duration
	files     []string
	ephemeral bool
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [PROMPT...]",
		Short: "run an agent in a new session",
		Long: "run starts a new session. The prompt is the arguments; without arguments, or with -, it is stdin;\n" +
			"with both, stdin is attached after the prompt. With --session and --if-exists the same line may be\n" +
			"started again and again: it does one thing once.",
		Example: "  kagent run --model demo 'what is in this directory?'\n" +
			"  git diff | kagent run 'review this'\n" +
			"  kagent run --session changelog --allow write,execute 'update the changelog'\n" +
			"  kagent run -q --session report-$(date +%F) --if-exists skip --if-locked skip 'write the report'",
		RunE: func(c *cobra.Command, args []string) error {
			return a.beating(o.display.heartbeat, func() error { return a.run(c, &o, args) })
		},
	}
	f := c.Flags()
	f.StringVarP(&o.settings.agent, "agent", "a", "react", "agent: "+strings.Join(agent.Names(), ", "))
	o.settings.addTo(f)
	o.display.addTo(f)
	f.StringVarP(&o.session, "session", "s", "", "id of the session (default a UUID)")
	f.StringVar(&o.ifExists, "if-exists", existsFail, "where the session exists: fail (2); resume it, if its prompt is the same; continue it\n"+
		"by the prompt as a new turn; skip: as resume, but with nothing to do if it is completed; new: an id derived from it")
	o.locked.addTo(f)
	f.BoolVar(&o.ephemeral, "ephemeral", false, "keep the session in a private temporary directory, removed at the end")
	f.StringVar(&o.stdin, "stdin", "auto", "auto, or none to ignore stdin")
	f.DurationVar(&o.stdinWait, "stdin-wait", 10*time.Minute, "how long to wait for an open stdin that stays silent")
	f.StringArrayVar(&o.files, "file", nil, "file to attach to the prompt (repeatable)")
	return c
}

func (a *app) run(c *cobra.Command, o *runOptions, args []string) error {
	s := &start{app: a, cmd: c, opts: o, began: time.Now(), result: newResult()}
	warnings, err := a.configure(c, nil)
	if err != nil {
		return err
	}
	s.result.Warnings = append(s.result.Warnings, warnings...)
	locked, err := o.check(a, c)
	if err != nil {
		return err
	}
	if o.ephemeral {
		remove, err := a.private(c)
		if err != nil {
			return err
		}
		defer remove()
	}
	s.created = session.Created{Version: version, Settings: session.Settings{Agent: o.settings.agent, System: agent.DefaultSystem()}}
	if err := o.settings.apply(&s.created.Settings, func(string) bool { return true }); err != nil {
		return err
	}
	s.result.Warnings = append(append(s.result.Warnings, o.settings.warnings...), trustWarnings(s.created.Settings)...)
	s.store = a.store()
	if !s.there(o.session) { // what is missing is told before anybody waits for stdin
		if err := s.needProvider(); err != nil {
			return err
		}
	}
	if err := s.read(args); err != nil {
		return err
	}
	switch {
	case !c.Flags().Changed("session"):
		return s.begin(uuid.NewString(), locked)
	case o.ifExists == existsNew:
		return s.beginNew(o.session)
	}
	return s.begin(o.session, locked)
}

// check refuses what can't be meant.
func (o *runOptions) check(a *app, c *cobra.Command) (lockPolicy, error) {
	if err := a.checkFormat("text", "json", "jsonl"); err != nil {
		return lockPolicy{}, err
	}
	if err := oneOf("agent", o.settings.agent, agent.Names()...); err != nil {
		return lockPolicy{}, err
	}
	if o.settings.confirmPlan && c.Flags().Changed("confirm-plan") && o.settings.agent != "plan-solve" && o.settings.agent != "fusion" {
		return lockPolicy{}, usageErrorf("choose --agent plan-solve or fusion", "--confirm-plan: the agent %s makes no plan", o.settings.agent)
	}
	if err := oneOf("if-exists", o.ifExists, existsFail, existsResume, existsContinue, existsSkip, existsNew); err != nil {
		return lockPolicy{}, err
	}
	if o.ifExists != existsFail && !c.Flags().Changed("session") {
		return lockPolicy{}, usageErrorf("name the session with --session", "--if-exists %s needs an id", o.ifExists)
	}
	if err := a.openDisplay(&o.display); err != nil {
		return lockPolicy{}, err
	}
	if err := o.display.checkFiles(); err != nil {
		return lockPolicy{}, err
	}
	return o.locked.policy()
}

// read takes in the prompt.
func (s *start) read(args []string) error {
	o, settings := s.opts, &s.created.Settings
	in := Input{Args: args, Mode: o.stdin, Wait: o.stdinWait, Files: o.files, Stdin: os.Stdin, Stderr: s.app.stderr}
	prompt, err := in.Read(s.app.signals.ctx)
	if err != nil {
		return err
	}
	if prompt.Hollow {
		s.app.sayUnless(o.display.quiet)("stdin was empty: the prompt is what the arguments say")
	}
	s.result.Warnings = append(s.result.Warnings, prompt.Warnings...)
	s.result.Stdin = stdinResult{Attached: prompt.Attached, Bytes: prompt.Bytes}
	s.created.Task, s.result.Warnings = mask(*settings, "the prompt", prompt.Text, s.result.Warnings)
	settings.System, s.result.Warnings = mask(*settings, "the system prompt", settings.System, s.result.Warnings)
	s.created.PromptHash = hashOf(s.created.Task)
	return nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
