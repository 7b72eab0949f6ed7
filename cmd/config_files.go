package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	configLimit   = 1 << 20
	projectConfig = ".kagent.yaml"
)

// loadUser reads the user's file and lays the chosen profile over it.
func (c *Config) loadUser(src ConfigSource, known func(string) bool) error {
	path, data, err := c.userFile(cmp.Or(src.Context, context.Background()), src.File)
	if err != nil {
		return err
	}
	file, err := configParser{path, true, known}.parse(data)
	if err != nil {
		return err
	}
	layers := []map[string]any{file.values}
	if src.Profile != "" {
		profile, ok := file.profiles[src.Profile]
		if !ok {
			return usageErrorf(profileHint(path, file), "no profile %q", src.Profile)
		}
		layers = append(layers, profile)
	}
	for _, layer := range layers {
		for key := range layer {
			c.from[key] = path
		}
		if err := c.v.MergeConfigMap(layer); err != nil {
			return err
		}
	}
	c.allowedModels = settingItems(c.v.Get(allowedModels))
	return nil
}

func profileHint(path string, file configFile) string {
	switch {
	case path == "":
		return "there is no configuration file; name one with --config"
	case len(file.profiles) == 0:
		return path + " has no profiles: section"
	}
	return path + " has " + strings.Join(slices.Sorted(maps.Keys(file.profiles)), ", ")
}

// userFile returns what is in the file that the user named, or in the usual
// one, which need not exist. Without a home there is none.
func (c *Config) userFile(ctx context.Context, named string) (path string, data []byte, err error) {
	if named != "" {
		data, err = interruptible(ctx, func() ([]byte, error) { return readLimited(named, configLimit) })
		switch {
		case ctx.Err() != nil:
			return "", nil, context.Cause(ctx)
		case err != nil:
			return "", nil, usageErrorf("check --config and KAGENT_CONFIG", "configuration file %s: %v", named, cause(err))
		}
		return named, data, nil
	}
	if path = userConfigPath(); path == "" {
		return "", nil, nil
	}
	switch _, err = os.Stat(path); {
	case absent(err):
		return "", nil, nil
	case err != nil: // somebody else's home: not even its names can be read
		c.Warnings = append(c.Warnings, fmt.Sprintf("configuration file %s was not read: %v", path, cause(err)))
		return "", nil, nil
	}
	if data, err = readRegular(path, configLimit); err != nil {
		return "", nil, usageErrorf("make it readable, or name another with --config", "configuration file %s: %v", path, cause(err))
	}
	return path, data, nil
}

// userConfigPath follows the XDG rules: a relative path counts as unset.
func userConfigPath() string {
	if base := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "kagent", "config.yaml")
	}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "kagent", "config.yaml")
	}
	return ""
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// readLimited reads what the user named, be it /dev/null or the pipe of a shell's
// <(COMMAND). For the other end of a pipe with a name one could wait without end.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if ofShell := strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/"); info.Mode()&fs.ModeNamedPipe != 0 && !ofShell {
		return nil, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errTooLarge
	}
	return data, err
}
