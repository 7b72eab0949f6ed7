package cmd

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

type showOptions struct {
	last, events, messages bool
}

func (a *app) showCommand() *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:               "show ID|PREFIX",
		Short:             "show a session",
		Example:           "  kagent show nightly\n  kagent show --last --events | jq .type\n  kagent show nightly -o json | jq .usage",
		ValidArgsFunction: a.completeFirstID,
		RunE:              func(c *cobra.Command, args []string) error { return a.show(c, &o, args) },
	}
	f := c.Flags()
	f.BoolVar(&o.last, "last", false, "the session that changed last")
	f.BoolVar(&o.events, "events", false, "the events of the log, a JSON object a line")
	f.BoolVar(&o.messages, "messages", false, "what the model would be sent, as JSON")
	return c
}

func (a *app) show(c *cobra.Command, o *showOptions, args []string) error {
	if _, err := a.configure(c, onlyDir); err != nil {
		return err
	}
	if err := a.checkFormat("text", "json"); err != nil {
		return err
	}
	store := a.store()
	id, rest, err := a.pick(store, o.last, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usageErrorf("see `kagent show --help`", "show takes one session")
	}
	var visit func(session.Event)
	if o.events {
		visit = func(e session.Event) { a.out.json(e) }
	}
	v, err := store.Read(id, visit)
	switch {
	case err != nil:
		return err
	case o.events:
	case o.messages:
		msgs := v.State.Main().Messages()
		if msgs == nil {
			msgs = []message.Message{}
		}
		a.out.json(map[string]any{"system": v.State.Settings.System, "messages": msgs, "tools": v.State.Settings.Tools})
	case a.format == "json":
		b, err := v.Image()
		if err != nil {
			return err
		}
		a.out.Write(b)
	default:
		a.out.text(transcript(v))
	}
	return nil
}

// transcript is a session for people.
func transcript(v checkpoint.View) string {
	var b bytes.Buffer
	s := v.State
	status, reason := v.Status()
	fmt.Fprintf(&b, "session  %s\nagent    %s, %s\nstatus   %s", s.ID, s.Settings.Agent, oneLine(s.Settings.Model, 100), status)
	if reason != "" {
		fmt.Fprintf(&b, ": %s", reason)
	}
	if v.Owner != nil {
		fmt.Fprintf(&b, ", run by %s", v.Owner)
	}
	fmt.Fprintf(&b, "\ncreated  %s\nchanged  %s\nsteps    %d, %d tool calls, %d tokens\n", s.Created.Local().Format(time.DateTime),
		s.Updated.Local().Format(time.DateTime), s.Iterations, s.ToolCalls, s.Usage.Total)
	if e := s.Main().Turn.Error; e != nil {
		fmt.Fprintf(&b, "error    %s\n", oneLine(e.Message, 500))
	}
	for _, e := range s.Main().Entries {
		if e.User != nil {
			fmt.Fprintf(&b, "\n--- %s\n%s\n", e.User.Source, visible(e.User.Text))
			continue
		}
		showReply(&b, e.Reply)
	}
	if p := s.Main().Partial; p != "" {
		fmt.Fprintf(&b, "\n--- assistant, cut off\n%s\n", visible(p))
	}
	return b.String()
}

func showReply(b *bytes.Buffer, r *session.Reply) {
	fmt.Fprintf(b, "\n--- assistant\n")
	if text := strings.TrimSpace(r.Text()); text != "" {
		fmt.Fprintf(b, "%s\n", visible(text))
	}
	for _, c := range r.Calls {
		fmt.Fprintf(b, "\n--- call %s: %s %s\n", c.ID, oneLine(c.Wire.Name, 64), oneLine(c.Wire.Arguments, 300))
		switch {
		case c.Result != nil:
			fmt.Fprintf(b, "%s: %s\n", c.Result.Outcome, visible(strings.TrimSpace(c.Result.Text)))
		case c.InDoubt():
			fmt.Fprintf(b, "begun, outcome unknown\n")
		default:
			fmt.Fprintf(b, "not begun\n")
		}
	}
}
