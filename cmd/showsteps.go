package cmd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kagent/pkg/checkpoint"
	"kagent/pkg/session"
)

// showSteps prints what was done.
func (a *app) showSteps(store *checkpoint.Store, id string) error {
	var steps session.Steps
	if a.format == "text" {
		steps.Brief = 300 // enough for a line
	}
	if err := store.Events(a.signals.ctx, id, false, steps.See); err != nil {
		return err
	}
	sum, err := store.Summary(id)
	if err != nil {
		return err
	}
	if sum.Owner == nil {
		steps.Abandon(sum.UpdatedAt)
	}
	if a.format == "json" {
		jsonList(a.out, steps.All())
		return nil
	}
	for _, s := range steps.All() {
		a.out.text(stepLine(s))
	}
	return nil
}

// stepLine is a step on one line.
func stepLine(s *session.Step) string {
	at, took := "-", "-"
	if s.StartedAt != nil {
		at = s.StartedAt.Local().Format(time.TimeOnly)
	}
	if s.EndedAt != nil && s.StartedAt != nil {
		took = span(s.Took())
	}
	parts := []string{fmt.Sprintf("%-8s  %8s  %-8s  %-9s ", at, took, s.Type, s.Status)}
	if s.Scope != "" {
		parts = append(parts, "["+oneLine(s.Scope, 60)+"]")
	}
	switch s.Type {
	case session.StepTool:
		parts = append(parts, oneLine(s.Tool, 64), inputText(s.Input))
	case session.StepLLM:
		parts = append(parts, oneLine(s.Model, 64))
	}
	if s.Usage != nil {
		parts = append(parts, fmt.Sprintf("%d tokens", s.Usage.Total))
	}
	switch {
	case s.Status == session.StepFailed && s.Error != nil:
		parts = append(parts, oneLine(s.Error.Message, 120))
	case s.Type != session.StepTool && s.Output != nil:
		parts = append(parts, oneLine(*s.Output, 80))
	case s.Outcome != "" && s.Outcome != session.OutcomeOK:
		parts = append(parts, string(s.Outcome))
	}
	return strings.TrimRight(strings.Join(parts, " "), " ")
}

func inputText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return oneLine(text, 80)
}

// showStats prints how turns ended, and what it all took.
func (a *app) showStats(store *checkpoint.Store, id string) error {
	tally := session.NewTally()
	if err := store.Events(a.signals.ctx, id, false, tally.See); err != nil {
		return err
	}
	sum, err := store.Summary(id)
	if err != nil {
		return err
	}
	stats := tally.Stats(sum.Owner != nil)
	if a.format == "json" {
		a.out.json(struct {
			SessionID string `json:"sessionId"`
			session.Stats
		}{id, stats})
		return nil
	}
	for _, line := range statsLines(stats) {
		a.out.text(line)
	}
	return nil
}

func statsLines(s session.Stats) []string {
	var lines []string
	add := func(name, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%-8s  %s", name, fmt.Sprintf(format, args...)))
	}
	add("turns", "%s", counts(s.TurnEnds, "none ended"))
	add("tokens", "%d: %d in (%d from caches), %d out (%d reasoning)", s.Usage.Total, s.Usage.Input, s.Usage.CacheRead, s.Usage.Output, s.Usage.Reasoning)
	if s.CostUSD != nil {
		add("cost", "$%.4f", *s.CostUSD)
	} else {
		add("cost", "not known")
	}
	model := effort(s.LLM)
	if s.Retries > 0 {
		model += fmt.Sprintf(", %d retries", s.Retries)
	}
	add("model", "%s", model)
	for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
		add("tool", "%s: %s", oneLine(name, 64), effort(s.Tools[name]))
	}
	if len(s.Children) > 0 {
		add("children", "%s", counts(s.Children, ""))
	}
	return lines
}

func counts(of map[string]int, none string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d %s", of[name], oneLine(name, 60)))
	}
	if parts == nil {
		return none
	}
	return strings.Join(parts, ", ")
}

func effort(e session.Effort) string {
	ms := func(n int64) string { return span(time.Duration(n) * time.Millisecond) }
	text := plural(int64(e.Count), "call")
	if e.Failed > 0 {
		text += fmt.Sprintf(", %d failed", e.Failed)
	}
	if e.Count > 0 {
		text += fmt.Sprintf(", %s in all, %s on average, %s the longest", ms(e.TotalMs), ms(e.TotalMs/int64(e.Count)), ms(e.MaxMs))
	}
	return text
}
