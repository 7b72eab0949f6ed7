package cmd

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kagent/pkg/session"
	"kagent/pkg/tool"
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

// checkKeyInAddress refuses an address with a secret in its path, where some
// services want their key.
func checkKeyInAddress(s session.Settings) error {
	if masker(s).MaskReply(s.BaseURL) != s.BaseURL {
		return usageErrorf("name the variable that holds the key with --api-key-env", "--base-url must not hold a key or another secret: it is stored with the session")
	}
	return nil
}

// secretIn tells where in a JSON text there is a secret: its place is told as
// JSON Schema does, without a name that is the secret itself.
func secretIn(mask *tool.Masker, text []byte) (at string, found bool) {
	var v any
	if mask.MaskReply(string(text)) == string(text) || json.Unmarshal(text, &v) != nil {
		return "", false
	}
	at, _ = secretAt(mask, "", v)
	return cmp.Or(at, "its beginning"), true
}

func secretAt(mask *tool.Masker, at string, v any) (place string, found bool) {
	switch v := v.(type) {
	case string:
		return at, mask.MaskReply(v) != v
	case []any:
		for i, item := range v {
			if place, found = secretAt(mask, at+"/"+strconv.Itoa(i), item); found {
				return place, true
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if masked := mask.MaskReply(name); masked != name {
				return at + "/" + masked, true
			}
			if place, found = secretAt(mask, at+"/"+oneLine(name, 60), v[name]); found {
				return place, true
			}
		}
	}
	return "", false
}
