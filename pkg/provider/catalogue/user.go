package catalogue

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"kagent/pkg/secret"
	"kagent/pkg/userfile"
)

// userFile is what a user may say: services and models that are not built in,
// or better numbers of those that are.
type userFile struct {
	Services map[string]struct {
		Protocol string   `yaml:"protocol"`
		Base     string   `yaml:"base"`
		Keys     []string `yaml:"keys"`
		Keyless  bool     `yaml:"keyless"`
	} `yaml:"services"`
	Models map[string]struct {
		Window    *int   `yaml:"window"`
		MaxOutput *int   `yaml:"max_output"`
		Price     *Price `yaml:"price"`
	} `yaml:"models"`
}

// hasSecret reports whether an address lets somebody in. What can't be read as one
// is shown nowhere, and refused when it is used.
func hasSecret(base string) bool {
	u, err := url.Parse(strings.TrimSpace(base))
	return err != nil && strings.ContainsAny(base, "@?") || err == nil && secret.InAddress(u) != nil
}

// maxPrice is the largest price in dollars that is believed; sums of costs stay
// numbers that JSON can hold.
const maxPrice = 1e6

func (c *Catalogue) override(file string, user []byte) error {
	var f userFile
	if err := userfile.YAML(user, &f, true); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Services)) {
		s := f.Services[name]
		switch {
		case name == "" || strings.ContainsAny(name, "/, "):
			return fmt.Errorf("%s: service %q: a name has no slash, comma or blank", file, name)
		case !slices.Contains(Protocols(), s.Protocol):
			return fmt.Errorf("%s: service %q: protocol %q is not known; want %s", file, name, s.Protocol, strings.Join(Protocols(), ", "))
		case s.Base == "":
			return fmt.Errorf("%s: service %q has no base", file, name)
		case hasSecret(s.Base):
			return fmt.Errorf("%s: service %q: base must not hold a key, a user or a password: put the secret into a variable and name it under keys", file, name)
		case slices.ContainsFunc(s.Keys, func(key string) bool { return !secret.IsVariable(key) }):
			return fmt.Errorf("%s: service %q: keys are names of variables, not what they hold", file, name)
		}
		c.services = slices.DeleteFunc(c.services, func(o Service) bool { return o.Name == name })
		c.services = append(c.services, Service{Name: name, Protocol: s.Protocol, Base: s.Base, Keys: s.Keys, Keyless: s.Keyless || len(s.Keys) == 0})
	}
	for _, name := range slices.Sorted(maps.Keys(f.Models)) {
		m := f.Models[name]
		known, _ := c.Model(name)
		known.Name = name
		if m.Window != nil {
			known.Window = *m.Window
		}
		if m.MaxOutput != nil {
			known.MaxOutput = *m.MaxOutput
		}
		if p := m.Price; p != nil {
			for _, n := range []float64{p.Input, p.Output, p.CacheRead, p.CacheWrite} {
				if !(n >= 0 && n <= maxPrice) { // nor is NaN one
					return fmt.Errorf("%s: model %q: %v is no price for a million tokens", file, name, n)
				}
			}
			known.Price = p.whole()
		}
		if known.Window < 0 || known.MaxOutput < 0 || !strings.Contains(name, "/") {
			return fmt.Errorf("%s: model %q: want service/model, and numbers of at least 0", file, name)
		}
		c.user[name] = known
	}
	return nil
}

// Protocols are the wire protocols that there are adapters for.
func Protocols() []string {
	return []string{"openai-chat", "openai-responses", "anthropic", "gemini", "ollama"}
}
