package provider

import "testing"

func TestEachKindHasOneMeaning(t *testing.T) {
	seen := map[Kind]bool{}
	for _, m := range Meanings() {
		if seen[m.Kind] || m.Kind.Means() != m {
			t.Errorf("%s has two meanings", m.Kind)
		}
		seen[m.Kind] = true
		if m.Retry != (m.Status == "interrupted") {
			t.Errorf("%s: what waiting helps against is interrupted, all else is not", m.Kind)
		}
		if m.Retry && !m.Elsewhere {
			t.Errorf("%s: another model may answer what this one may answer later", m.Kind)
		}
	}
	for _, k := range []Kind{
		Auth, Permission, Quota, RateLimit, Overloaded, ContextLength, InvalidRequest,
		NotFound, ContentFilter, Server, Network, Timeout, Cancelled, Internal,
	} {
		if !seen[k] {
			t.Errorf("%s has no meaning", k)
		}
	}
	if m := Kind("something new").Means(); m.Kind != Internal || m.Exit == 0 {
		t.Errorf("an unknown kind means %+v", m)
	}
}

// Quota spent is not a rate limit: waiting would only hide it.
func TestQuotaIsNoRateLimit(t *testing.T) {
	if Quota.Retryable() || Quota.Means().Elsewhere || !RateLimit.Retryable() || !RateLimit.Means().Elsewhere {
		t.Error("quota and rate limit are taken for each other")
	}
}
