package cmd

import (
	"strings"

	"github.com/spf13/cobra"
)

// strictHelp makes `help` refuse what there is no help for; cobra's own prints
// the usage and calls that success.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Run, c.RunE = nil, help
			c.Example = "  kagent help run\n  kagent help exit-codes"
		}
	}
}

func help(c *cobra.Command, args []string) error {
	topic, rest, err := c.Root().Find(args)
	if err != nil || len(rest) > 0 {
		hint := "see `kagent help`"
		topic.SuggestionsMinimumDistance = 2
		if near := topic.SuggestionsFor(args[len(args)-1]); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "?"
		}
		return usageErrorf(hint, "there is no help for %q", oneLine(strings.Join(args, " "), 80))
	}
	topic.InitDefaultHelpFlag()
	topic.InitDefaultVersionFlag()
	return topic.Help()
}

// exampledCompletion gives cobra's own command examples.
func exampledCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Example = "  kagent completion bash > kagent.bash"
		for _, shell := range c.Commands() {
			shell.Example = "  kagent completion " + shell.Name() + " > kagent." + shell.Name()
		}
	}
}
