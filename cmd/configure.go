package cmd

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// configure fills the flags that the command line left alone from the
// environment and the files; only says which ones may be filled, nil: all, and
// the project's file too. It returns warnings for people.
func (a *app) configure(c *cobra.Command, only func(name string) bool) ([]string, error) {
	known := knownFlags(c.Root())
	config, err := LoadConfig(ConfigSource{Context: a.signals.ctx, File: a.cfgFile, Profile: a.profile, Known: known, Alone: only != nil})
	if err != nil {
		return nil, err
	}
	given := c.Flags().Changed("dir") // by the command line
	if err := config.Fill(c.Flags(), only); err != nil {
		return nil, err
	}
	if a.dir == "" {
		return nil, usageErrorf("name a directory", "--dir is empty")
	}
	a.namedDir = given
	a.origin = config.Origin
	a.limits = config.limits(c.Flags())
	return append(config.Warnings, strayVariables(os.Environ(), c.Flags(), known, only)...), nil
}

// sourced adds to an error about a flag where its value is from, if nobody gave it
// on the command line.
func (a *app) sourced(err error) error {
	u, ok := err.(*UsageError)
	if !ok || a.origin == nil {
		return err
	}
	name, _, _ := strings.Cut(u.Message, " ")
	if name != "model" && !strings.HasPrefix(name, "--") {
		return err
	}
	source := a.origin(strings.TrimSuffix(strings.TrimPrefix(name, "--"), ":"))
	if source == "" {
		return err
	}
	return &UsageError{Message: u.Message + " (set by " + source + ")", Hint: u.Hint}
}

// configureDir is configure for the commands that run no agent; they have no
// other place for warnings than stderr.
func (a *app) configureDir(c *cobra.Command) error {
	warnings, err := a.configure(c, onlyDir)
	for _, w := range warnings {
		a.say("warning: %s", w)
	}
	return err
}

// checkDir warns of a directory that was named and is not there, which may be
// misspelt, where that means no more than that there are no sessions.
func (a *app) checkDir() {
	if _, err := os.Stat(a.dir); a.namedDir && errors.Is(err, fs.ErrNotExist) {
		a.say("warning: --dir %s does not exist: there are no sessions in it", a.dir)
	}
}

// onlyDir lets through what the commands that run no agent may be configured
// with. A form of output that suits a run may not suit a list: see readFormat.
func onlyDir(name string) bool { return name == "dir" || name == "output" }

// display lets through, beside it, how a run is shown.
func display(name string) bool {
	return onlyDir(name) || slices.Contains([]string{"quiet", "stream", "allow-partial", "wait-limit", "verbose", "log-file"}, name)
}

// readFormat settles the form of a command that knows text and json: jsonl,
// where it was only configured, is json for it.
func (a *app) readFormat(c *cobra.Command) error {
	if a.format == "jsonl" && !c.Flags().Changed("output") {
		a.format = "json"
	}
	return a.checkFormat("text", "json")
}

// configuredFormat is the form of an error that came before the configuration
// could be read.
func configuredFormat() string { return os.Getenv(envName("output")) }
