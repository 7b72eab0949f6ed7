package cmd

import (
	"strings"
	"testing"
)

// What lets somebody in is neither stored with a session nor repeated.
func TestCredentialsAreTakenFromVariablesAlone(t *testing.T) {
	for _, args := range [][]string{
		{"--header", "Helicone-Auth: hunter2hunter2"},
		{"--header", "cf-aig-token: Bearer hunter2hunter2"},
		{"--header", "X-Tok: bearer hunter2hunter2"},
		{"--header", "X-Custom: sk-hunter2hunter2"},
		{"--header", "Cookie: session=hunter2hunter2"},
		{"--api-key-env", "sk-hunter2hunter2"},
	} {
		c, out := kagentIn(t, t.TempDir(), append([]string{"run", "-m", "openai/gpt-5-mini", "--stdin", "none", "go"}, args...)...)
		c.Run()
		if said := out.String(); c.ProcessState.ExitCode() != 2 || strings.Contains(said, "hunter2") || !strings.Contains(said, args[0]) {
			t.Errorf("%q: exit %d: %s", args, c.ProcessState.ExitCode(), said)
		}
	}
	for _, line := range []string{"X-Title: kagent", "Helicone-Auth: $HELICONE", "HTTP-Referer: https://example.com"} {
		if err := checkHeaders([]string{line}); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}
