package cmd

import (
	"runtime"

	"github.com/spf13/cobra"
)

// version is written into every session, so that a newer log can be told.
const version = "0.1.0"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Example: "  kagent version\n  kagent version -o json | jq -r .go",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.readFormat(c); err != nil {
				return err
			}
			if a.format == "json" {
				a.out.json(map[string]string{"version": version, "go": runtime.Version()})
				return nil
			}
			a.out.text("kagent " + version)
			return nil
		},
	}
}

// usageArgs makes cobra's complaint a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usageErrorf("see `"+c.CommandPath()+" --help`", "%s", err)
		}
		return nil
	}
}
