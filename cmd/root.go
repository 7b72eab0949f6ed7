// Package cmd is the command line: one file and one options struct for each
// subcommand, the rules of the terminal, exit codes, and the only place where
// the parts are wired together.
package cmd

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"kagent/pkg/provider/script"
	"kagent/pkg/tool"
)

// app is what a process has: its streams, and how it will end.
type app struct {
	stdin     *os.File
	out       *output
	stderr    io.Writer
	streams   streams // both of them
	format    string  // text, json or jsonl
	dir       string
	namedDir  bool // by the command line
	cfgFile   string
	profile   string
	log       *logFile                 // --log-file, nil: none
	ci        string                   // the service whose log stderr is
	grace     time.Duration            // of tools; 0: their own
	origin    func(flag string) string // which variable or file a flag was filled from, "" for none; nil: not configured yet
	limits    map[string]string        // by flag, where limits came from that no flag gave
	ephemeral bool                     // the sessions are gone when the process ends
	signals   *signals
	orphans   func() *tool.Orphans // one for the process, from the first tool set on
	code      int                  // of a command that ran to its end
}

// Main runs the command line and returns the exit code. Where a signal ended
// the run it doesn't return: the signal is raised again.
func Main(args []string) int {
	closeInherited()
	signals := watchSignals()
	streams := newStreams(signals.ctx.Done())
	a := &app{stdin: os.Stdin, out: streams.out, stderr: streams.err, streams: streams, signals: signals, ci: ciService(), orphans: sync.OnceValue(tool.AdoptOrphans)}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.stderr)
	if err := guarded(root.Execute); err != nil {
		a.code = a.fail(a.sourced(err), args)
	}
	streams.flush()
	if errors.Is(a.out.failure(), errUnread) {
		a.code = exitFirst(a.code, exitSigint)
	}
	a.signals.finish(a.code)
	code := a.out.finish(a.code, a.stderr)
	streams.flush()
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "kagent",
		Short: "run LLM agents that survive anything",
		Long: "kagent runs an LLM agent with nobody at the terminal. The answer goes to stdout, everything else\n" +
			"to stderr, and every step to a session that can be resumed after any failure.",
		Example: "  kagent run --model demo 'what is in this directory?'\n" +
			"  git diff | kagent run 'review this'\n  kagent resume --last",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.StringVar(&a.dir, "dir", ".kagent-sessions", "directory of the sessions")
	f.StringVarP(&a.format, "output", "o", "text", "form of the output: text, json, or jsonl where events are streamed")
	f.StringVar(&a.cfgFile, "config", "", "configuration file (default $XDG_CONFIG_HOME/kagent/config.yaml)")
	f.StringVar(&a.profile, "profile", "", "profile of the configuration file")
	root.AddCommand(a.runCommand(), a.resumeCommand(), a.listCommand(), a.showCommand(), a.compactCommand(), a.rmCommand(),
		a.verifyCommand(), a.repairCommand(), a.forkCommand(), a.importCommand(), a.agentsCommand(), a.modelsCommand(),
		a.markCommand(), a.cancelCommand(), a.sendCommand(), a.exportCommand(), a.toolsCommand(), a.doctorCommand(),
		a.schemaCommand(), a.versionCommand(),
		&cobra.Command{Use: "exit-codes", Short: "exit codes and what a script does", Long: exitHelp()},
		&cobra.Command{Use: "script", Short: "the format of --model script:FILE", Long: script.Help},
	)
	strictHelp(root)
	exampledCompletion(root)
	return root
}

// fail reports an error in the form that was asked for and returns its code.
func (a *app) fail(err error, args []string) int {
	if !a.signals.ended() {
		if code, _, _ := classify(err); code == exitUsage && a.format == "text" {
			a.format = formatOf(args) // the flags may not have been parsed
		}
	}
	a.complain(err)
	if a.format == "json" || a.format == "jsonl" {
		a.out.json(errorResult(err).as(a.format))
	}
	code, _, _ := classify(err)
	return code
}

// complain tells a person of an error, and what to do about it.
func (a *app) complain(err error) {
	for line := range strings.Lines(err.Error()) {
		a.say("kagent: %s", oneLine(line, 2000))
	}
	for _, line := range hints(err) {
		a.say("%s", line)
	}
}

// formatOf finds --output in arguments that could not be parsed.
func formatOf(args []string) string {
	for i, arg := range args {
		name, value, has := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return "text"
		case name == "-o" || name == "--output":
			if !has && i+1 < len(args) {
				value = args[i+1]
			}
		case strings.HasPrefix(arg, "-o") && !strings.HasPrefix(arg, "--"):
			value = strings.TrimPrefix(arg, "-o")
		}
		if value == "json" || value == "jsonl" {
			return value
		}
	}
	if value := configuredFormat(); value == "json" || value == "jsonl" {
		return value
	}
	return "text"
}

// checkFormat refuses an unknown --output.
func (a *app) checkFormat(allowed ...string) error {
	for _, f := range allowed {
		if a.format == f {
			return nil
		}
	}
	return usageErrorf("want "+strings.Join(allowed, ", "), "--output %q is not known here", a.format)
}
