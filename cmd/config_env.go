package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// A misspelt variable has no effect, and nobody would know: unlike a file, the
// environment is shared with others, so that it gets a warning and no error.

// strayVariables returns a warning for each variable that looks like a setting
// and is none. Where not all settings count for the command (only), those that
// may have been meant for it.
func strayVariables(environ []string, f *pflag.FlagSet, known, only func(name string) bool) []string {
	legal := append(ownVariables(), namedVariables(f)...)
	var settable []string
	for _, name := range settings() {
		if known(name) {
			legal, settable = append(legal, envName(name)), append(settable, name)
		}
	}
	var warnings []string
	for _, v := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, envName("")) || value == "" || slices.Contains(legal, name) {
			continue
		}
		near := nearSettings(name, settable)
		if only == nil || slices.ContainsFunc(near, only) {
			warnings = append(warnings, strayWarning(name, near, known))
		}
	}
	return warnings
}

// misspelt returns a warning of a variable that may have been meant for a setting,
// "" if there is none.
func misspelt(environ []string, setting string) string {
	others := slices.DeleteFunc(settings(), func(name string) bool { return name == setting })
	never := func(string) bool { return false }
	for _, v := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(v, "=")
		legal := slices.ContainsFunc(others, func(other string) bool { return envName(other) == name })
		if !strings.HasPrefix(name, envName("")) || value == "" || legal || slices.Contains(ownVariables(), name) {
			continue
		}
		if near := nearSettings(name, []string{setting}); len(near) > 0 && name != envName(setting) {
			return strayWarning(name, near, never)
		}
	}
	return ""
}

// ownVariables are read elsewhere, or set by kagent for its tools.
func ownVariables() []string {
	return []string{"KAGENT_CONFIG", "KAGENT_PROFILE", "KAGENT_IDEMPOTENCY_KEY"}
}

// namedVariables are those whose names the user gave, for a key or for tools.
func namedVariables(f *pflag.FlagSet) []string {
	var names []string
	for _, flag := range []string{"api-key-env", "env"} {
		if given := f.Lookup(flag); given != nil {
			names = append(names, strings.Split(strings.Trim(given.Value.String(), "[]"), ",")...)
		}
	}
	return names
}

func strayWarning(name string, near []string, known func(string) bool) string {
	flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, envName(""))), "_", "-")
	w := fmt.Sprintf("the variable %s has no effect", oneLine(name, 80))
	switch {
	case known(flag):
		return w + ": --" + flag + " is given on the command line only"
	case len(near) > 0:
		for i, n := range near {
			near[i] = envName(n)
		}
		return w + "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return w + ": there is no setting of that name"
}

// nearSettings returns the settings, at most three, that a mistyped variable
// may have meant, the nearest first.
func nearSettings(variable string, settable []string) []string {
	typed := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, envName(""))), "_", "-")
	bare := func(s string) string { return strings.ReplaceAll(s, "-", "") }
	away := func(name string) int { return distance(bare(typed), bare(name)) }
	if len(typed) > 40 {
		return nil
	}
	near := slices.DeleteFunc(slices.Clone(settable), func(name string) bool { return away(name) > min(2, len(name)/3) })
	slices.SortStableFunc(near, func(a, b string) int { return away(a) - away(b) })
	return near[:min(len(near), 3)]
}
