package cmd

import "github.com/spf13/cobra"

// configure fills the flags that the command line left alone from the
// environment and the files; only says which ones may be filled, nil: all. It
// returns warnings for people.
func (a *app) configure(c *cobra.Command, only func(name string) bool) ([]string, error) {
	config, err := LoadConfig(ConfigSource{File: a.cfgFile, Profile: a.profile, Known: knownFlags(c.Root())})
	if err != nil {
		return nil, err
	}
	err = config.Fill(c.Flags(), only)
	return config.Warnings, err
}

// onlyDir lets through what the commands that run no agent may be configured
// with: a form of output that suits a run may not suit a list.
func onlyDir(name string) bool { return name == "dir" }

// display lets through, beside it, how a run is shown.
func display(name string) bool {
	return name == "dir" || name == "output" || name == "quiet" || name == "stream"
}
