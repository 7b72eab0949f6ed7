package session

import (
	"fmt"
	"time"
)

// Limits bound what may be spent; 0 means no limit. All but MaxSteps hold for
// the session with all its children, from its beginning, however often it is
// resumed.
type Limits struct {
	MaxSteps       int       `json:"maxSteps"` // model calls per turn and per scope
	MaxTotalSteps  int       `json:"maxTotalSteps,omitempty"`
	MaxTotalTokens int64     `json:"maxTotalTokens,omitempty"`
	MaxCost        float64   `json:"maxCostUSD,omitempty"`
	MaxActive      Duration  `json:"maxActive,omitempty"` // time in which a process worked on it
	Until          time.Time `json:"until,omitzero"`
}

// StepsLeft reports whether another model call fits into turn t.
func (l Limits) StepsLeft(t Turn) bool { return l.MaxSteps <= 0 || t.Steps < l.MaxSteps }

// Spending is what model calls that run are going to use, as far as that is
// known: it counts as spent until the log says what it came to.
type Spending struct {
	Steps  int
	Tokens int64
	Cost   float64 // in US dollars
}

// Add returns the sum of both.
func (a Spending) Add(b Spending) Spending {
	return Spending{a.Steps + b.Steps, a.Tokens + b.Tokens, a.Cost + b.Cost}
}

// Less returns what is left of a without b.
func (a Spending) Less(b Spending) Spending {
	return Spending{a.Steps - b.Steps, a.Tokens - b.Tokens, a.Cost - b.Cost}
}

// Exhausted tells which of the session's limits leaves no room for another
// model call, and in words; "" if there is room.
func (s *State) Exhausted(flying Spending) (Reason, string) {
	l := s.Settings.Limits
	now := Spending{s.Iterations, s.Usage.Total, s.Spent}.Add(flying)
	switch {
	case l.MaxTotalSteps > 0 && now.Steps >= l.MaxTotalSteps:
		return ReasonMaxSteps, fmt.Sprintf("the limit of %d model calls for the session is reached; --max-total-steps raises it", l.MaxTotalSteps)
	case l.MaxTotalTokens > 0 && s.Unmetered > 0:
		return ReasonMaxTokens, fmt.Sprintf("the limit of %d tokens for the session can't be kept: the service does not say how many %d of its replies took; --max-total-tokens 0 lifts it, --max-total-steps is another limit", l.MaxTotalTokens, s.Unmetered)
	case l.MaxTotalTokens > 0 && now.Tokens >= l.MaxTotalTokens:
		return ReasonMaxTokens, fmt.Sprintf("the limit of %d tokens for the session is reached: %d are spent; --max-total-tokens raises it", l.MaxTotalTokens, s.Usage.Total)
	case l.MaxCost > 0 && s.Unpriced > 0:
		return ReasonMaxCost, fmt.Sprintf("the limit of $%g for the session can't be kept: the service does not say what it counted, so that nobody knows what %d of its replies cost; --max-cost 0 lifts it, --max-total-steps is another limit", l.MaxCost, s.Unpriced)
	case l.MaxCost > 0 && now.Cost >= l.MaxCost:
		return ReasonMaxCost, fmt.Sprintf("the limit of $%g for the session is reached: $%.4f are spent; --max-cost raises it", l.MaxCost, s.Spent)
	}
	return "", ""
}

// ExhaustedBy is Exhausted as it will be once b, too, is written down.
func (s *State) ExhaustedBy(b Billed, flying Spending) (Reason, string) {
	then := *s // what bill changes is no reference
	then.bill(b)
	return then.Exhausted(flying)
}

// Overdue says in words that the session's time is over, by the limit that ends it
// first. Nothing may have been written down since a while before.
func (s *State) Overdue() string {
	l := s.Settings.Limits
	spent := s.Updated.Add(time.Duration(l.MaxActive) - s.Active)
	if !l.Until.IsZero() && (l.MaxActive == 0 || !l.Until.After(spent)) {
		return "the deadline " + l.Until.Format(time.RFC3339) + " is reached; --deadline moves it"
	}
	return "the limit of " + time.Duration(l.MaxActive).String() + " of work for the session is reached; --deadline raises it"
}

// TimeLeft is how much longer the session may be worked on; limited is false
// where that is as long as it takes.
func (s *State) TimeLeft(now time.Time) (left time.Duration, limited bool) {
	l := s.Settings.Limits
	if l.MaxActive > 0 {
		left, limited = time.Duration(l.MaxActive)-s.Active, true
	}
	if !l.Until.IsZero() {
		if until := l.Until.Sub(now); !limited || until < left {
			left, limited = until, true
		}
	}
	return left, limited
}

// work counts the time between two events of one process while a turn is open.
// What a process did after its last event before it died is not known.
func (s *State) work(e Event) {
	if open := s.Main().Turn.Open; open && e.Epoch == s.Epoch && e.Time.After(s.Updated) {
		s.Active += e.Time.Sub(s.Updated)
	}
}
