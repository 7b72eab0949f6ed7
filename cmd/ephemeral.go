package cmd

import (
	"os"

	"github.com/spf13/cobra"
)

// private gives the run a directory of its own for its session, which the
// function that it returns removes.
func (a *app) private(c *cobra.Command) (remove func(), err error) {
	if c.Flags().Changed("dir") {
		return nil, usageErrorf("give the one or the other", "--ephemeral and --dir exclude each other")
	}
	if c.Flags().Changed("if-exists") {
		return nil, usageErrorf("leave one of them out", "--ephemeral keeps no session that --if-exists could find")
	}
	dir, err := os.MkdirTemp("", "kagent-")
	if err == nil {
		err = os.Chmod(dir, 0o700) // whatever the umask
	}
	if err != nil {
		return nil, usageErrorf("set TMPDIR to a directory that can be written to", "--ephemeral: %v", cause(err))
	}
	a.dir, a.ephemeral = dir, true
	remove = func() { os.RemoveAll(dir) }
	a.signals.atOnce.Store(remove)
	return remove, nil
}
