package cmd

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/session"
)

// The address that a user points at is kept for as long as the service is the same
// by another protocol, and never left in silence for the usual one.
func TestTheAddressOfASessionIsLeftForAnotherServiceOnly(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, name := range []string{"ANTHROPIC_API_KEY", "OLLAMA_HOST", "VLLM_API_KEY"} {
		t.Setenv(name, "")
	}
	t.Setenv("GROQ_API_KEY", "key-of-groq")
	const local = "http://localhost:9/v1"
	const refused = "the session's address is that of openai, which is no longer first"
	for _, c := range []struct {
		before, after, given, keyEnv string
		base, says                   string // what is left, and what is said of it
	}{
		{"openai/a", "ollama/b,openai/a", "", "", "", refused},
		{"openai/a,ollama/b", "ollama/b,openai/a", "", "", "", refused},
		{"openai/a", "ollama/b,openai-responses/a", "", "", "", refused},
		{"openai/a", "openai-responses/a,openai/a", "", "", "", refused},
		{"openai/a", "demo,ollama/b,openai/a", "", "", "", refused},
		{"openai/a", "script:x,openai/b,ollama/b,openai/a", "", "", local, ""},
		{"openai/a", "ollama/b,openai/a", "base-url", "", local, ""},
		{"openai/a", "openai-responses/a", "", "", local, ""},
		{"openai-compatible/a", "openai/a", "", "", local, ""},
		{"openai-compatible/a", "openai-responses/a,ollama/b", "", "MY_KEY", local, ""},
		{"openai-compatible/a", "vllm/a", "", "", local, ""},
		{"openai-compatible/a", "groq/a", "", "GROQ_API_KEY", local, ""},
		{"openai-compatible/a", "groq/a", "", "", "", "--base-url of the session was meant for openai-compatible and no longer applies: give it anew if groq needs it; groq is asked at https://api.groq.com/openai/v1"},
		{"groq/a", "openai-compatible/a", "base-url", "GROQ_API_KEY", local, "--api-key-env of the session was meant for groq and no longer applies: give it anew if openai-compatible needs it; openai-compatible is asked at " + local},
		{"openai/a", "ollama/b", "", "", "", "; ollama is asked at http://localhost:11434"},
		{"openai/a", "anthropic/b", "", "MY_KEY", "", "--base-url, --api-key-env of the session was meant for openai"},
	} {
		r := &reopening{given: func(flag string) bool { return flag == c.given }}
		s := session.Settings{Model: c.after, BaseURL: local, APIKeyEnv: c.keyEnv}
		said := ""
		if err := r.leaveService(&s, c.before); err != nil {
			var usage *UsageError
			if said, s.BaseURL = err.Error(), ""; !errors.As(err, &usage) {
				t.Errorf("%s to %s: no mistake of use: %v", c.before, c.after, err)
			}
		}
		said += strings.Join(r.left, "\n")
		if s.BaseURL != c.base || !strings.Contains(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%s to %s: %q, %q", c.before, c.after, s.BaseURL, said)
		}
	}
}

// A conversation that a gateway had goes on there when only the protocol changes,
// with the key and the headers that are for it.
func TestAConversationStaysAtItsGatewayByAnotherProtocol(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("GATEWAY_KEY", "key-of-gateway")
	gateway := newKeeper(t)
	want := []string{"Bearer key-of-gateway red"}
	for _, args := range [][]string{
		{"run", "-s", "s", "-m", "openai/a", "--retries", "0", "--base-url", gateway.URL, "--api-key-env", "GATEWAY_KEY", "--header", "X-Team: red", "--stdin", "none", "go"},
		{"resume", "s", "-m", "openai-responses/a"},
		{"resume", "s", "-m", "openai-compatible/a"},
		{"resume", "s", "-m", "openai/a"},
	} {
		c, out := kagentIn(t, dir, args...)
		c.Run()
		if sent := gateway.take(); !slices.Equal(sent, want) || strings.Contains(out.String(), "no longer") {
			t.Errorf("%q: %q, %s", args, sent, out)
		}
	}
}
