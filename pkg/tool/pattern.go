package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives bounds what the braces of a pattern multiply to, for each
// combination is tried in turn.
const maxAlternatives = 1000

// checkGlob returns an observation when a pattern can't be used.
func checkGlob(pattern string) error {
	switch {
	case len(pattern) > maxPath:
		return fmt.Errorf("it is longer than %d bytes", maxPath)
	case !doublestar.ValidatePattern(pattern):
		return errors.New("a bracket or brace is not closed, or a backslash stands at its end; put a backslash before one that is meant literally")
	case alternatives(pattern) > maxAlternatives:
		return fmt.Errorf("its braces multiply to more than %d alternatives", maxAlternatives)
	}
	return nil
}

// alternatives is at least the number of patterns that the braces stand for.
func alternatives(pattern string) int {
	total := 1
	var open []int
	for _, c := range []byte(pattern) {
		switch {
		case c == '{':
			open = append(open, 1)
		case c == ',' && len(open) > 0:
			open[len(open)-1]++
		case c == '}' && len(open) > 0:
			total = min(total*open[len(open)-1], maxAlternatives+1)
			open = open[:len(open)-1]
		}
	}
	return total
}

// climbs reports whether a pattern has ".." for a name. No path that is matched
// has one, so that it would find nothing without saying why.
func climbs(pattern string) bool {
	names := strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune("/{,}", r) })
	return slices.Contains(names, "..")
}

// pathGlob is the pattern of a glob call.
type pathGlob struct {
	base    string // where to begin
	pattern string // what the paths below it match
	dirOnly bool
	levels  int // how deep they can be
}

// parseGlob splits a pattern that a model wrote. What comes before the first
// wildcard is a path like any other, under the same rules.
func parseGlob(pattern, path string) (pathGlob, error) {
	var g pathGlob
	if err := checkGlob(pattern); err != nil {
		return g, err
	}
	trimmed := strings.TrimRight(pattern, "/")
	if g.dirOnly = trimmed != pattern; trimmed == "" {
		trimmed = "/"
	}
	g.base, g.pattern = doublestar.SplitPattern(trimmed)
	if climbs(g.pattern) {
		return g, errOutside
	}
	if g.pattern == "" || g.pattern == "." {
		g.pattern = "*"
	}
	switch {
	case path == "" || strings.HasPrefix(g.base, "/"):
	case g.base == ".":
		g.base = path
	default:
		g.base = path + "/" + g.base
	}
	g.levels = maxLevels
	if !strings.Contains(g.pattern, "**") {
		g.levels = min(strings.Count(g.pattern, "/")+1, maxLevels)
	}
	return g, nil
}

func (g pathGlob) match(f found) bool {
	return (!g.dirOnly || f.mode.IsDir()) && doublestar.MatchUnvalidated(g.pattern, f.sub)
}

// fileGlob chooses the files of a search: by name, or, with a slash, by the
// path from where the search began. A "!" before it turns it round.
type fileGlob struct {
	pattern string // "": all files
	byPath  bool
	not     bool
}

func parseFileGlob(pattern string) (fileGlob, error) {
	var g fileGlob
	g.pattern, g.not = strings.CutPrefix(pattern, "!")
	g.byPath = strings.Contains(g.pattern, "/")
	g.pattern = strings.TrimPrefix(strings.TrimPrefix(g.pattern, "./"), "/")
	if climbs(g.pattern) {
		return g, errOutside
	}
	return g, checkGlob(g.pattern)
}

func (g fileGlob) match(f found) bool {
	name := f.name
	if g.byPath {
		name = f.sub
	}
	return g.pattern == "" || doublestar.MatchUnvalidated(g.pattern, name) != g.not
}
