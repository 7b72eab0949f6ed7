package provider

import (
	"slices"
	"time"
)

// failure is how a model of a chain failed, and when.
type failure struct {
	*Error
	at time.Time
}

type failures []failure

// together is the failure that decides how the turn ends, which tells of the
// others too. It is the one whose exit code comes first where several fit, of
// equals the first: that model was wanted most. So a chain of which one model is
// only busy can be gone on with later, whatever the others say.
func (all failures) together() error {
	chief := slices.MinFunc(all, func(a, b failure) int { return a.rank() - b.rank() })
	e := *chief.Error
	for _, other := range all {
		if other.Error != chief.Error {
			e.Others = append(e.Others, other.Error)
		}
	}
	if e.Kind.Retryable() {
		e.RetryAfter = all.soonest()
	}
	return &e
}

// soonest is how long it takes until one of the models may be asked again, 0
// where one may be at once: what passes and names no wait may have passed by then.
// Who has failed for good is not waited for.
func (all failures) soonest() time.Duration {
	soonest := time.Duration(-1)
	for _, f := range all {
		if !f.Kind.Retryable() {
			continue
		}
		left := max(f.RetryAfter-time.Since(f.at), 0)
		if soonest < 0 || left < soonest {
			soonest = left
		}
	}
	return max(soonest, 0)
}

// rank orders failures as their exit codes are where several fit. What ends the
// session whoever has asked comes first, and a caller who gave up.
func (e *Error) rank() int {
	if e.Final {
		return -1
	}
	return slices.Index([]int{8, 6, 75, 1}, e.Kind.Means().Exit)
}
