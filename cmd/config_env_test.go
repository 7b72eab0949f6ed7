package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestAMisspeltVariableIsWarnedOf(t *testing.T) {
	known := func(name string) bool { return name != "deadline" }
	for _, c := range []struct {
		variable string
		want     string // "": no warning
	}{
		{"KAGENT_MAX_STEPS=3", ""},
		{"KAGENT_CONFIG=x", ""},
		{"KAGENT_IDEMPOTENCY_KEY=x", ""},
		{"KAGENT_MY_KEY=x", ""}, // --api-key-env names it
		{"KAGENT_FOR_TOOLS=x", ""},
		{"KAGENT_NOTHING_SAID=", ""},
		{"AGENT_MAX_STEP=3", ""},
		{"KAGENT_MAX_STEP=3", "the variable KAGENT_MAX_STEP has no effect; did you mean KAGENT_MAX_STEPS?"},
		{"KAGENT_MAXSTEPS=3", "the variable KAGENT_MAXSTEPS has no effect; did you mean KAGENT_MAX_STEPS?"},
		{"KAGENT_DIRR=x", "the variable KAGENT_DIRR has no effect; did you mean KAGENT_DIR?"},
		{"KAGENT_STDIM=none", "the variable KAGENT_STDIM has no effect; did you mean KAGENT_STDIN?"},
		{"KAGENT_DEADLINE=1h", "the variable KAGENT_DEADLINE has no effect: there is no setting of that name"},
		{"KAGENT_SESSION=s", "the variable KAGENT_SESSION has no effect: --session is given on the command line only"},
		{"KAGENT_\x1b[2J你好=s", "the variable KAGENT_\uFFFD[2J你好 has no effect: there is no setting of that name"},
	} {
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.String("api-key-env", "KAGENT_MY_KEY", "")
		f.StringSlice("env", []string{"HOME", "KAGENT_FOR_TOOLS"}, "")
		knows := func(name string) bool { return known(name) && (name == "session" || slices.Contains(settings(), name)) }
		got := strayVariables([]string{"PATH=/bin", c.variable}, f, knows, nil)
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q: %q, want %q", c.variable, got, c.want)
		}
	}
}

// A misspelt variable may be why no model is configured: the run ends before it
// would warn of it.
func TestAMisspeltVariableForTheModelIsNamedWhereThereIsNone(t *testing.T) {
	for variable, says := range map[string]string{
		"KAGENT_MODLE=demo":  "no model configured, and the variable KAGENT_MODLE has no effect; did you mean KAGENT_MODEL?; set one with",
		"KAGENT_MODELS=demo": "did you mean KAGENT_MODEL?",
		"KAGENT_MODLE=":      "no model configured; set one with",
		"KAGENT_MODEL=":      "no model configured; set one with",
		"MODLE=demo":         "no model configured; set one with",
	} {
		c, out := kagentIn(t, t.TempDir(), "run", "-q", "hi")
		c.Env = append(c.Environ(), variable)
		if c.Run(); c.ProcessState.ExitCode() != exitUsage || !strings.Contains(out.String(), says) {
			t.Errorf("%s: exit %d: %s", variable, c.ProcessState.ExitCode(), out)
		}
	}
}

func TestAListIsWarnedOfItsOwnSettingsOnly(t *testing.T) {
	known := func(name string) bool { return slices.Contains(settings(), name) }
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	got := strayVariables([]string{"KAGENT_MAX_STEP=3", "KAGENT_MY_KEY=x", "KAGENT_DIRS=x"}, f, known, onlyDir)
	if want := []string{"the variable KAGENT_DIRS has no effect; did you mean KAGENT_DIR?"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDistanceCountsLettersAndASwapOnce(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"dir", "dir", 0}, {"dirr", "dir", 1}, {"rid", "dir", 2}, {"maxstep", "maxsteps", 1}, {"modle", "model", 1}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
