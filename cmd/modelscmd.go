package cmd

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"kagent/pkg/provider/catalogue"
)

func (a *app) modelsCommand() *cobra.Command {
	var services bool
	c := &cobra.Command{
		Use:   "models [TEXT]",
		Short: "list the models that are known, with windows and prices",
		Long: "models lists models that are known by name, or those whose name contains TEXT: their window and output\n" +
			"limit in tokens, and their prices in US dollars per million tokens. Others can be used too: their price is\n" +
			"unknown, not 0. --services lists the services, where they are, and which variables hold their keys; or those\n" +
			"whose name contains TEXT.\n\n" +
			"$XDG_CONFIG_HOME/kagent/models.yaml adds to them and overrides them:\n\n" +
			"  services:\n    mine: {protocol: openai-chat, base: \"http://localhost:9000/v1\", keys: [MY_KEY]}\n" +
			"  models:\n    mine/big: {window: 200000, price: {input: 1, output: 5, cache_read: 0.1}}\n\n" +
			"protocols are " + strings.Join(catalogue.Protocols(), ", "),
		Example: "  kagent models claude\n  kagent models -o json | jq '.[] | select(.price.input < 1).name'\n  kagent models anthropic/\n  kagent models --services",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := a.configure(c, nil); err != nil {
				return err
			}
			if err := a.checkFormat("text", "json"); err != nil {
				return err
			}
			return a.listModels(strings.Join(args, ""), services)
		},
	}
	c.Flags().BoolVar(&services, "services", false, "list the services instead")
	return c
}

func (a *app) listModels(text string, services bool) error {
	c, err := loadCatalogue()
	if err != nil {
		return err
	}
	if services {
		return a.listServices(c.Services(), text)
	}
	found := []catalogue.Model{}
	for _, m := range c.Models() {
		if strings.Contains(strings.ToLower(m.Name), strings.ToLower(text)) {
			found = append(found, m)
		}
	}
	if a.format == "json" {
		a.out.json(found)
		return nil
	}
	if len(found) == 0 {
		a.say("%s", noModels(c, text))
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "MODEL\tWINDOW\tOUTPUT\t$ IN\t$ OUT\t$ CACHED")
	for _, m := range found {
		in, out, cached := "-", "-", "-"
		if m.Price != nil {
			in, out, cached = dollars(m.Price.Input), dollars(m.Price.Output), dollars(m.Price.CacheRead)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, tokens(m.Window), tokens(m.MaxOutput), in, out, cached)
	}
	source, date, _ := catalogue.Built()
	a.say("windows and outputs in tokens, prices in US dollars per million tokens; built in: %s of %s", source, date)
	return w.Flush()
}

// noModels says why none is listed.
func noModels(c *catalogue.Catalogue, text string) string {
	service, model, slashed := strings.Cut(text, "/")
	if _, known := c.Service(service); slashed && known {
		return "no model of " + service + " is known by such a name; it can be used all the same, its price is unknown"
	}
	none := fmt.Sprintf("no model is known whose name contains %q", oneLine(text, 80))
	switch near := nearServices(c, service); {
	case slashed && near != nil:
		for i := range near {
			near[i] += "/" + model
		}
		return none + "; " + meant(near)
	case slashed:
		return none + "; `kagent models --services` lists the services"
	}
	if near := nearModels(c.Models(), text); len(near) > 0 {
		return none + "; " + meant(near)
	}
	return none + "; a service may have it all the same"
}

func (a *app) listServices(all []catalogue.Service, text string) error {
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
		if all[i].Keys == nil {
			all[i].Keys = []string{} // a list to whoever reads it as JSON
		}
	}
	text = strings.TrimSuffix(strings.ToLower(text), "/")
	all = slices.DeleteFunc(all, func(s catalogue.Service) bool { return !strings.Contains(s.Name, text) })
	if len(all) == 0 {
		hint := "models.yaml can add one, see `kagent models --help`"
		if near := nearest(text, names); near != nil {
			hint = meant(near)
		}
		a.say("there is no service whose name contains %q; %s", oneLine(text, 80), hint)
	}
	if len(all) == 0 && a.format == "text" {
		return nil
	}
	if a.format == "json" {
		a.out.json(all)
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "SERVICE\tPROTOCOL\tKEY\tADDRESS")
	for _, s := range all {
		key := "none needed"
		if len(s.Keys) > 0 {
			key = strings.Join(s.Keys, " or ") + " (not set)"
			if s.Keyless {
				key = strings.Join(s.Keys, " or ") + " (if it wants one)"
			}
			if _, set := keyOf(s, ""); set != "" {
				key = strings.Join(s.Keys, " or ") + " (set)"
			}
		}
		base := s.Base
		if s.BaseEnv != "" && os.Getenv(s.BaseEnv) != "" {
			base = "by " + s.BaseEnv
		} else if base == "" {
			base = "by " + baseGivers(s)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, s.Protocol, key, base)
	}
	return w.Flush()
}

// baseGivers say where a service is that has no address of its own.
func baseGivers(s catalogue.Service) string {
	if s.BaseEnv != "" {
		return "--base-url or " + s.BaseEnv
	}
	return "--base-url"
}

// dollars drops what is no price but how numbers are stored: 0.09999999999999999.
func dollars(x float64) string {
	text := strconv.FormatFloat(x, 'f', 6, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func tokens(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}
