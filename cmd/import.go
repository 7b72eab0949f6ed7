package cmd

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

type importOptions struct {
	settings settingFlags
	as       string
	damaged  bool
}

func (a *app) importCommand() *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "make a session of an export, of a file of kagent-ts, or of a checkpoint without its log",
		Long: "import makes a session of what `kagent export` wrote, with all that belongs to it, under the same id if that\n" +
			"is free; --workdir says where its work is here.\n" +
			"It also makes one of a session file that kagent-ts wrote, and prints its id: the conversation, and what\n" +
			"its agent had concluded, so that it goes on where it had stopped. The file is kept as imported.json. One that\n" +
			"lies in the sessions directory becomes the session of its name; `kagent resume` does that by itself. The file\n" +
			"knows no model and no tools of kagent: they are as for `kagent run`.\n" +
			"A checkpoint of kagent whose log is lost is damage, but a new session can be made of it in this way. Calls\n" +
			"that it shows as begun are in doubt then: see --on-unknown of `kagent resume`.",
		Example: "  kagent import nightly.kagent --workdir ~/src\n  kagent import ~/old/.kagent-sessions/my-task.json --model openai/gpt-5\n" +
			"  kagent resume \"$(kagent import old.json -s task)\"\n  kagent import --damaged half.json -o json",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return a.importFile(c, &o, args[0]) },
	}
	f := c.Flags()
	o.settings.addTo(f)
	f.StringVarP(&o.as, "session", "s", "", "id of the new session (default that of the file, or one like it)")
	f.BoolVar(&o.damaged, "damaged", false, "of a file that is cut off, take what is whole")
	return c
}

func (a *app) importFile(c *cobra.Command, o *importOptions, file string) error {
	if err := a.configureDir(c); err != nil {
		return err
	}
	if err := a.readFormat(c); err != nil {
		return err
	}
	if c.Flags().Changed("session") {
		if err := checkpoint.CheckID(o.as); err != nil {
			return err
		}
	}
	store := a.store()
	options := a.foreignOptions(c, func(session.Settings) error { return nil })
	options.As, options.Damaged = o.as, o.damaged
	read := store.Import
	if isExport(file) {
		read = store.Restore
	}
	i, err := read(file, options)
	if err != nil {
		return err
	}
	a.sayImport(store, i, file)
	if a.format == "json" {
		a.out.json(map[string]any{"sessionId": i.State.ID, "format": i.Format, "origin": i.Origin, "lost": append([]session.Lost{}, i.Lost...)})
	} else {
		a.out.text(i.State.ID)
	}
	return nil
}

func (a *app) sayImport(store *checkpoint.Store, i checkpoint.Import, file string) {
	id := i.State.ID
	for _, l := range i.Lost {
		a.say("lost at byte %d: %s", l.Offset, l.What())
	}
	status, reason := i.State.Status()
	how := string(status)
	if reason != "" {
		how += ": " + string(reason)
	}
	a.say("session %s made from %s, which is kept; it is %s", id, file, how)
	if i.State.Settings.Model == "" {
		a.say("no model is configured: name one with --model when it is resumed")
	}
	line := resumeLine(store, id)
	if i.State.Blank() || status == session.Completed {
		line += " 'PROMPT'"
	}
	a.say("resume with: %s", line)
}

// foreignOptions complete what a foreign file knows of its settings. One of
// another program becomes a session as `run` makes them; a checkpoint of kagent
// has its own, which only flags change. Check may refuse them.
func (a *app) foreignOptions(c *cobra.Command, check func(session.Settings) error) checkpoint.ImportOptions {
	var o checkpoint.ImportOptions
	secrets := masker(session.Settings{})
	o.Settings = func(s session.Settings, own bool) (session.Settings, error) {
		flags, given, err := a.flagsLike(c, !own)
		if err != nil {
			return s, err
		}
		use := given
		if !own {
			use = func(name string) bool {
				switch name {
				case "model":
					return flags.model != ""
				case "system", "system-file":
					return given(name)
				}
				return true
			}
		}
		if err := flags.apply(&s, use); err != nil {
			return s, err
		}
		if strings.TrimSpace(s.System) == "" {
			s.System = agent.DefaultSystem()
		}
		secrets = masker(s)
		return s, check(s)
	}
	o.Clean = func(text string) string { return secrets.Mask(message.Clean(text)) }
	return o
}

// flagsLike are the settings that the flags of a command say, and with
// configured also the environment and the files. It changes no flag of the
// command.
func (a *app) flagsLike(c *cobra.Command, configured bool) (*settingFlags, func(string) bool, error) {
	var flags settingFlags
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.addTo(set)
	var errs []error
	c.Flags().Visit(func(f *pflag.Flag) {
		if own := set.Lookup(f.Name); own != nil && f.Changed {
			errs = append(errs, copyFlag(set, own, f))
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	given := map[string]bool{}
	set.Visit(func(f *pflag.Flag) { given[f.Name] = true })
	if configured {
		config, err := LoadConfig(ConfigSource{Context: a.signals.ctx, File: a.cfgFile, Profile: a.profile, Known: knownFlags(c.Root())})
		if err == nil {
			err = config.Fill(set, nil)
		}
		if err != nil {
			return nil, nil, err
		}
		given = map[string]bool{}
		set.Visit(func(f *pflag.Flag) { given[f.Name] = true })
	}
	return &flags, func(name string) bool { return given[name] }, nil
}

// copyFlag gives a flag the value of another one.
func copyFlag(set *pflag.FlagSet, to, from *pflag.Flag) error {
	source, ok := from.Value.(pflag.SliceValue)
	if !ok {
		return set.Set(to.Name, from.Value.String())
	}
	if err := set.Set(to.Name, ""); err != nil { // so that it counts as given
		return err
	}
	return to.Value.(pflag.SliceValue).Replace(source.GetSlice())
}

// adopt makes a session of the foreign file that stands in its place, so that
// it can be gone on with.
func (a *app) adopt(c *cobra.Command, store *checkpoint.Store, id string) error {
	_, err := store.Adopt(id, a.foreignOptions(c, func(s session.Settings) error {
		_, err := newProvider(s)
		return err
	}))
	if errors.Is(err, checkpoint.ErrExists) { // somebody else has just done it
		return nil
	}
	return err
}
