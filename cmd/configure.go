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
	return config.Warnings, config.Fill(c.Flags(), only)
}

// common lets through the settings that belong to no session.
func common(name string) bool {
	return name == "dir" || name == "output"
}
