package cmd

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// A service that does not say what it counted costs nobody knows what: the price
// is null, and a limit of the cost or of the tokens holds the session after the
// first such reply instead of never.
func TestALimitIsKeptWhereTheServiceDoesNotCount(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "test-key")
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c%d","type":"function","function":{"name":"list_dir","arguments":"{\"path\":\".\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`, asked.Add(1))
	}))
	defer s.Close()
	lifted := map[string]string{"--max-cost=5": "--max-cost 0", "--max-total-tokens=100000": "--max-total-tokens 0"}
	for flag, reason := range map[string]string{"--max-cost=5": "max_cost", "--max-total-tokens=100000": "max_tokens"} {
		asked.Store(0)
		dir := t.TempDir()
		c, out := kagentIn(t, dir, "run", "-q", "-s", "s", "-o", "json", "-m", "openai/gpt-5-mini", "--base-url", s.URL, "--max-steps", "5", flag, "--stdin", "none", "go")
		c.Run()
		for _, want := range []string{`"reason":"` + reason + `"`, `"costUSD":null`, "does not say", "resume s " + lifted[flag]} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %s in %s", flag, want, out)
			}
		}
		if c.ProcessState.ExitCode() != 6 || asked.Load() != 1 {
			t.Errorf("%s: exit %d after %d requests", flag, c.ProcessState.ExitCode(), asked.Load())
		}
		c, out = kagentIn(t, dir, append([]string{"resume", "-q", "s"}, strings.Fields(lifted[flag])...)...)
		if c.Run(); asked.Load() != 5 || !strings.Contains(out.String(), "paused: max_steps") {
			t.Errorf("%s: lifted: %d requests: %s", flag, asked.Load(), out)
		}
	}
}
