package cmd

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"strings"

	"kagent/pkg/provider"
	"kagent/pkg/provider/catalogue"
	"kagent/pkg/session"
)

// failureLine is a failure of a model's in one line: what, of which model, and what to
// do about it. The reason stands before it already.
func failureLine(s *session.State, reason session.Reason, f *session.Failure) string {
	text := oneLine(strings.TrimPrefix(f.Message, string(reason)+": "), 1000)
	from, said, ok := strings.Cut(text, ": "+f.Kind)
	if ok && f.Kind == string(reason) {
		text = from + said
	}
	if a := advice(s, f); a != "" {
		text += "; " + a
	}
	return text
}

// advice says what a user can do about a failure of a service's, "" where it is
// none's.
func advice(s *session.State, f *session.Failure) string {
	c, err := loadCatalogue()
	if err != nil {
		return ""
	}
	from, _, _ := strings.Cut(f.Message, ": ")
	name, model, _ := strings.Cut(from, "/")
	service, known := c.Service(name)
	if !known {
		return ""
	}
	own := name == firstService(c, s.Settings.Model) // what the session says of address and key is meant for it
	switch kind := provider.Kind(f.Kind); kind {
	case provider.Auth, provider.Permission:
		return keyAdvice(kind, f.Status, keyPlaces(service, s.Settings.APIKeyEnv, own))
	case provider.Quota:
		return "look at the plan and the billing of the account: waiting does not help"
	case provider.NotFound:
		if service.Protocol == "ollama" {
			return "`ollama pull " + model + "` fetches a model; is the address right? It is " + addressOf(service, s.Settings.BaseURL, own)
		}
		return "`kagent models " + name + "/` lists the models that are known; is the address right? It is " + addressOf(service, s.Settings.BaseURL, own)
	case provider.Network:
		if !strings.Contains(f.Message, "dial ") && !strings.Contains(f.Message, "lookup ") { // it was there, and went
			return "try again later"
		}
		return "is the address right, and reachable from here? It is " + addressOf(service, s.Settings.BaseURL, own)
	case provider.Timeout:
		return "--idle-timeout and --step-timeout give it longer"
	case provider.RateLimit, provider.Overloaded, provider.Server:
		if f.Status == http.StatusOK { // a page, and its message asks for the address
			return ""
		}
		return "try again later, or name another model too: --model A,B"
	case provider.ContextLength:
		return "--context-chars bounds what is sent, `kagent compact " + s.ID + "` sums it up"
	case provider.InvalidRequest:
		if f.Status >= http.StatusBadRequest {
			return "`kagent show " + s.ID + " --messages` tells what it was sent"
		}
	case provider.ContentFilter:
		return "another prompt may help"
	}
	return ""
}

func keyAdvice(kind provider.Kind, status int, places []string) string {
	where := strings.Join(places, " or ")
	set := false
	for _, p := range places {
		set = set || os.Getenv(p) != ""
	}
	switch {
	case status == http.StatusProxyAuthRequired:
		return "HTTPS_PROXY may hold them: http://NAME:PASSWORD@HOST:PORT"
	case where == "":
		return "name the variable that holds its key with --api-key-env"
	case !set:
		return "put its key into " + where + ", or name another variable with --api-key-env"
	case kind == provider.Permission:
		return "look what the key in " + where + " may do, or choose another model"
	}
	return "check the key in " + where
}

// keyPlaces are the variables that a service's key comes from.
func keyPlaces(service catalogue.Service, named string, own bool) []string {
	if named != "" && own {
		return []string{named}
	}
	return service.Keys
}

// addressOf is where a service is looked for, without anything secret.
func addressOf(service catalogue.Service, given string, own bool) string {
	if !own {
		given = ""
	}
	fromEnv := ""
	if service.BaseEnv != "" {
		fromEnv = hostURL(os.Getenv(service.BaseEnv))
	}
	u, err := url.Parse(cmp.Or(given, fromEnv, service.Base))
	if err != nil || u.Host == "" {
		return "not a valid one"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
