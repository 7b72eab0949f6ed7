package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kagent/pkg/provider"
	"kagent/pkg/provider/catalogue"
	"kagent/pkg/provider/demo"
	"kagent/pkg/provider/script"
	"kagent/pkg/session"
)

const modelForms = "SERVICE/NAME (`kagent models` lists services), a bare NAME that only one service has, script:FILE, demo; several between commas are a fallback chain"

// loadCatalogue reads what is known of models, and what the user's own file
// says of them.
func loadCatalogue() (*catalogue.Catalogue, error) {
	path := userConfigPath()
	if path == "" {
		return catalogue.New("", nil)
	}
	path = filepath.Join(filepath.Dir(path), "models.yaml")
	said, err := readRegular(path, configLimit)
	if err != nil && !absent(err) {
		return nil, usageErrorf("make it readable or remove it", "models file %s: %v", path, cause(err))
	}
	c, err := catalogue.New(path, said)
	if err != nil {
		return nil, usageErrorf("see `kagent help models`", "%v", err)
	}
	return c, nil
}

// chainOf splits what --model says at its commas; a script's name may hold some.
func chainOf(model string) []string {
	if file, ok := strings.CutPrefix(model, "script:"); ok {
		if _, err := os.Stat(file); err == nil {
			return []string{model}
		}
	}
	var chain []string
	for _, name := range strings.Split(model, ",") {
		chain = append(chain, strings.TrimSpace(name))
	}
	return chain
}

// resolveModels gives each model of a chain its full name, and a script's path
// one that does not depend on where a resume is started.
func resolveModels(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	c, err := loadCatalogue()
	if err != nil {
		return "", err
	}
	chain := chainOf(text)
	for i, name := range chain {
		if chain[i], err = resolveModel(c, name); err != nil {
			return "", err
		}
	}
	return strings.Join(chain, ","), nil
}

func resolveModel(c *catalogue.Catalogue, name string) (string, error) {
	if file, ok := strings.CutPrefix(name, "script:"); ok {
		if file == "" {
			return "", usageErrorf("want script:FILE", "model %q names no file", name)
		}
		abs, err := filepath.Abs(file)
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		return "script:" + abs, nil
	}
	service, rest, slashed := strings.Cut(name, "/")
	if _, known := c.Service(service); name == "demo" || slashed && known && rest != "" {
		return name, nil
	}
	switch found := c.Resolve(name); {
	case name == "":
		return "", usageErrorf("want "+modelForms, "a model's name is empty")
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", usageErrorf("name one: "+strings.Join(found, ", "), "model %q is offered by several services", oneLine(name, 80))
	case slashed && rest != "":
		return "", usageErrorf(serviceHint(c, service, rest), "model %q: there is no service %q", oneLine(name, 80), oneLine(service, 80))
	}
	return "", usageErrorf(modelHint(c, name), "model %q is not known", oneLine(name, 80))
}

func serviceNames(c *catalogue.Catalogue) []string {
	var names []string
	for _, s := range c.Services() {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// noModel is the error where no model is named: a variable that was to name it may
// be misspelt.
func noModel(environ []string) error {
	const hint = "set one with --model, KAGENT_MODEL or `model:` in the configuration file; `--model demo` works offline"
	if stray := misspelt(environ, "model"); stray != "" {
		return usageErrorf(hint, "no model configured, and %s", stray)
	}
	return usageErrorf(hint, "no model configured")
}

// newProvider makes the way to the session's model, or chain of models.
func newProvider(s session.Settings) (provider.Provider, error) { return providerOf(s, s.Model) }

// providerOf makes the way to a model of the session, its own or one of a profile.
// Keys come from the environment at each start and are kept nowhere else.
func providerOf(s session.Settings, model string) (provider.Provider, error) {
	if model == "" {
		return nil, noModel(os.Environ())
	}
	c, err := loadCatalogue()
	if err != nil {
		return nil, err
	}
	if firstService(c, s.Model) == "" {
		s.Model = model // address and key are for the first that has a use for them
	}
	var links []provider.Link
	for _, name := range chainOf(model) {
		p, err := oneModel(c, s, name)
		if err != nil {
			return nil, err
		}
		p = provider.StepTimeout(p, name, time.Duration(s.StepTimeout))
		p = provider.Retry(p, provider.RetryOptions{Retries: s.Retries, MaxWait: time.Duration(s.RetryMaxWait)})
		links = append(links, provider.Link{Name: name, Provider: p})
	}
	return provider.Fallback(links...), nil
}

func oneModel(c *catalogue.Catalogue, s session.Settings, name string) (provider.Provider, error) {
	if name == "demo" {
		return demo.New(), nil
	}
	if file, ok := strings.CutPrefix(name, "script:"); ok {
		p, err := script.Load(file)
		if err != nil {
			return nil, usageErrorf("see `kagent help script`", "%v", err)
		}
		return p, nil
	}
	w, err := wayTo(c, s, name)
	if err != nil {
		return nil, err
	}
	p, err := w.open()
	if err != nil {
		return nil, usageErrorf("see `kagent run --help`", "%v", err)
	}
	return p, nil
}

// windows says how many tokens a model takes, of a chain the one that takes the
// fewest; 0 where that is not known.
func windows(c *catalogue.Catalogue) func(model string) int {
	return func(model string) int {
		least := 0
		for _, name := range chainOf(model) {
			if m, known := c.Model(name); known && m.Window > 0 && (least == 0 || m.Window < least) {
				least = m.Window
			}
		}
		return least
	}
}
