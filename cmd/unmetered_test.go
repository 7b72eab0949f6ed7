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
	for flag, reason := range map[string]string{"--max-cost=5": "max_cost", "--max-total-tokens=100000": "max_tokens"} {
		asked.Store(0)
		c, out := kagentIn(t, t.TempDir(), "run", "-q", "-o", "json", "-m", "openai/gpt-5-mini", "--base-url", s.URL, "--max-steps", "5", flag, "--stdin", "none", "go")
		c.Run()
		for _, want := range []string{`"reason":"` + reason + `"`, `"costUSD":null`, "does not say"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %s in %s", flag, want, out)
			}
		}
		if c.ProcessState.ExitCode() != 6 || asked.Load() != 1 {
			t.Errorf("%s: exit %d after %d requests", flag, c.ProcessState.ExitCode(), asked.Load())
		}
	}
}
