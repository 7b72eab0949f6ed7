package cmd

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"kagent/pkg/checkpoint"
)

func (a *app) exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export ID|PREFIX [FILE]",
		Short: "write a session into one file",
		Long: "export writes a session with all that belongs to it, its log, its checkpoint and its artifacts, into one file\n" +
			"with checksums: a tar archive that `kagent import` takes elsewhere. Without FILE it goes to stdout. The session\n" +
			"is only read, and may be running. The file holds what the model and the tools said: treat it like the session.",
		Example: "  kagent export nightly nightly.kagent\n  kagent export nightly | ssh host 'cat > n.kagent && kagent import n.kagent -C ~/src'\n" +
			"  kagent export nightly | tar -xO events.jsonl | jq .type",
		Args:              usageArgs(cobra.RangeArgs(1, 2)),
		ValidArgsFunction: a.completeFirstID,
		RunE:              a.export,
	}
}

func (a *app) export(c *cobra.Command, args []string) error {
	store, id, err := a.named(c, args[0])
	if err != nil {
		return err
	}
	if len(args) == 1 {
		return a.exportTo(store, id)
	}
	x, err := exportFile(store, id, args[1])
	if err != nil {
		return err
	}
	a.sayExport(id, args[1], x)
	if a.format == "json" {
		a.out.json(map[string]any{"sessionId": id, "file": args[1], "bytes": x.Bytes, "sha256": x.SHA256})
	}
	return nil
}

// exportTo writes to stdout.
func (a *app) exportTo(store *checkpoint.Store, id string) error {
	switch {
	case a.out.terminal:
		return usageErrorf("name a file, or redirect stdout", "an export is no text for a terminal")
	case a.format == "json":
		return usageErrorf("name a file for it", "an export and JSON do not go into one stdout")
	}
	x, err := store.Export(id, a.out)
	if err == nil {
		a.sayExport(id, "stdout", x)
	}
	return err
}

// exportFile writes a file that is there whole or not at all.
func exportFile(store *checkpoint.Store, id, path string) (x checkpoint.Export, err error) {
	if err := checkTarget("the export", path); err != nil {
		return x, err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return x, usageErrorf("name a file, or leave it out and redirect stdout", "the export %s is not a regular file", path)
	}
	path = target(path)
	sweepUnfinished(path)
	f, err := unfinished(path)
	if err != nil {
		return x, usageErrorf("name a file in a directory that can be written to", "%s: %v", path, cause(err))
	}
	defer os.Remove(f.Name())
	x, err = store.Export(id, f)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(f.Name(), path) // while it is locked
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	var known *checkpoint.StorageError
	if err != nil && !errors.As(err, &known) {
		err = &checkpoint.StorageError{Op: "write " + path, Err: err}
	}
	return x, err
}

func (a *app) sayExport(id, to string, x checkpoint.Export) {
	for _, ref := range x.Missing {
		a.say("warning: the artifact %s is missing in %s", ref, id)
	}
	if x.Open {
		a.say("warning: session %s was in the middle of a turn: what it does from here on is not in the export", id)
	}
	a.say("session %s up to event %d: %s to %s, sha256 %s", id, x.Seq, plural(x.Bytes, "byte"), to, x.SHA256)
}

// isExport looks at the beginning of a file.
func isExport(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
	if err != nil {
		return false // whoever reads it says why
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	return checkpoint.IsExport(head[:n])
}
