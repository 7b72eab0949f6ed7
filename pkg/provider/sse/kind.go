package sse

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kagent/pkg/provider"
)

// Services agree on statuses roughly and on words not at all; these were
// collected from recorded errors. Each is looked for in the code, type and
// message of an error, lower case.
var (
	tooLong = pattern(`context_length_exceeded|exceed_context_size|string_above_max_length|` +
		`maximum context length|context (length|size|window)|prompt is too long|input is too long|` +
		`request too large for|reduce the length of the messages|exceed context limit|exceeds the maximum number of tokens`)
	usedUp = pattern(`insufficient_quota|exceeded_current_quota|billing_(hard_limit_reached|not_active)|` +
		`exceeded your current quota|(insufficient|not enough|out of)[ _]((account |credit )?balance|credits?|funds)|` +
		`all available credits|doesn't have any credits|purchase (more )?credits|credit balance is too low|spend(ing)? (limit|cap)|` +
		`billing_error|extra usage is required|usage limit (is |has been )?(exceeded|reached)|specified (workspace )?api usage limits|` +
		`reached your (\w+ )?usage limit|prepayment credits|` +
		`budget_exceeded|exceeded_?budget|(over|exceeded (your|its)) budget|` +
		`budget (has been|is|was) exceeded|(spend|monthly|weekly|daily|api|key|team|user) budget exceeded|` +
		`key limit exceeded|arrearage|余额不足|欠费`)
	aMoment  = pattern(`per[ _-]?(minute|second)|requests/min|tokens/min|\b[tr]p[ms]\b`) // these are full again soon
	filtered = pattern(`content_filter|content_policy|responsibleaipolicy|data_inspection_failed|` +
		`content management policy|content filter(ing policy|ed)|moderation_blocked|` +
		`flagged as (potentially )?violating`)
	badKey = pattern(`invalid_api_key|incorrect_api_key|authentication_error|invalid_authentication|` +
		`(incorrect|invalid) api key|api key not valid|api key (is )?(missing|required)|api key expired|` +
		`api key was reported as leaked|callers without established identity`)
	busy    = pattern(`overloaded|capacity_exceeded|capacity exceeded|no_capacity|server busy`)
	tooMany = pattern(`rate[_ ]limit|too_many_requests|resource_exhausted`)
	refusal = pattern(`invalid_request|tool_use_failed|bad_?request|does not support`)
)

// Kind classifies; status is 0 for an error inside of a stream. Words decide
// where a status has several meanings.
func (f Failure) Kind(status int) provider.Kind {
	words := f.words + " " + strings.ToLower(f.Text)
	ours := status == 0 || status >= 400 && status < 500 // not the service's own failure
	quota := f.spent(words) && !(status == http.StatusTooManyRequests && (f.After > 0 || aMoment().MatchString(words)))
	switch {
	case status == http.StatusPaymentRequired:
		return provider.Quota
	case strings.Contains(f.words, "request_too_large"): // Anthropic: the bytes, not the tokens
		return provider.InvalidRequest
	case status == http.StatusRequestEntityTooLarge || status != 401 && tooLong().MatchString(words):
		return provider.ContextLength
	case ours && quota:
		return provider.Quota
	case ours && filtered().MatchString(words):
		return provider.ContentFilter
	case ours && status != http.StatusTooManyRequests && badKey().MatchString(words):
		return provider.Auth
	case (status == 0 || status == http.StatusBadRequest || status == http.StatusUnprocessableEntity) && modelless(words):
		return provider.NotFound
	}
	switch {
	case status == 0:
		return kindOfWords(words)
	case status == http.StatusForbidden && f.bare:
		return provider.Auth
	case status >= 500 && strings.Contains(f.words, "timeout_error"):
		return provider.Timeout
	}
	return kindOfStatus(status, words)
}

// spent reports whether what was paid for, or may be spent, is used up: a wait
// does not bring it back.
func (f Failure) spent(words string) bool {
	return slices.Contains(strings.Fields(f.words), "billing") || usedUp().MatchString(words)
}

func kindOfStatus(status int, words string) provider.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusProxyAuthRequired:
		return provider.Auth
	case http.StatusForbidden:
		return provider.Permission
	case http.StatusNotFound, http.StatusGone: // gone: a model that is retired
		return provider.NotFound
	case http.StatusRequestTimeout:
		return provider.Timeout
	case http.StatusConflict: // a lock that was not had in time: what was asked for is all right
		return provider.Server
	case http.StatusTooManyRequests:
		return provider.RateLimit
	case 498, http.StatusServiceUnavailable, 529: // 498: Groq, 529: Anthropic and others
		return provider.Overloaded
	}
	switch {
	case status >= 500 && busy().MatchString(words):
		return provider.Overloaded
	case status >= 500 || status < 400:
		return provider.Server
	}
	return provider.InvalidRequest
}

// advised heeds what OpenAI and Anthropic tell their SDKs: whether to ask again,
// where they know better than the status. once is that it is of no use. What the
// words say for certain (too long, used up, filtered) has its own way out.
func advised(k provider.Kind, h http.Header) (kind provider.Kind, once bool) {
	switch h.Get("X-Should-Retry") {
	case "true":
		switch k {
		case provider.InvalidRequest, provider.NotFound, provider.Auth, provider.Permission:
			return provider.Server, false
		}
	case "false":
		return k, true
	}
	return k, false
}

// kindOfWords classifies an error inside a stream, which has no status.
func kindOfWords(words string) provider.Kind {
	switch {
	case busy().MatchString(words):
		return provider.Overloaded
	case tooMany().MatchString(words):
		return provider.RateLimit
	case refusal().MatchString(words):
		return provider.InvalidRequest
	case strings.Contains(words, "permission_error"):
		return provider.Permission
	case strings.Contains(words, "not_found_error"):
		return provider.NotFound
	case strings.Contains(words, "timeout_error"):
		return provider.Timeout
	}
	return provider.Server
}

// pattern returns an expression that is compiled when it is first needed: a
// start that needs none pays for none.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
