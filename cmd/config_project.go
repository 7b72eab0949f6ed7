package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// A project's file came with the directory, perhaps from a stranger. It may
// set only what can't run, reach or spend anything.

// projectLimits are the settings that a project may only lower.
func projectLimits() []string {
	return []string{"max-steps", "max-total-steps", "max-total-tokens", "max-cost"}
}

// limits tells of each limit that was configured what it is, and where.
func (c *Config) limits(fs *pflag.FlagSet) map[string]string {
	said := map[string]string{}
	for _, name := range append(projectLimits(), "deadline") {
		f, source := fs.Lookup(name), c.Origin(name)
		if f == nil || source == "" {
			continue
		}
		said[name] = source + "=" + f.Value.String()
		if file, ok := strings.CutSuffix(source, ": "+name); ok {
			said[name] = name + ": " + f.Value.String() + " in " + file
		}
	}
	return said
}

// loadProject reads the project's file, unless the user named it as his own.
func (c *Config) loadProject(src ConfigSource, known func(string) bool) error {
	path := filepath.Join(src.Dir, projectConfig)
	if src.File != "" && sameFile(path, src.File) {
		return nil
	}
	// A link could make our errors tell what is in a file of the user's.
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return usageErrorf("make it a file or remove it", "configuration file %s is a link", path)
	}
	data, err := readRegular(path, configLimit)
	switch {
	case absent(err):
		return nil
	case err != nil:
		return usageErrorf("make it readable or remove it", "configuration file %s: %v", path, cause(err))
	}
	allowed := append(projectLimits(), "agent", "context-chars", "model")
	file, err := configParser{path, false, func(key string) bool {
		return known(key) && slices.Contains(allowed, key)
	}}.parse(data)
	c.project, c.projectFile = file.values, path
	return err
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// admit decides whether a project's value is taken. What the user's own layers
// say goes before it in any case; a limit that is higher is left out with a
// warning, whatever it is compared with.
func (c *Config) admit(f *pflag.Flag, theirs, users any) (bool, error) {
	value := settingText(theirs)
	if slices.Contains(projectLimits(), f.Name) {
		current := f.DefValue
		if users != nil {
			current = settingText(users)
		}
		lower, err := lowerLimit(value, current)
		if err != nil {
			return false, usageErrorf("write a number of at least 0", "%s: %s: invalid value %q", c.projectFile, f.Name, value)
		}
		if !lower {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %s: %s is ignored: a project may only lower a limit, and it is %s",
				c.projectFile, f.Name, value, current))
		}
		return lower && users == nil, nil
	}
	if users != nil {
		return false, nil
	}
	if f.Name == "model" {
		for model := range strings.SplitSeq(value, ",") {
			if !slices.Contains(c.allowedModels, strings.TrimSpace(model)) {
				return false, usageErrorf("list it under allowed-models: in your own configuration, or give --model",
					"%s: model %q is not allowed", c.projectFile, model)
			}
		}
	}
	return true, nil
}

// lowerLimit compares two limits; 0 and nothing mean that there is none. A
// limit that the user wrote wrongly is reported where it is used.
func lowerLimit(text, current string) (bool, error) {
	limit, err := strconv.ParseFloat(text, 64)
	if err != nil || !(limit >= 0) {
		return false, fmt.Errorf("not a limit: %q", text)
	}
	now, err := strconv.ParseFloat(current, 64)
	if err != nil || now == 0 {
		return true, nil
	}
	return limit != 0 && limit <= now, nil
}
