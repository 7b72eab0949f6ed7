package cmd

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"kagent/pkg/provider"
	"kagent/pkg/provider/catalogue"
	"kagent/pkg/session"
)

// longestLine is about how many characters a failure and the advice have: more
// nobody reads. The log and the result have all of it.
const longestLine = 480

// failureLine is a failure of a model's in one line: what, of which model, and what to
// do about it. The reason stands before it already.
func failureLine(s *session.State, reason session.Reason, f *session.Failure) string {
	text := oneLine(strings.TrimPrefix(f.Message, string(reason)+": "), 1000)
	from, said, ok := strings.Cut(text, ": "+f.Kind)
	if ok && f.Kind == string(reason) {
		text = from + said
	}
	a := advice(s, f)
	if a == "" {
		return text
	}
	return oneLine(strings.TrimSuffix(text, "."), max(longestLine-len(a), 200)) + "; " + a
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
	alone := *f
	alone.Message = deciding(c, f.Message)
	f = &alone
	own := name == firstService(c, s.Settings.Model) // what the session says of address and key is meant for it
	address := addressOf(service, s.Settings.BaseURL, own)
	switch kind := provider.Kind(f.Kind); kind {
	case provider.Auth, provider.Permission:
		return keyAdvice(kind, f.Status, keyPlaces(service, s.Settings.APIKeyEnv, own))
	case provider.Quota:
		return "look at the plan and the billing of the account: waiting does not help"
	case provider.NotFound:
		if lacking := lackingAdvice(strings.ToLower(f.Message)); lacking != "" {
			return lacking
		}
		if service.Protocol == "ollama" {
			return "`ollama pull " + model + "` fetches a model; is the address right? It is " + address
		}
		return notThere(c, name, model) + "`kagent models " + name + "/` lists the models that are known; is the address right? It is " + address
	case provider.Network, provider.Timeout:
		return wayAdvice(service, f, address)
	case provider.RateLimit, provider.Overloaded, provider.Server:
		if f.Status == http.StatusOK { // a page, and its message asks for the address
			return ""
		}
		return "try again later, or name another model too: --model A,B"
	case provider.ContextLength:
		return "--context-chars bounds what is sent, `kagent compact " + s.ID + "` sums it up"
	case provider.InvalidRequest:
		return requestAdvice(s, f, address)
	case provider.ContentFilter:
		return "another prompt may help"
	case provider.TooLarge:
		return "--max-output bounds a reply; another model, or another prompt, may help"
	}
	return ""
}

// deciding is the first of the failures of a chain, which is the one that the
// others follow: advice on it must not be on what another model said.
func deciding(c *catalogue.Catalogue, message string) string {
	parts := strings.SplitAfter(message, "; ")
	first := len(parts[0])
	for _, other := range parts[1:] {
		from, _, said := strings.Cut(other, ": ")
		service, _, slashed := strings.Cut(from, "/")
		if _, known := c.Service(service); said && slashed && known {
			return strings.TrimSuffix(message[:first], "; ")
		}
		first += len(other)
	}
	return message
}

// wayAdvice is for a service that was not reached, or that was lost.
func wayAdvice(service catalogue.Service, f *session.Failure, address string) string {
	switch {
	case strings.Contains(f.Message, ": the proxy "):
		return "HTTP_PROXY and HTTPS_PROXY name proxies, NO_PROXY what is reached without"
	case strings.Contains(f.Message, "can't be reached") && service.Protocol == "ollama":
		return "is Ollama running there? Its address is " + address
	case strings.Contains(f.Message, "can't be reached"):
		return "is the address of " + service.Name + " right, and reachable from here? It is " + address
	case f.Kind == string(provider.Timeout) && f.Status == 0:
		return "--idle-timeout and --step-timeout give it longer"
	}
	return "try again later"
}

// requestAdvice is for a request that a service does not accept. What was refused
// before anything was sent, a certificate say, has its advice already.
func requestAdvice(s *session.State, f *session.Failure, address string) string {
	text := strings.ToLower(f.Message)
	switch {
	case strings.Contains(text, " redirects to "):
		return "if that is the right one, give it with --base-url in the place of " + address
	case f.Status >= 300 && f.Status < 400:
		return "is the address right? It is " + address
	case f.Status < http.StatusBadRequest:
		return ""
	case strings.Contains(text, "http request") && strings.Contains(text, "https"):
		return "is the address https://? It is " + address
	case strings.Contains(text, "does not support tools"):
		return toolless
	}
	if option := refusedOption(s.Settings.Sampling, text); option != "" {
		return option
	}
	return "`kagent show " + s.ID + " --messages` tells what it was sent"
}

// toolless is for a model that is offered tools and can't use any.
const toolless = "choose a model that does, or offer it none: --tools none"

// lackingAdvice is for a model that is there, but with no provider behind the
// gateway that takes such a request: neither its name nor the address is wrong.
// text is the failure's, in lower case.
func lackingAdvice(text string) string {
	_, want, lacking := strings.Cut(text, "no endpoints found that ")
	switch {
	case lacking && strings.Contains(want, "tool"):
		return toolless
	case lacking:
		return "choose a model that does, or name another too: --model A,B"
	}
	return ""
}

// refusedOption says what to do about an option that a service does not accept:
// one that was given, and that its words, in lower case, name.
func refusedOption(given session.Sampling, text string) string {
	names := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	switch {
	case given.Effort != "" && names("effort", "thinking", "reasoning"):
		others := slices.DeleteFunc(efforts(), func(e string) bool { return e == given.Effort })
		return "--effort '' leaves it to the service, else try --effort " + strings.Join(others, " or ")
	case given.Temperature != nil && names("temperature"):
		return "--temperature '' leaves it to the service, else try another"
	case given.MaxOutput > 0 && names("max_tokens", "max_output", "max_completion", "maxoutput", "num_predict", "max tokens", "output tokens"):
		return "--max-output 0 leaves it to the service, else try a smaller one"
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
	case kind == provider.Auth && status == http.StatusForbidden:
		return "check the key in " + where + ", and which models it may use"
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
