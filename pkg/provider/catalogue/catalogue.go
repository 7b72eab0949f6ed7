package catalogue

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kagent/pkg/message"
)

var (
	//go:embed models.json
	modelData []byte
	//go:embed services.json
	serviceData []byte
)

// Model is what is known of a model, by its full name "service/model".
type Model struct {
	Name      string `json:"name"`
	Window    int    `json:"window"`    // tokens of a request and its reply; 0: unknown
	MaxOutput int    `json:"maxOutput"` // tokens of a reply that services default to; 0: unknown
	Price     *Price `json:"price"`     // nil: unknown
}

// Price is in US dollars per million tokens.
type Price struct {
	Input      float64 `json:"input" yaml:"input"`
	Output     float64 `json:"output" yaml:"output"`
	CacheRead  float64 `json:"cacheRead" yaml:"cache_read"`
	CacheWrite float64 `json:"cacheWrite" yaml:"cache_write"`
}

// Cost is what so many tokens cost, in US dollars.
func (p Price) Cost(u message.Usage) float64 {
	fresh := max(u.Input-u.CacheRead-u.CacheWrite, 0)
	return (float64(fresh)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite + float64(u.Output)*p.Output) / 1e6
}

// Service is a way to models.
type Service struct {
	Name      string   `json:"name"`
	Protocol  string   `json:"protocol"`            // openai-chat, openai-responses, anthropic, gemini or ollama
	Base      string   `json:"base"`                // "": has to be given
	BaseEnv   string   `json:"baseEnv,omitempty"`   // variable that holds another base
	Keys      []string `json:"keys"`                // variables that may hold the key
	Keyless   bool     `json:"keyless,omitempty"`   // it may need none
	KeyHeader string   `json:"keyHeader,omitempty"` // "": as the protocol has it
	As        string   `json:"as,omitempty"`        // the service whose models these are
}

// Catalogue holds what is known. It is not changed once it is made. Of the
// built-in models only those that are asked for are read: all of them take as
// long as the start of a program.
type Catalogue struct {
	user     map[string]said // by the user's file
	services []Service
}

// New reads what a user's file says above what is built in: nil for none. file
// names it in errors.
func New(file string, user []byte) (*Catalogue, error) {
	c := &Catalogue{user: map[string]said{}}
	if err := json.Unmarshal(serviceData, &c.services); err != nil {
		return nil, fmt.Errorf("the built-in services: %w", err)
	}
	return c, c.override(file, user)
}

// Built returns the built-in models, and which source of which date they are
// made of.
func Built() (source, date string, models []Model) {
	var built struct {
		Source, Date string
		Models       []row
	}
	_ = json.Unmarshal(modelData, &built) // a test reads it too
	for _, r := range built.Models {
		models = append(models, Model(r))
	}
	return built.Source, built.Date, models
}

// builtIn finds a model in its line.
func builtIn(name string) (Model, bool) {
	quoted, err := json.Marshal(name)
	if err != nil {
		return Model{}, false
	}
	_, line, ok := bytes.Cut(modelData, append([]byte("\n["), append(quoted, ',')...))
	if !ok {
		return Model{}, false
	}
	line, _, _ = bytes.Cut(line, []byte("]"))
	var r row
	err = json.Unmarshal(slices.Concat([]byte("["), quoted, []byte(","), line, []byte("]")), &r)
	return Model(r), err == nil
}

// row is a model as models.json has it.
type row Model

func (r *row) UnmarshalJSON(b []byte) error {
	var p Price
	fields := []any{&r.Name, &r.Window, &r.MaxOutput, &p.Input, &p.Output, &p.CacheRead, &p.CacheWrite}
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	r.Price = p.whole()
	return nil
}

// whole fills in what is not known of a price: what concerns a cache costs what
// input does.
func (p Price) whole() *Price {
	if p.CacheRead == 0 {
		p.CacheRead = p.Input
	}
	if p.CacheWrite == 0 {
		p.CacheWrite = p.Input
	}
	return &p
}

// Model returns what is known of a model by its full name.
func (c *Catalogue) Model(name string) (Model, bool) {
	m, ok := c.below(name)
	m.Name = name
	if said, ok := c.user[name]; ok {
		return said.over(m), true
	}
	return m, ok
}

// below is what is known of a model beside what the user says of this very name.
func (c *Catalogue) below(name string) (Model, bool) {
	if m, ok := builtIn(name); ok {
		return m, true
	}
	service, rest, _ := strings.Cut(name, "/")
	if s, ok := c.Service(service); ok && s.As != "" {
		if m, ok := c.Model(s.As + "/" + rest); ok {
			return m, true
		}
	}
	if dated, ok := c.snapshot(name); ok {
		return c.Model(dated)
	}
	return Model{}, false
}

// Lacks names the field that is missing in what a user says of a model's price, so
// that it is not known; "" if nothing is said of it.
func (c *Catalogue) Lacks(name string) string {
	m, _ := c.below(name)
	return c.user[name].lacks(m)
}

// Cost is what a reply of a model cost in US dollars, nil if its price is not
// known.
func (c *Catalogue) Cost(name string, u message.Usage) *float64 {
	m, ok := c.Model(name)
	if !ok || m.Price == nil {
		return nil
	}
	cost := m.Price.Cost(u)
	return &cost
}

// Service returns a service by name.
func (c *Catalogue) Service(name string) (Service, bool) {
	i := slices.IndexFunc(c.services, func(s Service) bool { return s.Name == name })
	if i < 0 {
		return Service{}, false
	}
	return c.services[i], true
}

// Services lists the services.
func (c *Catalogue) Services() []Service { return slices.Clone(c.services) }

// Models lists all models, by name.
func (c *Catalogue) Models() []Model {
	_, _, all := Built()
	all = slices.DeleteFunc(all, func(m Model) bool { _, said := c.user[m.Name]; return said })
	for name := range c.user {
		m, _ := c.Model(name)
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Resolve returns the full names of the models that a service calls by this
// name.
func (c *Catalogue) Resolve(bare string) []string {
	var out, undated []string
	for _, m := range c.Models() {
		switch service, rest, _ := strings.Cut(m.Name, "/"); {
		case rest == bare:
			out = append(out, m.Name)
		case isSnapshot(rest, bare):
			undated = append(undated, service+"/"+bare)
		}
	}
	if out == nil {
		return slices.Compact(undated)
	}
	return out
}
