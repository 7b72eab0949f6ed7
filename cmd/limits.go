package cmd

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"kagent/pkg/message"
	"kagent/pkg/provider/catalogue"
	"kagent/pkg/session"
)

// limitFlags bound a session with all its children, resumes included.
type limitFlags struct {
	steps    int
	tokens   int64
	cost     float64
	deadline string
}

func (l *limitFlags) addTo(f *pflag.FlagSet) {
	f.IntVar(&l.steps, "max-total-steps", 0, "model calls of the whole session with its children, 0 for no limit")
	f.Int64Var(&l.tokens, "max-total-tokens", 0, "tokens of the whole session, 0 for no limit")
	f.Float64Var(&l.cost, "max-cost", 0, "US dollars for the whole session, 0 for no limit; the model's price must be known")
	f.StringVar(&l.deadline, "deadline", "", "end of the whole session: so much time of work (90m), or a moment (2026-12-01T06:00Z); none lifts it")
}

func (l *limitFlags) apply(out *session.Limits, use func(string) bool) error {
	for name, n := range map[string]float64{"max-total-steps": float64(l.steps), "max-total-tokens": float64(l.tokens), "max-cost": l.cost} {
		if use(name) && (n < 0 || math.IsNaN(n) || math.IsInf(n, 0)) {
			return usageErrorf("want 0 or more", "--%s %g is no limit", name, n)
		}
	}
	if use("max-total-steps") {
		out.MaxTotalSteps = l.steps
	}
	if use("max-total-tokens") {
		out.MaxTotalTokens = l.tokens
	}
	if use("max-cost") {
		out.MaxCost = l.cost
	}
	if use("deadline") {
		return l.applyDeadline(out, time.Now())
	}
	return nil
}

// applyDeadline reads an amount of work, or a moment to come.
func (l *limitFlags) applyDeadline(out *session.Limits, now time.Time) error {
	out.MaxActive, out.Until = 0, time.Time{}
	if l.deadline == "" || l.deadline == "none" || l.deadline == "0" {
		return nil
	}
	if d, err := time.ParseDuration(l.deadline); err == nil {
		return positive("deadline", d, &out.MaxActive)
	}
	at, ok := parseMoment(l.deadline, now.Location())
	switch {
	case !ok:
		return usageErrorf("want for example 90m, 2026-12-01T06:00Z or none", "--deadline %q is no time", l.deadline)
	case !at.After(now):
		return usageErrorf("name a moment to come", "--deadline %s is over", l.deadline)
	}
	out.Until = at.UTC()
	return nil
}

// checkPrices refuses a limit of the cost where nobody knows what is spent.
func checkPrices(s session.Settings, state *session.State) error {
	if s.Limits.MaxCost <= 0 {
		return nil
	}
	known, err := loadCatalogue()
	if err != nil {
		return err
	}
	for _, model := range modelsOf(s) {
		if field := known.Lacks(model); field != "" {
			return usageErrorf("give it there (0 if nothing is paid), or use --max-total-tokens", "--max-cost: the price of %s is not known: models.yaml gives no %s for it", model, field)
		}
		if cost(known, model, message.Usage{Input: 1}) == nil {
			return usageErrorf("set its price in models.yaml (`kagent help models`), or use --max-total-tokens", "--max-cost: the price of %s is not known", model)
		}
	}
	if state != nil && state.Unpriced > 0 {
		return usageErrorf("use --max-total-tokens", "--max-cost: nobody knows what %s of session %s did cost", plural(int64(state.Unpriced), "model call"), state.ID)
	}
	return nil
}

// cost is what a reply did cost, nil if nobody knows, as where the service does
// not say what it counted. What is played costs nothing.
func cost(known *catalogue.Catalogue, model string, u message.Usage) *float64 {
	if free := 0.0; model == "demo" || strings.HasPrefix(model, "script:") {
		return &free
	}
	if u == (message.Usage{}) {
		return nil
	}
	return known.Cost(model, u)
}

// modelsOf lists all models that a session may ask.
func modelsOf(s session.Settings) []string {
	models := chainOf(s.Model)
	for _, p := range s.Profiles {
		if p.Model != "" {
			models = append(models, chainOf(p.Model)...)
		}
	}
	return models
}

// raised is the flag that gets a session past what it has reached: a limit twice
// as high, or none where it can't be kept.
func raised(s *session.State, reason session.Reason) string {
	l := s.Settings.Limits
	switch {
	case reason == session.ReasonMaxSteps && l.MaxTotalSteps > 0 && s.Iterations >= l.MaxTotalSteps:
		return fmt.Sprintf(" --max-total-steps %d", 2*s.Iterations)
	case reason == session.ReasonMaxSteps:
		return fmt.Sprintf(" --max-steps %d", 2*l.MaxSteps)
	case reason == session.ReasonMaxTokens && s.Unmetered > 0:
		return " --max-total-tokens 0"
	case reason == session.ReasonMaxTokens:
		return fmt.Sprintf(" --max-total-tokens %d", 2*max(l.MaxTotalTokens, s.Usage.Total))
	case reason == session.ReasonMaxCost && s.Unpriced > 0:
		return " --max-cost 0"
	case reason == session.ReasonMaxCost:
		return fmt.Sprintf(" --max-cost %g", math.Ceil(200*max(l.MaxCost, s.Spent))/100)
	case reason == session.ReasonDeadline && !l.Until.IsZero() && !s.Updated.Before(l.Until):
		return " --deadline none"
	case reason == session.ReasonDeadline:
		return " --deadline " + shortDuration(2*max(time.Duration(l.MaxActive), s.Active))
	case reason == session.ReasonContextLength: // all that can be left out was
		return " --model LARGER_MODEL"
	}
	return ""
}

// shortDuration writes 1h30m0s as 1h30m.
func shortDuration(d time.Duration) string {
	text := d.Round(time.Second).String()
	if d < time.Second {
		return d.String()
	}
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
