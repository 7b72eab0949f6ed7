package cmd

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"kagent/pkg/userfile"
)

// settings are the flags that configuration may give a value to. Flags that
// speak of one run alone (session, file) or that destroy something (force)
// are not among them.
func settings() []string {
	return []string{
		"agent", "model", "base-url", "api-key-env", "header", "system", "system-file", "workdir", "dir", "agents-dir",
		"tools", "allow", "deny", "approval", "sandbox", "env", "mcp-config", "fail-on-denied",
		"max-steps", "max-total-steps", "max-total-tokens", "max-cost", "deadline",
		"step-timeout", "idle-timeout", "context-chars", "effort", "temperature", "max-output", "output-schema", "on-unknown", "confirm-plan", "retries", "retry-max-wait", "wait-limit", "grace",
		"allow-partial", "stream", "quiet", "verbose", "output", "log-file", "stdin", "stdin-wait",
	}
}

// ConfigSource says where configuration is looked for.
type ConfigSource struct {
	File    string // --config; "": KAGENT_CONFIG, then the usual place
	Profile string // --profile; "": KAGENT_PROFILE
	Dir     string // holds the project's .kagent.yaml; "": the current directory
	Alone   bool   // the project's file does not count: nothing of it concerns the command
	// Known tells whether a flag of this name exists in this build; only such
	// settings are accepted, so that no key of a file is without effect.
	Known func(name string) bool
	// Context ends the wait for a shell's pipe in the place of the file; nil: it has no end.
	Context context.Context
}

// knownFlags tells which flags exist anywhere below a command.
func knownFlags(root *cobra.Command) func(name string) bool {
	names := map[string]bool{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		note := func(f *pflag.Flag) { names[f.Name] = true }
		c.Flags().VisitAll(note)
		c.PersistentFlags().VisitAll(note)
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	return func(name string) bool { return names[name] }
}

// Config is what the environment and the files say. Flags come before it and
// the flags' own defaults after it.
type Config struct {
	Warnings []string

	v             *viper.Viper      // environment, then the user's file; its keys are names of flags
	from          map[string]string // which file set a key
	project       map[string]any
	projectFile   string
	allowedModels []string
	filled        map[string]string
}

// LoadConfig reads the files. An error names the file and the key.
func LoadConfig(src ConfigSource) (*Config, error) {
	if src.File == "" {
		src.File = os.Getenv("KAGENT_CONFIG")
	}
	if src.Profile == "" {
		src.Profile = os.Getenv("KAGENT_PROFILE")
	}
	c := &Config{
		// The delimiter can't occur in a key, so that dots mean nothing.
		v:      viper.NewWithOptions(viper.KeyDelimiter("\x00")),
		from:   map[string]string{},
		filled: map[string]string{},
	}
	known := func(key string) bool {
		return slices.Contains(settings(), key) && (src.Known == nil || src.Known(key))
	}
	for _, name := range settings() {
		if err := c.v.BindEnv(name, envName(name)); err != nil {
			return nil, err
		}
	}
	if err := c.loadUser(src, known); err != nil {
		return nil, err
	}
	if !src.Alone {
		if err := c.loadProject(src, known); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// envName is the environment variable of a flag: max-steps is KAGENT_MAX_STEPS.
func envName(flag string) string {
	return "KAGENT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Fill gives a value to each flag that the command line left alone and that
// only lets through (nil: all). A filled flag doesn't count as Changed, so
// Changed still means that the user said so on this command line.
func (c *Config) Fill(fs *pflag.FlagSet, only func(name string) bool) error {
	var first error
	fs.VisitAll(func(f *pflag.Flag) {
		if first != nil || f.Changed || !slices.Contains(settings(), f.Name) || only != nil && !only(f.Name) {
			return
		}
		if other := fs.Lookup(rival(f.Name)); other == nil || !other.Changed {
			first = c.fill(f)
		}
	})
	return first
}

// rival names the flag that says the same in another way: given on the command
// line, it goes before both.
func rival(name string) string {
	switch name {
	case "system":
		return "system-file"
	case "system-file":
		return "system"
	}
	return ""
}

func (c *Config) fill(f *pflag.Flag) error {
	value, source := c.lookup(f.Name)
	if theirs, ok := c.project[f.Name]; ok {
		take, err := c.admit(f, theirs, value)
		if err != nil {
			return err
		}
		if take {
			value, source = theirs, c.projectFile+": "+f.Name
		}
	}
	if value == nil {
		return nil
	}
	if err := setFlag(f, value); err != nil {
		return usageErrorf("it sets --"+f.Name+", which takes "+article(f.Value.Type()),
			"%s: invalid value %q%s", source, oneLine(settingText(value), 80), flaw(err))
	}
	c.filled[f.Name] = source
	return nil
}

// lookup finds what the user's own layers say, a string or a list of them, and
// which of the layers says it; nil if none does.
func (c *Config) lookup(name string) (value any, source string) {
	if !c.v.IsSet(name) {
		return nil, ""
	}
	source = c.from[name] + ": " + name
	if os.Getenv(envName(name)) != "" {
		source = envName(name)
	}
	return c.v.Get(name), source
}

// Origin tells which variable or file filled a flag, "" if none did.
func (c *Config) Origin(name string) string { return c.filled[name] }

// setFlag gives a flag its value without marking it as given by the user. A list
// stays a list where the flag is one, so that its items may hold commas; any
// other flag gets it joined by them.
func setFlag(f *pflag.Flag, value any) error {
	items, isList := value.([]string)
	if many, ok := f.Value.(pflag.SliceValue); ok && isList {
		return many.Replace(items)
	}
	text := settingText(value)
	if numeric := article(f.Value.Type()); strings.HasSuffix(numeric, "number") && userfile.Octal(text) {
		return errors.New("a number does not begin with 0")
	}
	return f.Value.Set(text)
}

// flaw says what is wrong with a value, "" where it is only none of its type: the
// hint tells that.
func flaw(err error) string {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return ", which is too large"
	case errors.Is(err, strconv.ErrSyntax), strings.HasPrefix(err.Error(), "time: "):
		return ""
	}
	return ": " + err.Error()
}

// settingItems returns a value's items.
func settingItems(value any) []string {
	switch v := value.(type) {
	case []string:
		return v
	case string:
		return []string{v}
	}
	return nil
}

// settingText writes a value as one would on the command line.
func settingText(value any) string {
	return strings.Join(settingItems(value), ",")
}

// article names a flag's type as a person would.
func article(typ string) string {
	switch typ {
	case "int", "int32", "int64", "uint", "uint64":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a duration such as 90s or 10m"
	case "string":
		return "a text"
	}
	return "a " + typ
}
