package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestProjectMaySetWhatIsHarmless(t *testing.T) {
	h := newHome(t)
	h.theirs("agent: fusion\ncontext-chars: 5000\nmax-steps: 5\nmax-total-tokens: 1000\nmax-cost: 0.5\n")
	c := h.want(nil, "agent=fusion", "context-chars=5000", "max-steps=5", "max-total-tokens=1000", "max-cost=0.5")
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %q", c.Warnings)
	}
}

func TestProjectMaySetNothingElse(t *testing.T) {
	for _, key := range []string{"allow", "dir", "system", "quiet", "step-timeout", "session", "profiles", "allowed-models", "nonsense"} {
		h := newHome(t)
		h.theirs("agent: fusion\n" + key + ": x\n")
		h.refused(projectConfig, "key "+key+" is not allowed")
	}
}

func TestProjectMayOnlyLowerLimits(t *testing.T) {
	for name, c := range map[string]struct {
		user, project, steps string
		warned               bool
	}{
		"lower than the default":    {"", "5", "5", false},
		"higher than the default":   {"", "50", "20", true},
		"none at all":               {"", "0", "20", true},
		"higher than the user's":    {"max-steps: 10", "15", "10", true},
		"lower, but the user spoke": {"max-steps: 10", "5", "10", false},
		"where the user wants none": {"max-steps: 0", "5", "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.user(c.user)
			h.theirs("max-steps: " + c.project)
			cfg := h.want(nil, "max-steps="+c.steps)
			if warned := len(cfg.Warnings) == 1 && strings.Contains(cfg.Warnings[0], "max-steps"); warned != c.warned {
				t.Errorf("warnings: %q", cfg.Warnings)
			}
			if cfg := h.want([]string{"--max-steps", "99"}, "max-steps=99"); len(cfg.Warnings) > 0 {
				t.Errorf("with a flag: %q", cfg.Warnings)
			}
		})
	}
	for _, bad := range []string{"-1", "many", "[1, 2]", "nan"} {
		h := newHome(t)
		h.theirs("max-steps: " + bad)
		h.refused(projectConfig, "max-steps")
	}
}

func TestProjectChoosesAmongAllowedModels(t *testing.T) {
	h := newHome(t)
	h.theirs("model: openai/a.b")
	h.refused(projectConfig, `"openai/a.b"`, allowedModels)
	h.want([]string{"--model", "demo"}, "model=demo")
	h.user("allowed-models: [openai/a.b, openai/c]\nprofiles: {strict: {allowed-models: openai/d}}")
	h.want(nil, "model=openai/a.b")
	h.theirs("model: [openai/c, openai/a.b]")
	h.want(nil, "model=openai/c,openai/a.b")
	h.theirs("model: openai/c,openai/evil")
	h.refused("openai/evil")
	h.theirs("model: openai/c")
	h.src.Profile = "strict"
	h.refused("openai/c")
	t.Setenv("KAGENT_MODEL", "demo")
	h.want(nil, "model=demo")
}

func TestProjectFileOfAnotherKindIsRefused(t *testing.T) {
	h := newHome(t)
	path := filepath.Join(h.project, projectConfig)
	if err := os.MkdirAll(h.project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no FIFO can be made here:", err)
	}
	h.refused(projectConfig, "regular")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	h.theirs("#" + strings.Repeat("x", configLimit))
	h.refused(projectConfig, "too large")
}

// Named by the user, the file is the user's own.
func TestProjectFileNamedWithConfigIsTrusted(t *testing.T) {
	h := newHome(t)
	h.theirs("allow: [write]\nmax-steps: 50")
	h.src.File = filepath.Join(h.project, projectConfig)
	h.want(nil, "allow=[write]", "max-steps=50")
}
