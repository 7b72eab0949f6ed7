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
	session   string
	stdin     string
	stdinWait time.Duration
	files     []string
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [PROMPT...]",
		Short: "run an agent in a new session",
		Long: "run starts a new session. The prompt is the arguments; without arguments, or with -, it is stdin;\n" +
			"with both, stdin is attached after the prompt.",
		Example: "  kagent run --model demo 'what is in this directory?'\n" +
			"  git diff | kagent run 'review this'\n" +
			"  kagent run --session nightly --allow write,execute 'update the changelog'",
		RunE: func(c *cobra.Command, args []string) error { return a.run(c, &o, args) },
	}
	f := c.Flags()
	f.StringVarP(&o.settings.agent, "agent", "a", "react", "agent: "+strings.Join(agent.Names(), ", "))
	o.settings.addTo(f)
	o.display.addTo(f)
	f.StringVarP(&o.session, "session", "s", "", "id of the session (default a UUID)")
	f.StringVar(&o.stdin, "stdin", "auto", "auto, or none to ignore stdin")
	f.DurationVar(&o.stdinWait, "stdin-wait", 10*time.Minute, "how long to wait for an open stdin that stays silent")
	f.StringArrayVar(&o.files, "file", nil, "file to attach to the prompt (repeatable)")
	return c
}

func (a *app) run(c *cobra.Command, o *runOptions, args []string) error {
	began := time.Now()
	res := newResult()
	warnings, err := a.configure(c, nil)
	if err != nil {
		return err
	}
	if err := a.checkFormat("text", "json", "jsonl"); err != nil {
		return err
	}
	settings := session.Settings{Agent: o.settings.agent, System: agent.DefaultSystem()}
	if err := oneOf("agent", o.settings.agent, agent.Names()...); err != nil {
		return err
	}
	if err := o.settings.apply(&settings, func(string) bool { return true }); err != nil {
		return err
	}
	p, err := newProvider(settings)
	if err != nil {
		return err
	}
	in := Input{Args: args, Mode: o.stdin, Wait: o.stdinWait, Files: o.files, Stdin: os.Stdin, Stderr: a.stderr}
	prompt, err := in.Read(a.signals.ctx)
	if err != nil {
		return err
	}
	res.Warnings = append(append(res.Warnings, warnings...), prompt.Warnings...)
	res.Stdin = stdinResult{Attached: prompt.Attached, Bytes: prompt.Bytes}

	var task string
	task, res.Warnings = mask(settings, "the prompt", prompt.Text, res.Warnings)
	settings.System, res.Warnings = mask(settings, "the system prompt", settings.System, res.Warnings)

	id := o.session
	if !c.Flags().Changed("session") {
		id = uuid.NewString()
	}
	store := a.store()
	hash := sha256.Sum256([]byte(task))
	j, err := store.Create(id, session.Created{
		Task: task, PromptHash: hex.EncodeToString(hash[:]), Settings: settings, Version: version,
	})
	if err != nil {
		return err
	}
	t := &turn{app: a, store: store, journal: j, provider: p, display: o.display, began: began, result: res}
	return t.run("")
}
