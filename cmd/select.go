package cmd

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// moment reads a flag that names a time: a duration before now, a date, or a
// date and time.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, ok := parseMoment(text, now.Location()); ok {
		return t, nil
	}
	return time.Time{}, usageErrorf("want for example 36h, 7d, 2026-12-01 or 2026-12-01T06:00Z", "--%s %q is no time", flag, text)
}

// parseMoment reads a date, or a date and time.
func parseMoment(text string, local *time.Location) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	for _, layout := range []string{time.DateOnly, time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// checkStatus refuses a status that no session can have.
func checkStatus(status string) error {
	if status == "" {
		return nil
	}
	var known []string
	for _, s := range []session.Status{
		session.Active, session.Completed, session.Failed, session.Paused,
		session.Interrupted, session.Cancelled, checkpoint.Damaged,
	} {
		known = append(known, string(s))
	}
	return oneOf("status", status, known...)
}

// withStatus keeps the sessions of a status, all when it is empty.
func withStatus(list []checkpoint.Summary, status string) []checkpoint.Summary {
	return slices.DeleteFunc(list, func(s checkpoint.Summary) bool { return status != "" && string(s.Status) != status })
}

// completeID offers the ids of sessions, the last changed first.
func (a *app) completeID(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const asIs = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if _, err := a.configure(c, onlyDir); err != nil {
		return nil, asIs
	}
	list, err := a.store().List()
	if err != nil {
		return nil, asIs
	}
	var ids []string
	for _, s := range list {
		if !slices.Contains(args, s.SessionID) {
			ids = append(ids, s.SessionID+"\t"+string(s.Status)+" "+oneLine(s.Input, 40))
		}
	}
	return ids, asIs
}

// completeFirstID is completeID for commands that take one session.
func (a *app) completeFirstID(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeID(c, args, word)
}
