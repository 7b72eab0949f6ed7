package session

import "strings"

// measured relates characters that were sent to the tokens that a service
// counted; what was sent last weighs most.
type measured struct{ chars, tokens int64 }

// charsPerToken stands for what is not known yet: English has four, code three,
// Chinese one and a half.
const charsPerToken = 3.0

// measure takes in what a reply tells of the request before it.
func (s *State) measure(sc *Scope, d *AssistantMessage) {
	if sc.sent > 0 && d.Usage.Input > 0 && s.mine(d.Model) {
		s.measured = measured{s.measured.chars/2 + int64(sc.sent), s.measured.tokens/2 + d.Usage.Input}
	}
	sc.sent, sc.Refused, sc.Refusal = 0, 0, nil
}

// mine reports whether a model is the session's, or of its chain.
func (s *State) mine(model string) bool {
	for name := range strings.SplitSeq(s.Settings.Model, ",") {
		if strings.TrimSpace(name) == model {
			return true
		}
	}
	return false
}

// CharsPerToken is how long the tokens of this session are, as far as is known.
func (s *State) CharsPerToken() float64 {
	if s.measured.tokens <= 0 {
		return charsPerToken
	}
	return min(max(float64(s.measured.chars)/float64(s.measured.tokens), 0.25), 10)
}

// windowShare is what a request may take of a window: the reply needs room in
// it, and an estimate is one.
const windowShare = 0.8

// ContextBudget is how many characters a request may have, 0 for any number:
// what the settings say, else what fits into a window of so many tokens.
func (s *State) ContextBudget(window int) int {
	if s.Settings.ContextChars > 0 || window <= 0 {
		return s.Settings.ContextChars
	}
	return int(float64(window) * windowShare * s.CharsPerToken())
}

// Summing counts what came of the summaries that were asked for in the current
// turn.
type Summing struct {
	Done   int
	Failed int
	Long   int      // questions that were too long for the service; they are no failures
	Why    *Failure // of the last one that was of no use
}

// Kinds of failure that a summary may have beside those of a provider.
const (
	FailureEmpty      = "empty"
	FailureTooLong    = "longer"     // than what it was to replace
	FailureSuperseded = "superseded" // the conversation went on before it was there
)

// compactFailed notes why a summary was of no use.
func (s *State) compactFailed(sc *Scope, d *CompactFailed) {
	kind := ""
	if sc.Summing.Why = d.Error; d.Error != nil {
		kind = d.Error.Kind
	}
	switch kind {
	case FailureSuperseded:
	case string(ReasonContextLength):
		sc.Summing.Long++
		if child := s.scopes[d.From]; child != nil && child.Asked > 0 {
			sc.Refused = min(sc.Refused, child.Asked) // it tells more of what is too long
		}
	default:
		sc.Summing.Failed++
	}
	s.summarised(sc, d.From)
}

// retry notes that a request failed and another follows.
func (sc *Scope) retry(d *RequestRetried) {
	if d.GivenUp { // what it said is shown, and whoever goes on tries again
		return
	}
	sc.Tries++
	if d.Error == nil || d.Error.Kind != string(ReasonContextLength) {
		sc.partial = nil
		return
	}
	// What it said before the context was full is shown, unless a shorter request
	// follows: its step makes it void.
	sc.Refused, sc.Refusal = max(sc.sent, 1), d.Error
}
