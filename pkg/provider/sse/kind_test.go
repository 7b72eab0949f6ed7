package sse

import (
	"fmt"
	"testing"

	"kagent/pkg/provider"
)

// said is the body of an error.
func said(message, kind, code string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%q}}`, message, kind, code)
}

type kinds []struct {
	status int
	body   string
	want   provider.Kind
}

func (all kinds) check(t *testing.T) {
	t.Helper()
	for _, c := range all {
		if got := ParseFailure([]byte(c.body)).Kind(c.status); got != c.want {
			t.Errorf("%d %s: %s, want %s", c.status, c.body, got, c.want)
		}
	}
}

// Money that is spent does not come back with time, whatever status tells of it.
func TestWhatIsSpentIsNoRateLimit(t *testing.T) {
	litellm := said("Budget has been exceeded! Current cost: 1.25, Max budget: 1.0", "budget_exceeded", "400")
	for _, status := range []int{0, 400, 403, 429} {
		kinds{
			{status, litellm, provider.Quota},
			{status, said("ExceededBudget: User=u over budget. Spend=2, Budget=1", "", ""), provider.Quota},
			{status, said("no", "billing", ""), provider.Quota},
			{status, said("You have reached your monthly spend limit.", "rate_limit_error", ""), provider.Quota},
			{status, said("Your project has exceeded its monthly spending cap.", "", "RESOURCE_EXHAUSTED"), provider.Quota},
			{status, said("Your credit balance is too low to access the API.", "", ""), provider.Quota},
			{status, said("Insufficient funds", "", ""), provider.Quota},
			{status, said("Insufficient account balance", "", ""), provider.Quota},
			{status, said("Usage limit reached for this billing period", "", ""), provider.Quota},
			{status, said("Your account is suspended, please check your plan and billing details", "exceeded_current_quota_error", ""), provider.Quota},
			{status, said("Key limit exceeded (monthly limit)", "", ""), provider.Quota},
			{status, said("Access denied, please make sure your account is in good standing.", "Arrearage", "Arrearage"), provider.Quota},
			{status, said("账户余额不足，请充值", "", "1113"), provider.Quota},
		}.check(t)
	}
}

// A limit of a minute is told in words of quotas too.
func TestALimitOfAMinuteIsNoQuota(t *testing.T) {
	kinds{
		{429, said("Quota exceeded for quota metric 'Generate requests per minute'. You exceeded your current quota, please check your plan and billing details.", "", "RESOURCE_EXHAUSTED"), provider.RateLimit},
		{429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","details":[{"retryDelay":"34s"}]}}`, provider.RateLimit},
		{429, said("Resource has been exhausted (e.g. check quota).", "", "RESOURCE_EXHAUSTED"), provider.RateLimit},
		{429, said("Usage limit reached: 60 requests per minute", "", ""), provider.RateLimit},
		{429, said("Rate limit reached on tokens per min (TPM). See your billing at https://host/settings/billing", "tokens", "rate_limit_exceeded"), provider.RateLimit},
		{429, said("Token budget of this minute: slow down; see the plan and billing", "", ""), provider.RateLimit},
		{429, said("Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day", "", ""), provider.RateLimit},
		{400, said("thinking.budget_tokens: must be less than max_tokens; the thinking budget exceeded it", "invalid_request_error", ""), provider.InvalidRequest},
	}.check(t)
}
