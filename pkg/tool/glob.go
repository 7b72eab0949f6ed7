package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"kagent/pkg/message"
)

// maxFound bounds the names that one glob call brings.
const maxFound = 1000

type glob struct {
	ws     *Workspace
	limits searchLimits
}

// Glob returns the tool glob. It looks at a million names or for eight seconds
// at most, and brings a thousand of them.
func Glob(ws *Workspace) Tool { return glob{ws, defaultLimits()} }

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

func (glob) Spec() message.ToolSpec {
	return message.ToolSpec{
		Name: "glob",
		Description: "Find files and directories by a pattern of their path: * is any part of a name, ** any number of directories, " +
			"also ? [a-z] {a,b}. **/*.go finds Go files everywhere, *.go only in the directory itself. Brings paths relative to the " +
			"work directory, sorted, one a line, directories with / at the end, at most 1000. Links are not followed; " +
			"what .gitignore names, and .git, is left out.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string","minLength":1,"description":"the pattern, relative to path"},` +
			`"path":{"type":"string","minLength":1,"description":"the directory to begin at, relative to the work directory (default \".\")"}},` +
			`"required":["pattern"],"additionalProperties":false}`),
	}
}

func (glob) Traits() Traits { return Traits{Class: Read} }

func (t glob) Run(ctx context.Context, call Call) Result {
	args, err := decode[globArgs](call.Args)
	if err != nil {
		return Fail(err.Error())
	}
	g, err := parseGlob(args.Pattern, args.Path)
	if err != nil {
		return Fail(fmt.Sprintf("the pattern %s: %v", clip(args.Pattern, 300), err))
	}
	p, err := t.ws.searchable(g.base)
	if err != nil {
		return Fail(err.Error())
	}
	defer p.close()
	if !p.info.IsDir() {
		return Fail(notDirectory(p, g.base))
	}
	var paths []string
	full := false
	s := &search{ws: t.ws, limits: t.limits, levels: g.levels, visit: func(f found) error {
		switch {
		case !g.match(f):
			return nil
		case len(paths) == maxFound:
			full = true
			return errEnough
		case f.mode.IsDir():
			paths = append(paths, printable(f.rel+"/"))
		default:
			paths = append(paths, printable(f.rel))
		}
		return nil
	}}
	if r := s.within(ctx, func() error { return s.below(p.rel) }); r != nil {
		return *r
	}
	notes := s.notes()
	if full {
		notes = append(notes, fmt.Sprintf("[truncated: only the first %d are shown; narrow the pattern]", maxFound))
	}
	if len(paths) == 0 {
		notes = append([]string{s.nothing(fmt.Sprintf("among %d names", s.scanned))}, notes...)
	}
	return Success(strings.Join(append(paths, notes...), "\n"))
}
