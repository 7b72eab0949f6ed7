package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rules is a scenario of these rules, with all that is strict.
func rules(list ...map[string]any) map[string]any {
	all := make([]any, len(list))
	for i, r := range list {
		all[i] = r
	}
	return map[string]any{"rules_on": rulesOn(), "rules": all}
}

func when(key string, value any) map[string]any { return map[string]any{key: value} }

// An answer that is cut at the limit is gone on with and joined, a number of
// times; then the run is paused, and what there is can be had.
func TestAnAnswerCutAtTheLimitIsJoined(t *testing.T) {
	piece := func(text, finish string) map[string]any { return map[string]any{"text": text, "finish_reason": finish} }
	scenario := rules(
		map[string]any{"when": when("any_contains", "for ever"), "reply": piece("on ", "length")},
		map[string]any{"when": when("assistant_turns", 0), "reply": piece("The fi", "length")},
		map[string]any{"when": when("assistant_turns", 1), "reply": piece("rst and ", "length")},
		map[string]any{"reply": piece("the last.", "stop")},
	)
	each(t, scenario, func(t *testing.T, s *server, p protocol) {
		answers(t, s, p, nil, "hi", "The first and the last.\n")
		got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "-o", "json", "go on for ever"}, p.model(s, "m"))...)
		if got.code != 6 || !strings.Contains(got.out, `"status":"paused","reason":"max_output","answer":null,"partial":"on on on on `) {
			t.Errorf("exit %d: %s%s", got.code, got.out, got.stderr)
		}
	})
}

// A line of 8 MiB, and of 40 MiB where all is tried, behind a byte order mark.
func TestAnAnswerInOneGiantLine(t *testing.T) {
	mib := 8
	if full() {
		mib = 40
	}
	scenario := rules(map[string]any{
		"reply": map[string]any{"text": "0123456789abcde\n", "text_repeat": mib << 16},
		"wire":  map[string]any{"one_giant_line": true, "bom": true},
	})
	want := strings.Repeat("0123456789abcde\n", mib<<16)
	for _, p := range protocols() {
		t.Run(p.name, func(t *testing.T) {
			s := serve(t, scenario)
			got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "--tools", "none", "hi"}, p.model(s, "m"))...)
			if got.code != 0 || strings.TrimRight(got.out, "\n") != strings.TrimRight(want, "\n") {
				t.Errorf("exit %d, %d bytes of %d: %s", got.code, len(got.out), len(want), got.stderr)
			}
		})
	}
}

// Silence and slowness end a call, as far as the user allows (F082).
func TestTimeoutsOfEachProtocol(t *testing.T) {
	scenario := rules(
		map[string]any{"when": when("last_user_contains", "silent"), "reply": map[string]any{"text": "so far so good"}, "wire": map[string]any{"stall_after_events": 3, "piece_runes": 4}},
		map[string]any{"reply": map[string]any{"text": "tick tock ", "text_repeat": 300}, "wire": map[string]any{"piece_runes": 10, "delay_ms": 50}},
	)
	each(t, scenario, func(t *testing.T, s *server, p protocol) {
		for prompt, flag := range map[string][]string{"silent": {"--idle-timeout", "300ms"}, "slow": {"--step-timeout", "400ms"}} {
			got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "--retries", "0", prompt}, flag, p.model(s, "m"))...)
			if got.code != 75 || !strings.Contains(got.stderr, "interrupted: timeout: "+p.as+"/m: ") || got.out != "" {
				t.Errorf("%s: exit %d, %q: %s", prompt, got.code, got.out, got.stderr)
			}
		}
	})
}

// --effort, --temperature and --max-output are what the service is asked for.
func TestSamplingReachesTheService(t *testing.T) {
	each(t, builtIn(t, "hello"), func(t *testing.T, s *server, p protocol) {
		model := map[string]string{
			"chat": "gpt-5", "responses": "gpt-5", "anthropic": "claude-opus-4-5", "gemini": "gemini-2.5-pro", "ollama": "gpt-oss",
		}[p.name]
		got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "--effort", "high", "--temperature", "0.25", "--max-output", "5000", "hi"}, p.model(s, model))...)
		if got.code != 0 {
			t.Fatal(got.stderr)
		}
		body, err := json.Marshal(s.requests(t)[0].Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range map[string][]string{
			"chat":      {`"reasoning_effort":"high"`, `"temperature":0.25`, `"max_tokens":5000`},
			"responses": {`"effort":"high"`, `"temperature":0.25`, `"max_output_tokens":5000`},
			"anthropic": {`"thinking":{`, `"max_tokens":5000`}, // no temperature with thinking
			"gemini":    {`"thinkingBudget":`, `"temperature":0.25`, `"maxOutputTokens":5000`},
			"ollama":    {`"think":"high"`, `"temperature":0.25`, `"num_predict":5000`},
		}[p.name] {
			if !strings.Contains(string(body), want) {
				t.Errorf("%s is not in %.3000s", want, body)
			}
		}
	})
}

// Each kind of error of each service has its exit code, and is asked for again
// only where that helps (F089).
func TestErrorsOfEachProtocol(t *testing.T) {
	kinds := map[string]struct {
		code, asked int
		reason      string
	}{
		"auth": {8, 1, "auth"}, "permission": {8, 1, "permission"}, "not_found": {1, 1, "not_found"}, "bad_request": {1, 1, "invalid_request"},
		"quota": {8, 1, "quota"}, "rate_limit": {75, 2, "rate_limit"}, "overloaded": {75, 2, "overloaded"}, "server": {75, 2, "server"},
		"html502": {75, 2, "server"}, "html200": {75, 2, "server"}, "content_filter": {1, 1, "content_filter"},
	}
	var list []map[string]any
	for kind := range kinds {
		list = append(list, map[string]any{"name": kind, "when": when("last_user_contains", "kind:"+kind+";"), "error": map[string]any{"kind": kind}})
	}
	each(t, rules(list...), func(t *testing.T, s *server, p protocol) {
		for kind, want := range kinds {
			got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "-o", "json", "--retries", "1", "--retry-max-wait", "1s", "kind:" + kind + ";"}, p.model(s, "m"))...)
			asked := 0
			for _, r := range s.requests(t) {
				if r.Rule == kind {
					asked++
				}
			}
			if p.name == "gemini" && kind == "permission" {
				want.reason = "auth" // it says that there is no caller
			}
			if got.code != want.code || !strings.Contains(got.out, fmt.Sprintf(`"reason":%q`, want.reason)) || asked != want.asked {
				t.Errorf("%s: exit %d, asked %d times: %s%s", kind, got.code, asked, got.out, got.stderr)
			}
		}
	})
}
