package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"kagent/pkg/message"
)

// Bounds of what one grep call brings.
const (
	maxMatches   = 1000
	maxGrepBytes = 64 << 10
	maxShownLine = 500 // bytes of one line
)

type grep struct {
	ws     *Workspace
	limits searchLimits
}

// Grep returns the tool grep. It holds a mebibyte of a file at most, however
// long its lines are, takes time in proportion to what it reads, and stops
// after eight seconds.
func Grep(ws *Workspace) Tool { return grep{ws, defaultLimits()} }

type grepArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
	Context    count  `json:"context"`
}

func (grep) Spec() message.ToolSpec {
	return message.ToolSpec{
		Name: "grep",
		Description: "Search the lines of text files for a regular expression (RE2 syntax; no lookaround, no backreferences). " +
			"Brings path:line:text, with context also path-line-text and -- between groups, paths relative to the work directory and sorted, " +
			"at most 1000 matching lines and 64 KiB. Links are not followed; binary files, .git and what .gitignore names are left out.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string","minLength":1,"description":"the regular expression; ^ and $ are the ends of a line"},` +
			`"path":{"type":"string","minLength":1,"description":"the directory or file to search, relative to the work directory (default \".\")"},` +
			`"glob":{"type":"string","minLength":1,"description":"only files of this name, as *.go or *.{js,ts}, or, with a slash, of this path below path, as cmd/**/*.go; ! before it: all but these"},` +
			`"ignore_case":{"type":"boolean","description":"take upper and lower case as equal"},` +
			`"context":{"type":"integer","minimum":0,"maximum":50,"description":"lines to show before and after each match (default 0)"}},` +
			`"required":["pattern"],"additionalProperties":false}`),
	}
}

func (grep) Traits() Traits { return Traits{Class: Read} }

func (t grep) Run(ctx context.Context, call Call) Result {
	args, err := decode[grepArgs](call.Args)
	if err != nil {
		return Fail(err.Error())
	}
	expr, err := compileExpression(args.Pattern, args.IgnoreCase)
	if err != nil {
		return Fail(err.Error())
	}
	files, err := parseFileGlob(args.Glob)
	if err != nil {
		return Fail(fmt.Sprintf("glob %s: %v", clip(args.Glob, 300), err))
	}
	if args.Path == "" {
		args.Path = "."
	}
	p, err := t.ws.searchable(args.Path)
	if err != nil {
		return Fail(err.Error())
	}
	defer p.close()
	g := newGrepping(expr, min(max(int(args.Context), 0), 50))
	s := &search{ws: t.ws, limits: t.limits, levels: maxLevels}
	s.visit = func(f found) error {
		if !f.mode.IsRegular() || !files.match(f) {
			return nil
		}
		err := t.search(g, s, f)
		if err != nil && err != errEnough && s.ctx.Err() == nil {
			s.fail(f.rel, err)
			return nil
		}
		return err
	}
	r := s.within(ctx, func() error {
		if p.info.IsDir() {
			return s.below(p.rel)
		}
		if err := p.regular(args.Path); err != nil {
			return err
		}
		return t.search(g, s, found{dir: p.dir, name: p.base, rel: p.rel, mode: p.info.Mode()})
	})
	if r != nil {
		return *r
	}
	return g.result(s)
}

// search searches one file, if it still is one.
func (t grep) search(g *grepping, s *search, f found) error {
	info, err := f.dir.Lstat(f.name)
	if err != nil {
		return err
	}
	if info.Mode().Type() != f.mode.Type() {
		return fs.ErrNotExist
	}
	file, err := (&place{dir: f.dir, base: f.name, info: info}).open(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer file.Close()
	return g.file(s.ctx, file, f.rel)
}

// result is what was found and what was left out.
func (g *grepping) result(s *search) Result {
	var notes []string
	if g.matches == 0 {
		notes = append(notes, s.nothing(fmt.Sprintf("in %d files", g.files)))
	}
	notes = append(notes, s.notes()...)
	if g.cut != "" {
		notes = append(notes, fmt.Sprintf("[truncated: only the first %s are shown; narrow pattern, path or glob]", g.cut))
	}
	if g.binary > 0 {
		notes = append(notes, fmt.Sprintf("[%d binary files were skipped]", g.binary))
	}
	if g.long > 0 {
		notes = append(notes, fmt.Sprintf("[%d lines are longer than %d KiB; only that much of them was searched]", g.long, maxLine>>10))
	}
	return Success(g.out.String() + strings.Join(notes, "\n"))
}
