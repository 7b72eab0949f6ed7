package cmd

import (
	"strings"
	"testing"
	"unicode/utf8"

	"kagent/pkg/session"
)

// lineFor is the line for a failure of a model's in a session with these settings.
func lineFor(model, message, kind string, status int, change func(*session.Settings)) string {
	s := &session.State{ID: "s"}
	s.Settings.Model = model
	if change != nil {
		change(&s.Settings)
	}
	return failureLine(s, session.Reason(kind), &session.Failure{Kind: kind, Message: message, Status: status})
}

func TestARefusedOptionIsNamedByItsFlag(t *testing.T) {
	half := 0.5
	all := func(s *session.Settings) {
		s.Sampling = session.Sampling{Effort: "high", Temperature: &half, MaxOutput: 99999}
	}
	for _, c := range []struct{ model, said, want string }{
		{"openai/m", "Unsupported parameter: 'reasoning_effort' is not supported with this model.", "--effort '' leaves it to the service, else try --effort low or medium"},
		{"openai-responses/m", "Unsupported value: 'reasoning.effort'", "--effort ''"},
		{"anthropic/m", "adaptive thinking is not supported on this model", "--effort ''"},
		{"gemini/m", "Thinking level is not supported for this model.", "--effort ''"},
		{"ollama/m", `"gemma" does not support thinking`, "--effort ''"},
		{"openai/m", "Unsupported value: 'temperature' does not support 0.5 with this model.", "--temperature ''"},
		{"anthropic/m", "temperature: range: 0..1", "--temperature ''"},
		{"openai/m", "max_tokens is too large: 99999", "--max-output 0"},
		{"gemini/m", "maxOutputTokens must be at most 8192", "--max-output 0"},
		{"openai/m", "something else", "`kagent show s --messages`"},
		{"ollama/m", "m does not support tools", "choose a model that does, or offer it none: --tools none"},
		{"openai/m", "Client sent an HTTP request to an HTTPS server.", "is the address https://?"},
	} {
		line := lineFor(c.model, c.model+": invalid_request (HTTP 400): "+c.said, "invalid_request", 400, all)
		if !strings.Contains(line, "; "+c.want) || !strings.HasPrefix(line, c.model+" (HTTP 400): ") || strings.Contains(line, ".;") {
			t.Errorf("%s: %q, want %q", c.said, line, c.want)
		}
		if strings.HasPrefix(c.want, "--effort") || strings.HasPrefix(c.want, "--temp") || strings.HasPrefix(c.want, "--max") {
			if line := lineFor(c.model, c.model+": invalid_request (HTTP 400): "+c.said, "invalid_request", 400, nil); strings.Contains(line, c.want) {
				t.Errorf("an option that was not given: %q", line)
			}
		}
	}
}

// A gateway finds nobody behind a model who takes such a request, and says that
// with the status of a wrong name: neither the name nor the address is wrong.
func TestAModelThatIsThereIsNotLookedForElsewhere(t *testing.T) {
	for said, want := range map[string]string{
		"No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing": "; choose a model that does, or offer it none: --tools none",
		"No endpoints found that support image input":                  "; choose a model that does, or name another too: --model A,B",
		"No endpoints found that can handle the requested parameters.": "; choose a model that does, or name another too: --model A,B",
		"No endpoints found for x/y.":                                  "is the address right? It is https://openrouter.ai/api/v1",
	} {
		line := lineFor("openrouter/x/y", "openrouter/x/y: not_found (HTTP 404): "+said, "not_found", 404, nil)
		if !strings.HasSuffix(line, want) || strings.Contains(line, "the address right") != strings.Contains(want, "address") {
			t.Errorf("%q, want %q", line, want)
		}
	}
}

func TestAServiceThatIsNotReachedIsLookedForWhereItFails(t *testing.T) {
	for _, c := range []struct{ model, kind, said, want string }{
		{"openai/m", "network", "h can't be reached: it refuses connections", "; is the address of openai right, and reachable from here? It is https://api.openai.com/v1"},
		{"openai/m", "timeout", "h can't be reached: it does not answer", "; is the address of openai right, and reachable from here? It is https://api.openai.com/v1"},
		{"openai/m", "timeout", "h sent nothing for 2m0s", "; --idle-timeout"},
		{"openai/m", "network", "h cut the connection", "; try again later"},
		{"openai/m", "network", "the proxy on the way to h can't be reached: it refuses connections", "; HTTP_PROXY and HTTPS_PROXY name proxies"},
		{"openai/m", "invalid_request", "h does not speak TLS; is the address http://?", "http://?"},
	} {
		line := lineFor(c.model, c.model+": "+c.kind+": "+c.said, c.kind, 0, nil)
		if !strings.HasSuffix(strings.TrimSuffix(line, ", NO_PROXY what is reached without"), c.want) && !strings.Contains(line, c.want+" and --step-timeout") {
			t.Errorf("%q, want %q", line, c.want)
		}
	}
	t.Setenv("OLLAMA_HOST", "")
	line := lineFor("ollama/m", "ollama/m: network: localhost:11434 can't be reached: it refuses connections", "network", 0, nil)
	if strings.Count(strings.ToLower(line), "is ollama running") != 1 || !strings.Contains(line, "http://localhost:11434") {
		t.Error(line)
	}
	line = lineFor("ollama/m", "ollama/m: not_found (HTTP 404): model 'm' not found", "not_found", 404, nil)
	if strings.Count(line, "ollama pull") != 1 {
		t.Error(line)
	}
}

