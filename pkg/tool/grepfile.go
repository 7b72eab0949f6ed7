package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"kagent/pkg/message"
)

const (
	binaryHead = 8 << 10 // a NUL in so many bytes makes a file a binary one
	maxLine    = 1 << 20 // bytes of one line that are searched
)

// grepping gathers the matches of one call.
type grepping struct {
	expr    *expression
	context int
	in      *bufio.Reader
	buf     []byte // of a line that in can't hold
	out     strings.Builder

	files, matches, binary, long int
	cut                          string // which bound was reached
}

func newGrepping(expr *expression, context int) *grepping {
	return &grepping{expr: expr, context: context, in: bufio.NewReaderSize(nil, 64<<10)}
}

// file searches one file. errEnough means that a bound was reached.
func (g *grepping) file(ctx context.Context, f io.Reader, path string) error {
	g.in.Reset(untilDone{ctx, f})
	head, err := g.in.Peek(binaryHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.IndexByte(head, 0) >= 0 {
		g.binary++
		return nil
	}
	g.files++
	v := &vicinity{g: g, path: printable(path)}
	for n := 1; ; n++ {
		line, err := g.line()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		at := g.expr.find(ctx, line)
		switch {
		case ctx.Err() != nil && len(line) > maxAtOnce: // it may not have been searched to its end
			return ctx.Err()
		case at >= 0:
			err = v.match(n, line, at)
		case g.context > 0:
			err = v.other(n, line)
		}
		if err != nil {
			return err
		}
	}
}

// line returns the next line without its end, valid until the next call. The
// error is io.EOF when there is none.
func (g *grepping) line() ([]byte, error) {
	line, err := g.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		cut := false
		g.buf = append(g.buf[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = g.in.ReadSlice('\n')
			if room := maxLine - len(g.buf); len(line) > room {
				line, cut = line[:room], true
			}
			g.buf = append(g.buf, line...)
		}
		line = g.buf
		if cut {
			g.long++
		}
	}
	if err != nil && !(errors.Is(err, io.EOF) && len(line) > 0) {
		return nil, err
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
}

// vicinity prints the matches of one file with the lines around them.
type vicinity struct {
	g      *grepping
	path   string
	before []passed // the lines just passed that were not printed
	after  int      // lines still to print
	last   int      // the line printed last
}

// passed is a line, cut to what would be shown.
type passed struct {
	n    int
	text []byte
}

func (v *vicinity) match(n int, line []byte, at int) error {
	g := v.g
	if g.matches == maxMatches {
		g.cut = fmt.Sprintf("%d matching lines", maxMatches)
		return errEnough
	}
	if apart := v.last == 0 || n-len(v.before) > v.last+1; apart && g.context > 0 && g.matches > 0 {
		if err := g.print("--\n"); err != nil {
			return err
		}
	}
	for _, p := range v.before {
		if err := v.print(p.n, '-', p.text); err != nil {
			return err
		}
	}
	g.matches++
	v.before, v.after, v.last = v.before[:0], g.context, n
	return v.print(n, ':', window(line, at))
}

// other takes a line that doesn't match.
func (v *vicinity) other(n int, line []byte) error {
	if v.after > 0 {
		v.after, v.last = v.after-1, n
		return v.print(n, '-', window(line, 0))
	}
	var p passed
	if len(v.before) == v.g.context {
		p = v.before[0] // for its memory
		v.before = v.before[:copy(v.before, v.before[1:])]
	}
	v.before = append(v.before, passed{n, append(p.text[:0], window(line, 0)...)})
	return nil
}

func (v *vicinity) print(n int, mark byte, text []byte) error {
	return v.g.print(fmt.Sprintf("%s%c%d%c%s\n", v.path, mark, n, mark, message.Clean(string(text))))
}

func (g *grepping) print(text string) error {
	if g.out.Len()+len(text) > maxGrepBytes {
		g.cut = fmt.Sprintf("%d KiB", maxGrepBytes>>10)
		return errEnough
	}
	g.out.WriteString(text)
	return nil
}

// window returns a line, of a long one the part around what begins at at.
func window(line []byte, at int) []byte {
	if len(line) <= maxShownLine {
		return line
	}
	from := max(min(at-maxShownLine/5, len(line)-maxShownLine), 0)
	to := from + maxShownLine
	for from > 0 && from < to && !utf8.RuneStart(line[from]) {
		from++
	}
	var b bytes.Buffer
	if from > 0 {
		b.WriteString("[…]")
	}
	b.Write(wholeRunes(line[from:to]))
	if to < len(line) {
		b.WriteString("[…]")
	}
	return b.Bytes()
}
