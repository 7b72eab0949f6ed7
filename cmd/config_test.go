package cmd

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// A home is a fresh user with a project to stand in.
type home struct {
	t       *testing.T
	config  string // the user's file
	project string // the directory of the project
	src     ConfigSource
}

// newHome clears the environment of everything that could be a setting.
func newHome(t *testing.T) *home {
	t.Helper()
	for _, name := range append(settings(), "config", "profile") {
		t.Setenv(envName(name), "")
	}
	dir := t.TempDir()
	h := &home{t: t, config: filepath.Join(dir, ".config", "kagent", "config.yaml"), project: filepath.Join(dir, "project")}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	h.src = ConfigSource{Dir: h.project}
	return h
}

func (h *home) write(path, content string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) user(content string) { h.t.Helper(); h.write(h.config, content) }
func (h *home) theirs(yaml string) {
	h.t.Helper()
	h.write(filepath.Join(h.project, projectConfig), yaml)
}

func testFlags() *pflag.FlagSet {
	fs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	fs.String("agent", "react", "")
	fs.String("model", "", "")
	fs.String("system", "", "")
	fs.String("system-file", "", "")
	fs.String("session", "", "")
	fs.String("dir", ".kagent-sessions", "")
	fs.StringSlice("allow", []string{"read"}, "")
	fs.Int("max-steps", 20, "")
	fs.Int64("max-total-tokens", 0, "")
	fs.Float64("max-cost", 0, "")
	fs.Int("context-chars", 0, "")
	fs.Duration("step-timeout", 10*time.Minute, "")
	fs.Bool("quiet", false, "")
	return fs
}

// fill loads the configuration and fills fresh flags after these arguments.
func (h *home) fill(args ...string) (*Config, *pflag.FlagSet, error) {
	h.t.Helper()
	fs := testFlags()
	if err := fs.Parse(args); err != nil {
		h.t.Fatal(err)
	}
	h.src.Known = func(name string) bool { return fs.Lookup(name) != nil }
	c, err := LoadConfig(h.src)
	if err == nil {
		err = c.Fill(fs, nil)
	}
	return c, fs, err
}

// want checks flags, given as name=value.
func (h *home) want(args []string, wants ...string) *Config {
	h.t.Helper()
	c, fs, err := h.fill(args...)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, want := range wants {
		name, value, _ := strings.Cut(want, "=")
		if got := fs.Lookup(name).Value.String(); got != value {
			h.t.Errorf("--%s is %q, want %q", name, got, value)
		}
	}
	return c
}

// refused checks that the configuration is a usage error with these words.
func (h *home) refused(words ...string) {
	h.t.Helper()
	_, _, err := h.fill()
	var usage *UsageError
	if !errors.As(err, &usage) || usage.Hint == "" {
		h.t.Fatalf("got %v, want a usage error with a hint", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			h.t.Errorf("%q lacks %q", err, w)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		h.t.Errorf("%q has more than one line", err)
	}
}

func TestEachLayerGoesBeforeTheNext(t *testing.T) {
	h := newHome(t)
	h.want(nil, "agent=react")
	h.theirs("agent: fusion")
	h.want(nil, "agent=fusion")
	h.user("agent: plan-solve\nprofiles:\n  big:\n    agent: orchestrator\n")
	h.want(nil, "agent=plan-solve")
	h.src.Profile = "big"
	h.want(nil, "agent=orchestrator")
	t.Setenv("KAGENT_AGENT", "env")
	h.want(nil, "agent=env")
	h.want([]string{"--agent", "flag"}, "agent=flag")
	t.Setenv("KAGENT_AGENT", "")
	h.want(nil, "agent=orchestrator")
}

func TestValuesKeepTheirText(t *testing.T) {
	h := newHome(t)
	h.user("model: [a/b.c, openai/gpt-4.1]\nallow: ['shell(git log, *)', write]\ndir: 0123\nmax-cost: 1e1\n" +
		"step-timeout: 90s\nquiet: true\nmax-steps:\nsystem: ~\ncontext-chars: \"\"\n")
	c := h.want(nil, "model=a/b.c,openai/gpt-4.1", "allow=[\"shell(git log, *)\",write]", "dir=0123", "max-cost=10",
		"step-timeout=1m30s", "quiet=true", "max-steps=20", "system=", "context-chars=0")
	if got := c.Origin("dir"); got != h.config+": dir" {
		t.Errorf("origin %q", got)
	}
	t.Setenv("KAGENT_ALLOW", "write,execute")
	h.want(nil, "allow=[write,execute]")
	h.user("allow: []")
	t.Setenv("KAGENT_ALLOW", "")
	h.want(nil, "allow=[]")
}

// Resume tells a flag that was given from one that was configured.
func TestFilledFlagsAreNotExplicit(t *testing.T) {
	h := newHome(t)
	t.Setenv("KAGENT_MAX_STEPS", "7")
	t.Setenv("KAGENT_DIR", "elsewhere")
	c, fs, err := h.fill("--quiet")
	if err != nil || fs.Changed("max-steps") || !fs.Changed("quiet") || c.Origin("max-steps") != "KAGENT_MAX_STEPS" || c.Origin("quiet") != "" {
		t.Errorf("changed %v, origin %q, %v", fs.Changed("max-steps"), c.Origin("max-steps"), err)
	}
	fresh := testFlags()
	if err := c.Fill(fresh, func(name string) bool { return name == "dir" }); err != nil {
		t.Fatal(err)
	}
	if steps, dir := fresh.Lookup("max-steps").Value.String(), fresh.Lookup("dir").Value.String(); steps != "20" || dir != "elsewhere" {
		t.Errorf("max-steps %s, dir %s", steps, dir)
	}
}

func TestGivenFlagSilencesItsRival(t *testing.T) {
	h := newHome(t)
	h.user("system-file: prompt.md\n")
	h.want(nil, "system-file=prompt.md")
	h.want([]string{"--system", "be brief"}, "system=be brief", "system-file=")
}

func TestBadConfigurationNamesItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		yaml  string
		words []string
	}{
		"an unknown key":        {"max-stepz: 3", []string{"unknown key max-stepz", "--help"}},
		"an underscore":         {"max_steps: 3", []string{"unknown key max_steps", "write max-steps"}},
		"no setting":            {"session: x", []string{"unknown key session"}},
		"a flag not built here": {"sandbox: off", []string{"unknown key sandbox"}},
		"a key of a profile":    {"profiles: {fast: {modle: x}}", []string{"profiles: fast: modle"}},
		"nested profiles":       {"profiles: {a: {profiles: {}}}", []string{"profiles: a: profiles"}},
		"odd profiles":          {"profiles: 3", []string{"profiles"}},
		"an octal number":       {"max-steps: 010", []string{": max-steps", `"010"`, "a number does not begin with 0", "whole number"}},
		"a second document":     {"max-steps: 3\n---\nmax-cost: 1", []string{"line 3", "a second document begins"}},
		"a bad number":          {"max-steps: lots", []string{": max-steps", "lots", "whole number"}},
		"a bad duration":        {"step-timeout: 600", []string{": step-timeout", "600", "90s"}},
		"a map":                 {"model: {a: b}", []string{"model", "line 1"}},
		"a list of maps":        {"model: [{a: b}]", []string{"model", "line 1"}},
		"not YAML":              {"model: [", []string{"YAML"}},
		"not a map":             {"just text", []string{"YAML"}},
		"twice":                 {"model: a\nmodel: b", []string{"YAML", "model"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.user(c.yaml)
			h.refused(append(c.words, h.config)...)
		})
	}
}

