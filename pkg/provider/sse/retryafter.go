package sse

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longest bounds what a server may ask for; more would overflow somewhere.
const longest = 365 * 24 * time.Hour

// RetryAfter returns how long the server asks to wait, 0 if it doesn't say.
// It reads, in this order, retry-after-ms (milliseconds), Retry-After (seconds
// or an HTTP date, RFC 9110 section 10.2.3) and, for status 429 only, the
// larger of OpenAI's x-ratelimit-reset-requests and -tokens ("6m0s"),
// OpenRouter's x-ratelimit-reset (Unix time in milliseconds) or the latest of
// Anthropic's anthropic-ratelimit-*-reset (RFC 3339) of which nothing remains.
// Dates are compared with the server's own clock if it sent one, else with now.
func RetryAfter(status int, h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms * float64(time.Millisecond))
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if v := strings.TrimSpace(h.Get("Retry-After")); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			return bounded(s * float64(time.Second))
		}
		if date, err := http.ParseTime(v); err == nil {
			return bounded(float64(date.Sub(now)))
		}
	}
	if status != http.StatusTooManyRequests {
		return 0
	}
	if ms, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil && ms > 1e12 {
		return bounded(float64(time.UnixMilli(ms).Sub(now)))
	}
	if wait := spent(h, now); wait > 0 {
		return bounded(float64(wait))
	}
	requests, _ := time.ParseDuration(h.Get("X-Ratelimit-Reset-Requests"))
	tokens, _ := time.ParseDuration(h.Get("X-Ratelimit-Reset-Tokens"))
	return bounded(float64(max(requests, tokens)))
}

// spent returns how long it takes until each of Anthropic's limits that is used
// up is full again.
func spent(h http.Header, now time.Time) time.Duration {
	var wait time.Duration
	for _, limit := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		name := "Anthropic-Ratelimit-" + limit
		reset, err := time.Parse(time.RFC3339, h.Get(name+"-Reset"))
		if err == nil && h.Get(name+"-Remaining") == "0" {
			wait = max(wait, reset.Sub(now))
		}
	}
	return wait
}

// bounded turns nanoseconds into a duration between 0 and longest.
func bounded(ns float64) time.Duration {
	if math.IsNaN(ns) || ns <= 0 {
		return 0
	}
	return time.Duration(min(ns, float64(longest)))
}
