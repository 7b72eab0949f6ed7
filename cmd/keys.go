package cmd

import (
	"net/url"
	"os"
	"slices"
	"strings"

	"kagent/pkg/provider/catalogue"
	"kagent/pkg/secret"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// masker knows the secrets of the environment: what the session's services are
// sent, and what looks like one.
func masker(s session.Settings) *tool.Masker {
	names, more := keyVariables(s)
	return tool.NewMasker(append(os.Environ(), more...), names...)
}

// keyVariables are the variables that may hold a key of the session's models, and
// further ones for keys that are a part of what a variable holds.
func keyVariables(s session.Settings) (names, more []string) {
	names = []string{"OPENAI_API_KEY"}
	if s.APIKeyEnv != "" {
		names = append(names, s.APIKeyEnv)
	}
	add := func(n, m []string) { names, more = append(names, n...), append(more, m...) }
	add(fromHeaders(s.Headers))
	add(fromProxies())
	if c, err := loadCatalogue(); err == nil {
		for _, model := range modelsOf(s) {
			name, _, _ := strings.Cut(model, "/")
			service, _ := c.Service(name)
			add(service.Keys, nil)
			add(fromAddress(service))
		}
	}
	slices.Sort(names)
	slices.Sort(more)
	return slices.Compact(names), slices.Compact(more)
}

// fromAddress returns what lets somebody in of the address that a variable holds,
// as variables of its own: the address itself is no secret.
func fromAddress(service catalogue.Service) (names, environ []string) {
	u, err := url.Parse(hostURL(os.Getenv(service.BaseEnv)))
	if service.BaseEnv == "" || err != nil {
		return nil, nil
	}
	name := service.BaseEnv + "_PASSWORD"
	for _, value := range secret.InAddress(u) {
		names, environ = append(names, name), append(environ, name+"="+value)
	}
	return names, environ
}

// fromProxies returns the passwords of proxies: they are sent, and may be sent back.
func fromProxies() (names, environ []string) {
	for _, variable := range secret.ProxyVariables() {
		name := strings.ToUpper(variable) + "_PASSWORD"
		for _, value := range secret.InProxy(os.Getenv(variable)) {
			names, environ = append(names, name), append(environ, name+"="+value)
		}
	}
	return names, environ
}

// fromHeaders returns the variables of headers that are secrets by the name of
// the header or by their looks: others, such as $USER, may be words of any text.
func fromHeaders(lines []string) (names, environ []string) {
	for _, line := range lines {
		header, value, _ := strings.Cut(line, ":")
		header = strings.TrimSpace(header)
		name, ok := strings.CutPrefix(strings.TrimSpace(value), "$")
		if held := os.Getenv(name); ok && (secret.IsParameter(header) || isCredential(header, held) || secret.Looks(held, true)) {
			names = append(names, name)
			for _, part := range secret.InHeader(held)[1:] {
				environ = append(environ, name+"="+part)
			}
		}
	}
	return names, environ
}
