package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kagent/pkg/provider/catalogue"
	"kagent/pkg/session"
)

// leaveService forgets how the service was reached that the session had before,
// unless that is given anew: another one's key must not be sent there. Where that
// service is still to be asked, what it is told is not for its usual address either.
func (r *reopening) leaveService(s *session.Settings, before string) error {
	old, now := serviceOf(before), serviceOf(s.Model)
	if r.left = nil; old == "" || old == now {
		return nil
	}
	c, err := loadCatalogue()
	if err != nil {
		return err
	}
	keeps := s.BaseURL != "" && !r.given("base-url")
	if keeps && laterOf(c, s.Model, old) {
		return usageErrorf("give --base-url (or --base-url '' for its usual address)", "the session's address is that of %s, which is no longer first", old)
	}
	if sharesKey(c, old, now) || keeps && compatible(c, *s, old, now) {
		return nil
	}
	if flags := r.forget(s); len(flags) > 0 {
		r.left = []string{fmt.Sprintf("%s of the session was meant for %s and no longer applies: give it anew if %s needs it%s",
			strings.Join(flags, ", "), old, cmp.Or(now, s.Model), askedAt(c, *s, now))}
	}
	return nil
}

// forget drops what was said of the old service, and names the flags that said it.
func (r *reopening) forget(s *session.Settings) (flags []string) {
	drop := func(flag string, held bool, do func()) {
		if held && !r.given(flag) {
			do()
			flags = append(flags, "--"+flag)
		}
	}
	drop("base-url", s.BaseURL != "", func() { s.BaseURL = "" })
	drop("api-key-env", s.APIKeyEnv != "", func() { s.APIKeyEnv = "" })
	drop("header", len(s.Headers) > 0, func() { s.Headers = nil })
	return flags
}

// laterOf reports whether a service is in a chain, but behind the first.
func laterOf(c *catalogue.Catalogue, model, service string) bool {
	first := true
	for _, name := range chainOf(model) {
		other := serviceOf(name)
		if other != "" && !first && (other == service || sharesKey(c, other, service)) {
			return true
		}
		first = first && other == ""
	}
	return false
}

// sharesKey reports whether two services are of one vendor, by protocols of their own.
func sharesKey(c *catalogue.Catalogue, a, b string) bool {
	one, _ := c.Service(a)
	other, _ := c.Service(b)
	return len(one.Keys) > 0 && slices.Equal(one.Keys, other.Keys)
}

// compatible reports whether one is the service that is whatever its address is,
// and no key that is meant for another address would be sent to this one.
func compatible(c *catalogue.Catalogue, s session.Settings, old, now string) bool {
	service, known := c.Service(now)
	_, key := keyOf(service, "")
	return known && (old == "openai-compatible" || now == "openai-compatible") && (s.APIKeyEnv != "" || key == "")
}

// askedAt says where requests go now: "" where they go nowhere.
func askedAt(c *catalogue.Catalogue, s session.Settings, now string) string {
	if service, known := c.Service(now); known {
		return fmt.Sprintf("; %s is asked at %s", now, addressOf(service, s.BaseURL, true))
	}
	return ""
}
