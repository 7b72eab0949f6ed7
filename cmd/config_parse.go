package cmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"kagent/pkg/userfile"
)

// allowedModels is the key of the models that a project may choose from. It
// is no flag, and only the user's own file may hold it.
const allowedModels = "allowed-models"

// A configFile is a parsed file. A value is a string or a []string with its
// text as it was written: flags parse it, and nothing is guessed about octal
// numbers or dates.
type configFile struct {
	values   map[string]any
	profiles map[string]map[string]any
}

// A configParser knows which file it reads and what that file may hold.
type configParser struct {
	path  string
	users bool // the user's own file: profiles and allowed-models too
	known func(key string) bool
}

func (p configParser) errorf(hint, format string, args ...any) error {
	return usageErrorf(hint, "configuration file %s: "+format, append([]any{p.path}, args...)...)
}

func (p configParser) parse(data []byte) (configFile, error) {
	file := configFile{profiles: map[string]map[string]any{}}
	var nodes map[string]yaml.Node
	if err := userfile.YAML(data, &nodes, false); err != nil {
		return file, p.errorf("it must be YAML, one `flag: value` a line", "%s", oneLine(err.Error(), 300))
	}
	if node, ok := nodes["profiles"]; ok && p.users {
		delete(nodes, "profiles")
		var profiles map[string]map[string]yaml.Node
		if err := userfile.Node(&node, &profiles, "profiles", false); err != nil {
			return file, p.errorf("write it as `profiles: {NAME: {flag: value}}`", "%s", oneLine(err.Error(), 300))
		}
		for _, name := range slices.Sorted(maps.Keys(profiles)) {
			values, err := p.values("profiles: "+name+": ", profiles[name])
			if err != nil {
				return file, err
			}
			file.profiles[name] = values
		}
	}
	var err error
	file.values, err = p.values("", nodes)
	return file, err
}

// values turns nodes into values. A key without a value is as unset as an
// empty environment variable.
func (p configParser) values(prefix string, nodes map[string]yaml.Node) (map[string]any, error) {
	values := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(nodes)) {
		if !p.known(key) && !p.users {
			return nil, p.errorf("a project may only set agent, model, context-chars and lower limits; "+
				"use your own configuration or a flag", "key %s is not allowed", key)
		}
		if !p.known(key) && key != allowedModels {
			hint := "a key is the name of a flag, see `kagent run --help`"
			if dashed := strings.ReplaceAll(strings.ToLower(key), "_", "-"); dashed != key && p.known(dashed) {
				hint = "write " + dashed
			}
			return nil, p.errorf(hint, "unknown key %s%s", prefix, key)
		}
		node := nodes[key]
		value, err := plain(&node)
		if err != nil {
			return nil, p.errorf("give one value or a list of values", "%s%s: %v", prefix, key, err)
		}
		if value != "" {
			values[key] = value
		}
	}
	return values, nil
}

// plain returns a node's text, or its list of texts.
func plain(node *yaml.Node) (any, error) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch {
	case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null":
		return "", nil
	case node.Kind == yaml.ScalarNode:
		return node.Value, nil
	case node.Kind != yaml.SequenceNode:
		return nil, fmt.Errorf("line %d: not a single value or a list", node.Line)
	}
	list := []string{}
	for _, item := range node.Content {
		if item.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a list may hold only single values", item.Line)
		}
		list = append(list, item.Value)
	}
	return list, nil
}
