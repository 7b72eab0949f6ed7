package cmd

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed schemas/*.json
var schemaFiles embed.FS

func schemaNames() []string { return []string{"result", "event", "delta", "checkpoint", "step"} }

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema " + strings.Join(schemaNames(), "|"),
		Short:     "print the JSON Schema of what kagent writes",
		Example:   "  kagent schema result > result.schema.json",
		ValidArgs: schemaNames(),
		Args:      usageArgs(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := schemaFiles.ReadFile("schemas/" + args[0] + ".json")
			if err != nil {
				return err
			}
			a.out.text(string(b))
			return nil
		},
	}
}
