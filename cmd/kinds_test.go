package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kagent/pkg/provider"
)

func TestExitCodeOfEachKindOfFailure(t *testing.T) {
	for _, m := range provider.Meanings() {
		if got := exitCode(m.Status, m.Reason); got != m.Exit {
			t.Errorf("%s is %s: %s, which exits %d, want %d", m.Kind, m.Status, m.Reason, got, m.Exit)
		}
	}
}

// What a chain comes to exits as several causes do anywhere.
func TestAChainOfFailuresExitsAsSeveralCausesDo(t *testing.T) {
	as := func(k provider.Kind) provider.Link {
		return provider.Link{Provider: downModel{&provider.Error{Kind: k}}}
	}
	for _, a := range provider.Meanings() {
		for _, b := range provider.Meanings() {
			if !a.Elsewhere || b.Kind == provider.Cancelled {
				continue
			}
			_, err := provider.Fallback(as(a.Kind), as(b.Kind)).Stream(t.Context(), provider.Request{}, func(provider.Event) {})
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind.Means().Exit != exitFirst(a.Exit, b.Exit) {
				t.Errorf("%s, then %s: %v", a.Kind, b.Kind, err)
			}
		}
	}
}

// downModel fails.
type downModel struct{ err error }

func (f downModel) Stream(context.Context, provider.Request, func(provider.Event)) (provider.Reply, error) {
	return provider.Reply{}, f.err
}

// Each kind, from what a provider says to what a script sees.
func TestEachKindOfFailureFromTheProviderToTheExitCode(t *testing.T) {
	t.Parallel()
	for _, m := range provider.Meanings() {
		if m.Kind == provider.Internal { // no provider's
			continue
		}
		dir := t.TempDir()
		fail := "{error: {kind: " + string(m.Kind) + ", message: so it went, retry_after: 1ms}}"
		putFile(t, filepath.Join(dir, "always.yaml"), "replies: ["+fail+"]")
		putFile(t, filepath.Join(dir, "once.yaml"), "replies: [{when: {attempt: 1}, error: {kind: "+string(m.Kind)+", retry_after: 1ms}}, {text: fine}]")

		code, out := exitOf(t, dir, "run", "-q", "-o", "json", "--retries", "0", "--tools", "none", "--model", "script:always.yaml", "go")
		var res result
		if err := json.Unmarshal(out, &res); err != nil {
			t.Fatalf("%s: %v: %s", m.Kind, err, out)
		}
		if code != m.Exit || string(res.Status) != m.Status || string(res.Reason) != m.Reason || res.Error == nil || !strings.Contains(res.Error.Message, "so it went") {
			t.Errorf("%s: exit %d, %s", m.Kind, code, out)
		}
		code, _ = exitOf(t, dir, "run", "-q", "--retries", "1", "--tools", "none", "--model", "script:once.yaml", "go")
		if m.Retry != (code == 0) {
			t.Errorf("%s: tried again: exit %d", m.Kind, code)
		}
		code, out = exitOf(t, dir, "run", "-q", "-o", "json", "--retries", "0", "--tools", "none", "--model", "script:always.yaml,demo", "go")
		if m.Elsewhere != (code == 0) || m.Elsewhere != strings.Contains(string(out), "demo was asked instead") {
			t.Errorf("%s: in a chain: exit %d, %s", m.Kind, code, out)
		}
	}
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// exitOf runs the program to its end and returns its exit code and stdout.
func exitOf(t *testing.T, dir string, args ...string) (int, []byte) {
	t.Helper()
	c, _ := kagentIn(t, dir, args...)
	c.Stdout = nil
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out
}
