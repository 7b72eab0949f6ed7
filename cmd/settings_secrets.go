package cmd

import (
	"cmp"
	"slices"
	"strings"

	"kagent/pkg/session"
)

// checkEnvNames keeps providers' keys out of what tools are handed: the session's
// own, and those of every other service.
func checkEnvNames(s *settingFlags, settings *session.Settings) error {
	out := *settings
	out.APIKeyEnv = cmp.Or(s.apiKeyEnv, out.APIKeyEnv)
	if s.headers != nil {
		out.Headers = s.headers
	}
	for flag, names := range map[string][]string{"env": s.env, "api-key-env": {s.apiKeyEnv}} {
		for _, name := range names {
			if strings.ContainsAny(name, "= ") {
				return usageErrorf("give the name of a variable, not its value", "--%s wants the name of a variable, not what it holds", flag)
			}
		}
	}
	own, _ := keyVariables(out)
	for _, name := range slices.Concat(s.env, out.Env) {
		if slices.Contains(own, name) {
			return usageErrorf("tools never get it", "--env %s names the provider's key", name)
		}
	}
	for _, name := range s.env {
		if service := serviceOfKey(name); service != "" {
			return usageErrorf("tools never get it", "--env %s names the key of a provider, %s", name, service)
		}
	}
	return nil
}

// serviceOfKey names the service whose key is in a variable. Two hold what opens
// more than models: gh, git and the programs of the Hub need theirs.
func serviceOfKey(variable string) string {
	c, err := loadCatalogue()
	if err != nil || variable == "GITHUB_TOKEN" || variable == "HF_TOKEN" {
		return ""
	}
	for _, service := range c.Services() {
		if slices.Contains(service.Keys, variable) {
			return service.Name
		}
	}
	return ""
}
