package cmd

import (
	"fmt"
	"os"
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
			"unknown, not 0. --services lists the services, where they are, and which variables hold their keys.\n\n" +
			"$XDG_CONFIG_HOME/kagent/models.yaml adds to them and overrides them:\n\n" +
			"  services:\n    mine: {protocol: openai-chat, base: \"http://localhost:9000/v1\", keys: [MY_KEY]}\n" +
			"  models:\n    mine/big: {window: 200000, price: {input: 1, output: 5, cache_read: 0.1}}\n\n" +
			"protocols are " + strings.Join(catalogue.Protocols(), ", "),
		Example: "  kagent models claude\n  kagent models -o json | jq '.[] | select(.price.input < 1).name'\n  kagent models --services",
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
		return a.listServices(c.Services())
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
		a.say("no model is known whose name contains %q; it may be there all the same", text)
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
	a.say("built in: %s of %s", source, date)
	return w.Flush()
}

func (a *app) listServices(all []catalogue.Service) error {
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
			if _, set := keyOf(s, ""); set != "" {
				key = strings.Join(s.Keys, " or ") + " (set)"
			}
		}
		base := s.Base
		if s.BaseEnv != "" && os.Getenv(s.BaseEnv) != "" {
			base = "by " + s.BaseEnv
		} else if base == "" {
			base = "by --base-url"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, s.Protocol, key, base)
	}
	return w.Flush()
}

func dollars(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func tokens(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}
