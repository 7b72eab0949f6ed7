package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Bounds of an expression: its text, its compiled size, and the lines that are
// matched in one go. Matching takes at most time proportional to the last two.
const (
	maxExpression = 2000    // bytes
	maxProgram    = 3000    // instructions
	maxAtOnce     = 4 << 10 // bytes; longer lines are read rune by rune, so that a stop is noticed
)

// expression is what lines are matched with.
type expression struct {
	re    *regexp.Regexp
	needs [][]byte // one of them is in every line that matches; none: not known
	fold  bool     // ... once the line's ASCII letters are made small, as theirs are
	small []byte   // such a line
}

// compileExpression compiles RE2 syntax. Its errors are observations.
func compileExpression(pattern string, ignoreCase bool) (*expression, error) {
	if len(pattern) > maxExpression {
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxExpression)
	}
	flags := syntax.Perl
	if ignoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, patternError(pattern, err)
	}
	x := new(expression)
	if x.needs = x.literals(tree); x.fold {
		for i, need := range x.needs {
			x.needs[i] = appendSmall(nil, need)
		}
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return nil, errors.New("the pattern is too large once its repetitions are written out")
	}
	if ignoreCase {
		pattern = "(?i)" + pattern
	}
	if x.re, err = regexp.Compile(pattern); err != nil {
		return nil, patternError(pattern, err)
	}
	return x, nil
}

// patternError says what is wrong with a pattern and where.
func patternError(pattern string, err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("the pattern is not valid: %w", err)
	}
	at := strings.Index(pattern, e.Expr)
	if at < 0 || e.Expr == pattern || strings.Count(pattern, e.Expr) > 1 {
		// The part named is not a place. What the longest sound beginning lacks is one.
		for at = len(pattern) - 1; at > 0; at-- {
			if _, err := syntax.Parse(pattern[:at], syntax.Perl); err == nil {
				break
			}
		}
	}
	return fmt.Errorf("the pattern is not valid RE2: %s at byte %d, near %q", e.Code, at, clip(pattern[at:], 60))
}

// find returns where line matches, -1 if it doesn't. In a line that is shown
// whole the place does not matter, and may be 0.
func (x *expression) find(ctx context.Context, line []byte) int {
	if !x.possible(line) {
		return -1
	}
	var loc []int
	switch {
	case len(line) <= maxShownLine:
		if !x.re.Match(line) {
			return -1
		}
		return 0
	case len(line) <= maxAtOnce:
		loc = x.re.FindIndex(line)
	default:
		loc = x.re.FindReaderIndex(&runes{ctx: ctx, rest: line})
	}
	if loc == nil {
		return -1
	}
	return loc[0]
}

// runes reads a line and ends with its ctx.
type runes struct {
	ctx  context.Context
	rest []byte
	n    int
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.n++; r.n%1024 == 0 && r.ctx.Err() != nil {
		return 0, 0, r.ctx.Err()
	}
	if len(r.rest) == 0 {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.rest)
	r.rest = r.rest[size:]
	return c, size, nil
}
