package cmd

import (
	"os"
	"strings"

	"kagent/pkg/secret"
	"kagent/pkg/session"
)

// headers reads "Name: value" lines; a value $NAME is taken from the
// environment at each start, and is not stored.
func headers(lines []string, wanted bool) (map[string]string, error) {
	out := map[string]string{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		variable, fromEnv := strings.CutPrefix(value, "$")
		if fromEnv {
			value = strings.TrimSpace(os.Getenv(variable))
		}
		switch {
		case fromEnv && wanted && secret.IsBroken(value):
			return nil, brokenKey("--header "+oneLine(name, 40)+" needs a variable, and", variable)
		case fromEnv && wanted && isQuotedSecret(name, value):
			return nil, wrappedKey("--header "+oneLine(name, 40)+" needs a variable, and", variable, secret.Around(value))
		case !ok || name == "" || strings.ContainsAny(name, " \t\r\n") || !fromEnv && secret.IsBroken(value):
			return nil, usageErrorf("want 'Name: value', or 'Name: $VARIABLE'", "--header %q", oneLine(name, 40))
		case fromEnv && value == "" && wanted:
			return nil, usageErrorf("set it", "--header %s needs the variable %s, and it is not set", name, variable)
		case !wanted:
			continue
		}
		out[name] = value
	}
	return out, nil
}

// checkVariable refuses what can't be the name of a variable, and does not repeat
// it: it may be the key itself.
func checkVariable(name string) error {
	if name != "" && !secret.IsVariable(name) {
		return usageErrorf("write for example --api-key-env OPENAI_API_KEY", "--api-key-env wants the name of a variable, not what it holds")
	}
	return nil
}

// checkHeaders refuses secrets: headers are stored with the session.
func checkHeaders(lines []string) error {
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		known := masker(session.Settings{}).MaskReply(value) != value || secret.IsParameter(name) || isCredential(name, value)
		if known && !strings.HasPrefix(value, "$") {
			return usageErrorf("put it into a variable and write --header '"+strings.TrimSpace(name)+": $VARIABLE'", "--header %s holds a secret: it would be stored with the session", strings.TrimSpace(name))
		}
	}
	_, err := headers(lines, false)
	return err
}

// isCredential reports whether a header says by its name or its scheme that it
// lets somebody in.
func isCredential(name, value string) bool {
	value = strings.ToLower(value)
	for _, scheme := range []string{"bearer ", "basic ", "sk-"} {
		if strings.HasPrefix(value, scheme) {
			return true
		}
	}
	return secret.IsLogin(name)
}

// isQuotedSecret reports whether a header that lets somebody in holds quotes that
// were meant for a shell.
func isQuotedSecret(name, value string) bool {
	return (secret.IsParameter(name) || isCredential(name, "")) && strings.HasPrefix(secret.Around(value), "quotes")
}
