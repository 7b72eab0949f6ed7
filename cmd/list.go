package cmd

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
)

type listOptions struct {
	status string
	since  string
	limit  int
	ids    bool
}

func (a *app) listCommand() *cobra.Command {
	var o listOptions
	c := &cobra.Command{
		Use:     "list",
		Short:   "list sessions, the last changed first",
		Example: "  kagent list\n  kagent list --status interrupted --since 36h -q\n  kagent list -o json | jq '.[].sessionId'",
		Args:    usageArgs(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return a.list(c, &o) },
	}
	f := c.Flags()
	f.StringVar(&o.status, "status", "", "only sessions of that status")
	f.StringVar(&o.since, "since", "", "only sessions that changed since then: 36h ago, or 2026-12-01")
	f.IntVar(&o.limit, "limit", 0, "at most so many, 0 for all")
	f.BoolVarP(&o.ids, "ids", "q", false, "ids only")
	return c
}

func (a *app) list(c *cobra.Command, o *listOptions) error {
	if err := a.configureDir(c); err != nil {
		return err
	}
	if err := a.readFormat(c); err != nil {
		return err
	}
	if err := checkStatus(o.status); err != nil {
		return err
	}
	if err := notNegative("limit", o.limit); err != nil {
		return err
	}
	a.checkDir()
	list, err := a.store().List()
	if err != nil {
		return err
	}
	list = withStatus(list, o.status)
	if o.since != "" {
		from, err := moment("since", o.since, time.Now())
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(s checkpoint.Summary) bool { return s.UpdatedAt.Before(from) })
	}
	if o.limit > 0 && len(list) > o.limit {
		list = list[:o.limit]
	}
	switch {
	case a.format == "json":
		jsonList(a.out, list)
	case o.ids:
		for _, s := range list {
			a.out.text(s.SessionID)
		}
	default:
		a.table(list)
	}
	return nil
}

func (a *app) table(list []checkpoint.Summary) {
	if len(list) == 0 {
		a.say("no sessions in %s", a.dir)
		return
	}
	w := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tSTATUS\tOWNER\tCHANGED\tAGE\tSTEPS\tSIZE\tTASK")
	now := time.Now()
	for _, s := range list {
		status := standing(s.Status, s.Reason)
		changed, since, owner := "-", "-", "-"
		if !s.UpdatedAt.IsZero() {
			changed, since = s.UpdatedAt.Local().Format(time.DateTime), age(now.Sub(s.UpdatedAt))
		}
		if s.Owner != nil {
			owner = fmt.Sprintf("%d@%s", s.Owner.PID, oneLine(s.Owner.Host, 32))
		}
		task := oneLine(s.Input, 60)
		if s.Error != "" {
			task = oneLine(s.Error, 200)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", s.SessionID, status, owner, changed, since, s.Iterations, size(s.SizeBytes), task)
	}
	w.Flush()
}

// age is how long ago something was, in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// size shows bytes in units of 1024.
func size(n int64) string {
	units := strings.Fields("B K M G T")
	f := float64(n)
	for len(units) > 1 && f >= 1024 {
		f, units = f/1024, units[1:]
	}
	if units[0] == "B" || f >= 10 {
		return fmt.Sprintf("%.0f%s", f, units[0])
	}
	return fmt.Sprintf("%.1f%s", f, units[0])
}

func plural(n int64, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
