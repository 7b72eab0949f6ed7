package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"kagent/pkg/message"
)

// Set is an ordered set of tools as it is offered to a model. It doesn't
// change and is safe for concurrent use.
type Set struct {
	entries []*entry
	byName  map[string]*entry
}

// entry is a tool with what a check of its arguments needs.
type entry struct {
	tool    Tool
	spec    message.ToolSpec
	compile func() (*compiled, error) // at the first call: most runs use few of their tools
}

// NewSet returns the set of tools in the order given. It is an error when a
// name is not of the form ^[a-zA-Z0-9_-]{1,64}$, which is what every service
// takes, when two are equal, or when a schema is not a JSON object.
func NewSet(tools ...Tool) (*Set, error) {
	s := &Set{byName: make(map[string]*entry, len(tools))}
	for _, t := range tools {
		spec := t.Spec()
		if !legalName(spec.Name) {
			return nil, fmt.Errorf("tool name %.80q is not made of 1 to 64 letters, digits, _ and -", spec.Name)
		}
		if s.byName[spec.Name] != nil {
			return nil, fmt.Errorf("two tools are named %q", spec.Name)
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(spec.Schema, &object); err != nil {
			return nil, fmt.Errorf("the schema of tool %q is not a JSON object: %w", spec.Name, err)
		}
		if object == nil {
			return nil, fmt.Errorf("the schema of tool %q is null", spec.Name)
		}
		e := &entry{tool: t, spec: spec, compile: sync.OnceValues(func() (*compiled, error) {
			return compile(spec.Schema)
		})}
		s.entries = append(s.entries, e)
		s.byName[spec.Name] = e
	}
	return s, nil
}

// Close ends what tools have running in the background. The set is not used after
// it.
func (s *Set) Close() error {
	var errs []error
	for _, e := range s.entries {
		if c, ok := e.tool.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Specs returns what a model is told of the tools, in order.
func (s *Set) Specs() []message.ToolSpec {
	specs := make([]message.ToolSpec, len(s.entries))
	for i, e := range s.entries {
		specs[i] = e.spec
	}
	return specs
}

// Names returns the names of the tools, in order.
func (s *Set) Names() []string {
	names := make([]string, len(s.entries))
	for i, e := range s.entries {
		names[i] = e.spec.Name
	}
	return names
}

// Lookup returns the tool of that name.
func (s *Set) Lookup(name string) (Tool, bool) {
	e := s.byName[name]
	if e == nil {
		return nil, false
	}
	return e.tool, true
}

// legalName reports whether all services take name for a tool's.
func legalName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
