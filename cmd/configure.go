package cmd

import "github.com/spf13/cobra"

func (a *app) configure(c *cobra.Command, res *result, only func(string) bool) error {
	return a.checkFormat("text", "json", "jsonl")
}
func (a *app) common(name string) bool { return true }
