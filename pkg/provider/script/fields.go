package script

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// fault is a mistake in a script, with its line.
type fault struct {
	line int
	text string
}

func (f *fault) Error() string { return fmt.Sprintf("line %d: %s", f.line, f.text) }

func faultAt(n *yaml.Node, format string, args ...any) error {
	return &fault{n.Line, fmt.Sprintf(format, args...)}
}

// sound refuses what no part of a script may hold: aliases, which let a small
// file grow without bound, and fields given twice.
func sound(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return faultAt(n, "anchors and aliases are not supported")
	}
	seen := map[string]bool{}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if c.Kind != yaml.ScalarNode {
				return faultAt(c, "a field's name must be text")
			}
			if seen[c.Value] {
				return faultAt(c, "field %.40q is given twice", c.Value)
			}
			seen[c.Value] = true
		}
		if err := sound(c); err != nil {
			return err
		}
	}
	return nil
}

// setter takes a value out of a tree.
type setter func(*yaml.Node) error

// fields are the fields that a mapping may have.
type fields map[string]setter

// mapping hands each field to its setter, in the order of the file, and says
// which were given.
func mapping(n *yaml.Node, known fields) (given map[string]bool, err error) {
	if n.Kind != yaml.MappingNode {
		return nil, faultAt(n, "must have fields: %s", names(known))
	}
	given = map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		set, ok := known[key.Value]
		if !ok {
			return nil, faultAt(key, "unknown field %.40q; known are %s", key.Value, names(known))
		}
		if err := set(value); err != nil {
			return nil, fmt.Errorf("%s: %w", key.Value, err)
		}
		given[key.Value] = true
	}
	return given, nil
}

func names(known fields) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

// list hands each element to one.
func list(one setter) setter {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode {
			return faultAt(n, "must be a list")
		}
		for _, c := range n.Content {
			if err := one(c); err != nil {
				return err
			}
		}
		return nil
	}
}

// text takes any scalar as it is written.
func text(to *string) setter {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
			return faultAt(n, "must be text")
		}
		*to = n.Value
		return nil
	}
}

// texts takes a list of texts; an empty one is a list, too.
func texts(to *[]string) setter {
	return func(n *yaml.Node) error {
		*to = []string{}
		return list(func(n *yaml.Node) error {
			*to = append(*to, "")
			return text(&(*to)[len(*to)-1])(n)
		})(n)
	}
}

// sum takes a SHA-256 in hex.
func sum(to *string) setter {
	return func(n *yaml.Node) error {
		b, err := hex.DecodeString(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || len(b) != sha256.Size {
			return faultAt(n, "%.40q is not a SHA-256 in hex", n.Value)
		}
		*to = strings.ToLower(n.Value)
		return nil
	}
}

// pointer sets to to a new value, so that a zero differs from nothing.
func pointer[T any](to **T, with func(*T) setter) setter {
	return func(n *yaml.Node) error {
		*to = new(T)
		return with(*to)(n)
	}
}

func flag(to *bool) setter {
	return func(n *yaml.Node) error {
		v, err := strconv.ParseBool(n.Value)
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || err != nil {
			return faultAt(n, "must be true or false")
		}
		*to = v
		return nil
	}
}

func number[T int | int64](lowest, highest T, to *T) setter {
	return func(n *yaml.Node) error {
		v, err := strconv.ParseInt(n.Value, 10, 64)
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil {
			return faultAt(n, "must be a whole number")
		}
		if v < int64(lowest) || v > int64(highest) {
			return faultAt(n, "%d is not within %d to %d", v, lowest, highest)
		}
		*to = T(v)
		return nil
	}
}

func duration(to *time.Duration) setter {
	return func(n *yaml.Node) error {
		d, err := time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || d < 0 {
			return faultAt(n, "%.40q is not a duration such as 1.5s or 200ms", n.Value)
		}
		*to = d
		return nil
	}
}

// oneOf takes one of a few words.
func oneOf[T ~string](words []T, to *T) setter {
	return func(n *yaml.Node) error {
		v := T(n.Value)
		if n.Kind != yaml.ScalarNode || !slices.Contains(words, v) {
			return faultAt(n, "%.40q is none of %s", n.Value, strings.Trim(fmt.Sprint(words), "[]"))
		}
		*to = v
		return nil
	}
}
