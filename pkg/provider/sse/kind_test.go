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

// A model that is not there is not found, so that a chain goes on to the next,
// though many services call it a bad request.
func TestAModelThatIsNotThereIsNotFound(t *testing.T) {
	for _, status := range []int{0, 400, 404, 422} {
		kinds{
			{status, said("Model Not Exist", "invalid_request_error", "invalid_request_error"), provider.NotFound},
			{status, said("x/y is not a valid model ID", "", ""), provider.NotFound},
			{status, said("invalid model ID", "invalid_request_error", ""), provider.NotFound},
			{status, `{"object":"error","message":"Invalid model: foo","type":"invalid_model","param":null,"code":"1500"}`, provider.NotFound},
			{status, `{"error":{"message":"Invalid model 'foo'. Permitted models can be found in the documentation","type":"invalid_model","code":400}}`, provider.NotFound},
			{status, said("The model `llama` has been decommissioned and is no longer supported.", "invalid_request_error", "model_decommissioned"), provider.NotFound},
			{status, said("The model `llama` has been deprecated.", "invalid_request_error", ""), provider.NotFound},
			{status, said("/chat/completions: Invalid model name passed in model=foo. Call `/v1/models` to view available models for your key.", "None", ""), provider.NotFound},
			{status, `{"error":{"code":"unknown_model","message":"Unknown model: foo","details":"Unknown model: foo"}}`, provider.NotFound},
			{status, said("Unknown Model, please check the model code.", "", "1211"), provider.NotFound},
			{status, said("模型不存在，请检查模型代码。", "", "1211"), provider.NotFound},
			{status, said("The requested model 'x' does not exist.", "invalid_request_error", "model_not_found"), provider.NotFound},
			{status, `{"code":"invalid-argument","error":"Model not found: firefunction-v2"}`, provider.NotFound},
			{status, said("The model firefunction-v2 does not exist", "", ""), provider.NotFound},
			{status, `{"message":"The provided model identifier is invalid."}`, provider.NotFound},
			{status, said("* GenerateContentRequest.model: unexpected model name format", "", "INVALID_ARGUMENT"), provider.NotFound},
		}.check(t)
	}
	kinds{
		{410, `{"status":410,"title":"Gone","detail":"The model 'x' has reached its end of life and is no longer available."}`, provider.NotFound},
		{410, said("x is retired", "", ""), provider.NotFound},
	}.check(t)
}

// What a model has or does may be missing too: another model would be asked in vain.
func TestWhatAModelLacksIsNotTheModel(t *testing.T) {
	for _, message := range []string{
		"the model called the tool 'find' which does not exist",
		"Model produced a call, and its function was not found",
		"invalid model parameter 'top_k'",
		"Unknown model option: num_ctxx",
		"invalid_model_parameter",
		"invalid model output",
		"The model's field `x` does not exist",
		"for this model the parameter `temperature` is deprecated",
		"`temperature` is deprecated for this model.",
		"the model x does not support tools",
		"modelling: the thing does not exist",
		"a file for the model: image not found",
	} {
		kinds{
			{400, said(message, "invalid_request_error", ""), provider.InvalidRequest},
			{0, said(message, "invalid_request_error", ""), provider.InvalidRequest},
		}.check(t)
	}
}