func TestALongFailureKeepsItsAdvice(t *testing.T) {
	line := lineFor("openai/m", "openai/m: rate_limit (HTTP 429): "+strings.Repeat("很长", 400), "rate_limit", 429, nil)
	if n := utf8.RuneCountInString(line); n > longestLine+2 || !strings.HasSuffix(line, "…; try again later, or name another model too: --model A,B") {
		t.Errorf("%d: %s", n, line)
	}
}

// A proxy that is none would be passed by in silence.
func TestAnUnusableProxyIsAFaultOfTheCall(t *testing.T) {
	for _, value := range []string{"::::", "ftp://u:hunter2@p:1", "http://u:hunter2@p p:1"} {
		dir := t.TempDir()
		c, out := kagentIn(t, dir, "run", "-q", "-m", "openai/m", "hi")
		c.Env = append(c.Environ(), "HTTPS_PROXY="+value, "OPENAI_API_KEY=x")
		c.Run()
		if code := c.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(out.String(), "kagent: HTTPS_PROXY holds no address of a proxy") || strings.Contains(out.String(), "hunter") {
			t.Errorf("%s: exit %d: %s", value, code, out)
		}
	}
}

// A file of certificates that can't be used is passed over by Go: it is told, and by
// doctor too.
func TestAnUnusableFileOfCertificatesIsWarnedOf(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"run", "-q", "-m", "openai/m", "--base-url", "https://127.0.0.1:1", "--retries", "0", "hi"},
		{"doctor", "--model", "openai/m"},
	} {
		c, out := kagentIn(t, dir, args...)
		c.Env = append(c.Environ(), "SSL_CERT_FILE="+dir+"/none.pem", "OPENAI_API_KEY=x")
		c.Run()
		if !strings.Contains(out.String(), "SSL_CERT_FILE names "+dir+"/none.pem, and that does not exist: it is passed over") {
			t.Errorf("%q: %s", args, out)
		}
	}
	c, out := kagentIn(t, dir, "run", "-q", "-m", "demo", "hi")
	c.Env = append(c.Environ(), "SSL_CERT_FILE="+dir+"/none.pem")
	if c.Run(); strings.Contains(out.String(), "SSL_CERT") {
		t.Error(out)
	}
}

func TestAVariableThatHoldsNoAddressIsNamed(t *testing.T) {
	dir := t.TempDir()
	for model, variable := range map[string]string{"openai/m": "OPENAI_BASE_URL=http://u:hunter2@h o/v1", "ollama/m": "OLLAMA_HOST=http://[::1", "gemini/m": "GEMINI_BASE_URL=ftp://hunter"} {
		name, _, _ := strings.Cut(variable, "=")
		c, out := kagentIn(t, dir, "run", "-q", "-m", model, "hi")
		c.Env = append(c.Environ(), variable, "OPENAI_API_KEY=x", "GEMINI_API_KEY=x")
		c.Run()
		if code := c.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(out.String(), name+" holds no http address") || strings.Contains(out.String(), "hunter") {
			t.Errorf("%s: exit %d: %s", variable, code, out)
		}
	}
}

// Of a chain several models failed: the advice is on the failure that decides, by
// what that one said.
func TestAdviceIsForTheFailureThatDecides(t *testing.T) {
	at := func(s *session.Settings) { s.BaseURL = "http://here:1" }
	const unreachable = "anthropic/b: network: api.anthropic.com can't be reached: there is no host of the name api.anthropic.com"
	for _, c := range []struct{ message, kind, want, not string }{
		{"openai/a: timeout: here:1 sent nothing for 1s; a word: of its own; " + unreachable, "timeout", "; --idle-timeout and --step-timeout give it longer", "is the address"},
		{unreachable + "; openai/a: timeout: here:1 sent nothing for 1s", "network", "is the address of anthropic right, and reachable from here? It is https://api.anthropic.com", "here:1;"},
		{"openai/a: network: the connection to here:1 was lost; " + unreachable, "network", "; try again later", "is the address"},
	} {
		line := lineFor("openai/a,anthropic/b", c.message, c.kind, 0, at)
		if !strings.HasSuffix(line, c.want) || strings.Contains(line, c.not) {
			t.Errorf("%q, want %q", line, c.want)
		}
	}
}
