package tool

import (
	"bytes"
	"fmt"
	"strings"
)

// apply returns what a patch makes of a file's content. A hunk is applied where
// its lines are, at the place nearest to the one it names, after the hunk
// before it; blanks count, line ends do not.
func (f filePatch) apply(content []byte) ([]byte, error) {
	lines := bytes.SplitAfter(content, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	eol := "\n"
	if n := bytes.Count(content, []byte("\r\n")); n > 0 && 2*n >= bytes.Count(content, []byte("\n")) {
		eol = "\r\n"
	}
	var out []byte
	done, moved := 0, 0
	for i, h := range f.changes {
		at, err := h.find(lines, done, h.at-1+moved)
		if err != nil {
			return nil, fmt.Errorf("hunk %d: %w", i+1, err)
		}
		if h.at > 0 {
			moved = at - (h.at - 1)
		}
		for _, line := range lines[done:at] {
			out = appendLine(out, line, eol)
		}
		out, done = h.write(out, lines, at, eol)
	}
	for _, line := range lines[done:] {
		out = appendLine(out, line, eol)
	}
	return out, nil
}

// appendLine adds a line, and ends the one before it if nothing did.
func appendLine(out, line []byte, eol string) []byte {
	if n := len(out); n > 0 && out[n-1] != '\n' {
		out = append(out, eol...)
	}
	return append(out, line...)
}

// write adds what the hunk makes of the lines from at on, and returns where it
// ends.
func (h hunk) write(out []byte, lines [][]byte, at int, eol string) ([]byte, int) {
	for _, l := range h.lines {
		switch l.op {
		case '+':
			line := l.text
			if !l.open {
				line += eol
			}
			out = appendLine(out, []byte(line), eol)
		case ' ':
			out = appendLine(out, lines[at], eol)
			at++
		case '-':
			at++
		}
	}
	return out, at
}

// find returns the line where the hunk's old lines stand, not before from: the
// nearest one to near.
func (h hunk) find(lines [][]byte, from, near int) (int, error) {
	old := h.old()
	if len(old) == 0 { // nothing but additions: after the line that is named
		if h.at == 0 && len(lines) > 0 {
			return 0, fmt.Errorf("it only adds lines and does not say where; give lines around them")
		}
		return min(max(near+1, from), len(lines)), nil
	}
	near = min(max(near, from), len(lines))
	for off := 0; off <= len(lines); off++ {
		for _, at := range []int{near + off, near - off} {
			if at >= from && at+len(old) <= len(lines) && matches(lines[at:], old) {
				return at, nil
			}
		}
	}
	return 0, h.mismatch(lines, from, near, old)
}

// old are the lines that have to be there.
func (h hunk) old() []string {
	var old []string
	for _, l := range h.lines {
		if l.op != '+' {
			old = append(old, l.text)
		}
	}
	return old
}

func matches(lines [][]byte, old []string) bool {
	for i, want := range old {
		if lineText(lines[i]) != strings.TrimSuffix(want, "\r") {
			return false
		}
	}
	return true
}

func lineText(line []byte) string {
	return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
}

// mismatch says where the hunk was looked for and what is there instead.
func (h hunk) mismatch(lines [][]byte, from, near int, old []string) error {
	for i, want := range old {
		at := near + i
		if at >= len(lines) || lineText(lines[at]) == strings.TrimSuffix(want, "\r") {
			continue
		}
		return fmt.Errorf("its lines are not in the file, after line %d; at line %d it wants %s and there is %s: read the file again",
			from, at+1, quote(want), quote(lineText(lines[at])))
	}
	return fmt.Errorf("its lines are not in the file, after line %d; the file has %d lines: read it again", from, len(lines))
}

func quote(line string) string { return fmt.Sprintf("%q", clip(line, 120)) }
