package cmd

import (
	"net/url"
	"os"
	"strings"
	"time"

	"kagent/pkg/provider"
	"kagent/pkg/provider/catalogue"
	"kagent/pkg/provider/sse"
	"kagent/pkg/secret"
	"kagent/pkg/session"
)

// way is how a service is reached.
type way struct {
	service   catalogue.Service
	model     string
	base, key string
	header    map[string]string
	idle      time.Duration
}

// wayTo finds address and key. What the session says of them is meant for the
// first service of its chain; the others are reached as usual.
func wayTo(c *catalogue.Catalogue, s session.Settings, name string) (way, error) {
	service, model, _ := strings.Cut(name, "/")
	first := firstService(c, s.Model)
	w := way{model: model, idle: time.Duration(s.IdleTimeout)}
	var known bool
	if w.service, known = c.Service(service); !known || model == "" {
		return w, usageErrorf("want "+modelForms, "model %q is not known", oneLine(name, 80))
	}
	baseURL, keyEnv := s.BaseURL, s.APIKeyEnv
	if service != first {
		baseURL, keyEnv = "", ""
	}
	if w.base = baseURL; w.base == "" && w.service.BaseEnv != "" {
		w.base = hostURL(os.Getenv(w.service.BaseEnv))
	}
	given := w.base != ""
	if u, err := url.Parse(w.base); baseURL == "" && given && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return w, usageErrorf("want for example http://localhost:8080/v1", "%s holds no http address", w.service.BaseEnv)
	}
	if !given {
		w.base = w.service.Base
	}
	variable, key := keyOf(w.service, keyEnv)
	w.key = key
	switch {
	case secret.IsBroken(key):
		return w, brokenKey(name+" needs a key, and", variable)
	case secret.Around(key) != "":
		return w, wrappedKey(name+" needs a key, and", variable, secret.Around(key))
	case w.base == "":
		return w, usageErrorf("add for example --base-url http://localhost:8080/v1", "%s needs %s", name, baseGivers(w.service))
	case w.key == "" && keyEnv != "":
		return w, usageErrorf("set it, or name another variable with --api-key-env", "%s needs a key, and %s is not set", name, keyEnv)
	case w.key == "" && !given && !w.service.Keyless && len(w.service.Keys) > 0:
		return w, usageErrorf("set it, or name another variable with --api-key-env", "%s needs a key, and %s is not set", name, strings.Join(w.service.Keys, " or "))
	}
	if err := checkWayTo(w.base); err != nil {
		return w, err
	}
	var err error
	w.header, err = headers(s.Headers, service == first)
	return w, err
}

// checkWayTo refuses to go straight to a service where the environment wants a
// proxy and does not name one, and to wait for certificates without end. An address that is none is refused elsewhere.
func checkWayTo(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return nil
	}
	if err := sse.CheckAuthorities(); err != nil && u.Scheme == "https" {
		return usageErrorf("name a file of certificates in PEM form, or unset it", "%v", err)
	}
	if err := sse.CheckProxy(u); err != nil {
		return usageErrorf("mend or unset it, or name the host of the service in NO_PROXY", "%v", err)
	}
	return nil
}

// firstService names the service of the first model of a chain that has one.
func firstService(c *catalogue.Catalogue, model string) string {
	for _, name := range chainOf(model) {
		service, _, _ := strings.Cut(name, "/")
		if _, known := c.Service(service); known {
			return service
		}
	}
	return ""
}

// serviceOf is firstService of a session's model, also where its service has been
// taken out of the user's file since.
func serviceOf(model string) string {
	for _, name := range chainOf(model) {
		if service, _, slashed := strings.Cut(name, "/"); slashed && !strings.HasPrefix(name, "script:") {
			return service
		}
	}
	return ""
}

// keyOf returns the key out of the variable that is named, else out of the
// first of the service's that holds one. A file's last line break is no part of it.
func keyOf(s catalogue.Service, named string) (variable, key string) {
	names := s.Keys
	if named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if key := strings.TrimSpace(os.Getenv(name)); key != "" {
			return name, key
		}
	}
	return "", ""
}

// brokenKey names the variable, and never what it holds.
func brokenKey(who, variable string) error {
	return usageErrorf("set it to the key alone: what came with it may be a second line of a file", "%s the value of %s holds a line break or another control character", who, variable)
}

// wrappedKey does so for a key in quotes, as docker's --env-file leaves them, or
// behind "Bearer".
func wrappedKey(who, variable, around string) error {
	return usageErrorf("set it to the key alone", "%s the value of %s has %s", who, variable, around)
}

// hostURL completes what OLLAMA_HOST and its like hold: a host without a scheme,
// or the address that a server listens on.
func hostURL(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	if u.Hostname() == "0.0.0.0" || u.Hostname() == "" {
		port := u.Port()
		if u.Host = "localhost"; port != "" {
			u.Host += ":" + port
		}
	}
	return strings.TrimSuffix(u.String(), "/")
}

func (w way) open() (provider.Provider, error) {
	key := w.key
	if w.service.KeyHeader != "" && key != "" {
		w.header[w.service.KeyHeader], key = key, ""
	}
	o := sse.Options{Name: w.service.Name, Model: w.model, BaseURL: w.base, APIKey: key, Header: w.header, IdleTimeout: w.idle}
	return adapterOf(w.service.Protocol).open(o)
}
