package tool

import (
	"slices"
	"strings"
)

// allowed lists the variables that every command gets: what programs need to
// find their way, and nothing that can hold a key. LC_* is allowed too.
func allowed() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ",
		"LANG", "LANGUAGE", "SSL_CERT_FILE", "SSL_CERT_DIR",
	}
}

// keyVariable holds a call's idempotency key.
const keyVariable = "KAGENT_IDEMPOTENCY_KEY"

// environ returns the variables of a command that runs in cwd.
func (t *shell) environ(cwd, key string) []string {
	names := append(allowed(), t.opts.Env...)
	var env []string
	for _, v := range t.opts.Environ() {
		name, _, ok := strings.Cut(v, "=")
		if ok && name != "PWD" && (slices.Contains(names, name) || strings.HasPrefix(name, "LC_")) {
			env = append(env, v)
		}
	}
	env = append(env, "PWD="+cwd)
	if key != "" {
		env = append(env, keyVariable+"="+key)
	}
	return env
}
