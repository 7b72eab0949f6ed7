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
	Models map[string]said `yaml:"models"`
}

// said is what a user says of a model. What is nil is not said.
type said struct {
	Window    *int       `yaml:"window"`
	MaxOutput *int       `yaml:"max_output"`
	Price     *saidPrice `yaml:"price"`
}

type saidPrice struct {
	Input      *float64 `yaml:"input"`
	Output     *float64 `yaml:"output"`
	CacheRead  *float64 `yaml:"cache_read"`
	CacheWrite *float64 `yaml:"cache_write"`
}

// over is a model with what is said of it above what is known.
func (s said) over(m Model) Model {
	set(&m.Window, s.Window)
	set(&m.MaxOutput, s.MaxOutput)
	if s.Price != nil && s.lacks(m) == "" {
		m.Price = s.Price.over(m.Price)
	}
	return m
}

// lacks names the field without which a price is not known, if it is neither said
// nor built in.
func (s said) lacks(m Model) string {
	switch {
	case m.Price != nil || s.Price == nil:
		return ""
	case s.Price.Input == nil:
		return "input"
	case s.Price.Output == nil:
		return "output"
	}
	return ""
}

// over fills in what is not said of a price. What concerns a cache goes on to cost
// what input does where nothing better is known.
func (s saidPrice) over(known *Price) *Price {
	var p Price
	if known != nil {
		p = *known
	}
	read, write := p.CacheRead == p.Input, p.CacheWrite == p.Input
	set(&p.Input, s.Input)
	set(&p.Output, s.Output)
	if read {
		p.CacheRead = p.Input
	}
	if write {
		p.CacheWrite = p.Input
	}
	set(&p.CacheRead, s.CacheRead)
	set(&p.CacheWrite, s.CacheWrite)
	return &p
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// wrong says what nobody would believe of it.
func (s said) wrong(name string) error {
	if p := s.Price; p != nil {
		for _, n := range []*float64{p.Input, p.Output, p.CacheRead, p.CacheWrite} {
			if n != nil && !(*n >= 0 && *n <= maxPrice) { // nor is NaN one
				return fmt.Errorf("model %q: %v is no price for a million tokens", name, *n)
			}
		}
	}
	m := s.over(Model{})
	if m.Window < 0 || m.MaxOutput < 0 || !strings.Contains(name, "/") {
		return fmt.Errorf("model %q: want service/model, and numbers of at least 0", name)
	}
	return nil
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
		if err := f.Models[name].wrong(name); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		c.user[name] = f.Models[name]
	}
	return nil
}

// Protocols are the wire protocols that there are adapters for.
func Protocols() []string {
	return []string{"openai-chat", "openai-responses", "anthropic", "gemini", "ollama"}
}
