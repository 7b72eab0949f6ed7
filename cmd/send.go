package cmd

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"kagent/pkg/session"
)

func (a *app) sendCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "send ID|PREFIX TEXT...",
		Short: "say something to a session, whoever runs it",
		Long: "send queues a message, durably. The run that has the session takes it up once, before its next step; one that no one\n" +
			"runs keeps it for the next resume. With - the text is stdin.",
		Example:           "  kagent send nightly 'leave the tests alone'\n  kagent send nightly - < note.txt && kagent resume nightly",
		Args:              usageArgs(cobra.MinimumNArgs(2)),
		ValidArgsFunction: a.completeFirstID,
		RunE:              a.send,
	}
}

func (a *app) send(c *cobra.Command, args []string) error {
	store, id, err := a.named(c, args[0])
	if err != nil {
		return err
	}
	inbox, err := store.Inbox(id)
	if err != nil {
		return err
	}
	in := Input{Args: args[1:], Mode: "none", Stdin: os.Stdin, Stderr: a.stderr}
	if len(args) == 2 && args[1] == "-" {
		in.Mode, in.Wait = "auto", 10*time.Minute
	}
	prompt, err := in.Read(a.signals.ctx)
	if err != nil {
		return err
	}
	text, warnings := mask(session.Settings{}, "the message", prompt.Text, prompt.Warnings)
	for _, w := range warnings {
		a.say("warning: %s", w)
	}
	letter, err := inbox.Send(text)
	if err != nil {
		return err
	}
	sum, err := store.Summary(id)
	running := err == nil && sum.Owner != nil
	if running {
		a.say("queued for session %s: it is taken up before the next step", id)
	} else {
		a.say("queued for session %s: no one runs it; `kagent resume %s` takes it up", id, id)
	}
	if a.format == "json" {
		a.out.json(struct {
			SessionID string `json:"sessionId"`
			Message   string `json:"message"`
			Running   bool   `json:"running"`
		}{id, letter, running})
	}
	return nil
}