func TestBadVariableIsNamed(t *testing.T) {
	h := newHome(t)
	t.Setenv("KAGENT_MAX_STEPS", "abc")
	h.refused("KAGENT_MAX_STEPS", "abc", "--max-steps", "whole number")
	h.want([]string{"--max-steps", "3"}, "max-steps=3")
}

// Tools receive KAGENT_IDEMPOTENCY_KEY; a nested run must not stumble over it.
func TestOtherVariablesAreIgnored(t *testing.T) {
	h := newHome(t)
	t.Setenv("KAGENT_IDEMPOTENCY_KEY", "k")
	t.Setenv("KAGENT_SESSION", "s")
	t.Setenv("KAGENT_NONSENSE", "n")
	h.want(nil, "session=")
}

// F118: without a home, or with an odd one, there is just no file.
func TestHomeMayBeMissing(t *testing.T) {
	h := newHome(t)
	h.user("agent: fusion")
	xdg := filepath.Dir(filepath.Dir(h.config))
	for name, c := range map[string]struct{ home, xdg, agent string }{
		"neither":               {"", "", "react"},
		"no such home":          {"/nonexistent", "", "react"},
		"a file as home":        {h.config, "", "react"},
		"relative home":         {"here", "", "react"},
		"relative XDG":          {filepath.Dir(xdg), "relative", "fusion"},
		"relative XDG, no home": {"", "relative", "react"},
		"XDG alone":             {"", xdg, "fusion"},
		"XDG before home":       {filepath.Dir(xdg), "/nonexistent", "react"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", c.home)
			t.Setenv("XDG_CONFIG_HOME", c.xdg)
			if got := h.want(nil, "agent="+c.agent); len(got.Warnings) > 0 {
				t.Errorf("warnings: %q", got.Warnings)
			}
		})
	}
	os.Unsetenv("HOME") // restored by the Setenv of newHome
	h.want(nil, "agent=react")
}

func TestNamedFileGoesBeforeTheUsualOne(t *testing.T) {
	h := newHome(t)
	h.user("agent: fusion")
	other := filepath.Join(h.project, "other.yaml")
	h.write(other, "agent: plan-solve")
	t.Setenv("KAGENT_CONFIG", other)
	h.want(nil, "agent=plan-solve")
	h.src.File = os.DevNull
	h.want(nil, "agent=react")
	h.src.File = filepath.Join(h.project, "none.yaml")
	h.refused("none.yaml", "--config")
	h.src.File = h.project
	h.refused(h.project)
}

func TestUnknownProfileIsRefused(t *testing.T) {
	h := newHome(t)
	t.Setenv("KAGENT_PROFILE", "fast")
	h.refused(`no profile "fast"`, "--config")
	h.user("agent: react")
	h.refused(`no profile "fast"`, "has no profiles")
	h.user("profiles: {Slow.One: {agent: fusion}, big: }")
	h.refused(`no profile "fast"`, "Slow.One, big")
	h.src.Profile = "Slow.One"
	h.want(nil, "agent=fusion")
}

func TestEverySettingHasItsVariable(t *testing.T) {
	names := settings()
	slices.Sort(names)
	if len(slices.Compact(names)) != len(settings()) {
		t.Error("a setting is named twice")
	}
	if slices.Contains(names, "idempotency-key") {
		t.Error("KAGENT_IDEMPOTENCY_KEY belongs to the tools")
	}
	if got := envName("max-steps"); got != "KAGENT_MAX_STEPS" {
		t.Errorf("got %s", got)
	}
}
