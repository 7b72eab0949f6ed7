package tool

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxCounted bounds the occurrences that are counted for an error.
const maxCounted = 1000

// edit is the replacement of one text.
type edit struct {
	Old string `json:"old"`
	New string `json:"new"`
	All bool   `json:"all,omitempty"`
}

// applyEdits makes the edits in order and returns the text and the number of
// replacements.
func applyEdits(text []byte, edits []edit) ([]byte, int, error) {
	before, total := text, 0
	for i, e := range edits {
		after, n, err := e.apply(text)
		if err != nil {
			where := "edit " + fmt.Sprint(i+1)
			if i > 0 {
				where += ", after those before it"
			}
			return nil, 0, fmt.Errorf("%s: %w", where, err)
		}
		text, total = after, total+n
	}
	if bytes.Equal(before, text) {
		return nil, 0, errors.New("the edits together change nothing")
	}
	return text, total, nil
}

func (e edit) apply(raw []byte) ([]byte, int, error) {
	switch e.Old {
	case "":
		return nil, 0, errors.New("old is empty; write_file writes a whole file")
	case e.New:
		return nil, 0, errors.New("old and new are equal")
	}
	t := fold(raw, e)
	n := bytes.Count(t.text, []byte(e.Old))
	if n == 0 {
		return nil, 0, errors.New("old is not in the file; " + nearest(raw, e.Old))
	}
	if !e.All {
		if starts := occurrences(t.text, e.Old); len(starts) > 1 {
			return nil, 0, fmt.Errorf("old is in the file %s; give more of the lines around it, or set all", countAndLines(t.text, starts))
		}
	}
	if len(raw)+n*(len(e.New)-len(e.Old)) > maxEdited {
		return nil, 0, fmt.Errorf("the file would be larger than %d MiB", maxEdited>>20)
	}
	return t.replace(e, n), n, nil
}

// occurrences returns where old begins, overlaps included.
func occurrences(text []byte, old string) []int {
	var starts []int
	for at := 0; len(starts) < maxCounted; at++ {
		i := bytes.Index(text[at:], []byte(old))
		if i < 0 {
			break
		}
		at += i
		starts = append(starts, at)
	}
	return starts
}

func countAndLines(text []byte, starts []int) string {
	const shown = 20
	var lines []string
	line, at := 1, 0
	for _, start := range starts[:min(len(starts), shown)] {
		line += bytes.Count(text[at:start], []byte("\n"))
		at = start
		lines = append(lines, fmt.Sprint(line))
	}
	count, more := fmt.Sprintf("%d times", len(starts)), ""
	if len(starts) == maxCounted {
		count = "at least " + count
	}
	if len(starts) > shown {
		more = ", …"
	}
	return count + ", at lines " + strings.Join(slices.Compact(lines), ", ") + more
}

// folded is a text in which CRLF is taken for LF.
type folded struct {
	raw   []byte
	text  []byte
	crlf  []int // where in text the line feeds are that stand for CRLF
	plain int   // line feeds that stand for themselves
}

// fold folds a text for an edit that is written with LF alone. One that has a
// CR in it means its line ends as they are.
func fold(raw []byte, e edit) folded {
	t := folded{raw: raw, text: raw}
	if strings.Contains(e.Old+e.New, "\r") || !bytes.Contains(raw, []byte("\r\n")) {
		return t
	}
	t.text = make([]byte, 0, len(raw))
	for rest := raw; ; {
		i := bytes.Index(rest, []byte("\r\n"))
		if i < 0 {
			t.text = append(t.text, rest...)
			break
		}
		t.text = append(t.text, rest[:i]...)
		t.crlf = append(t.crlf, len(t.text))
		t.text = append(t.text, '\n')
		rest = rest[i+2:]
	}
	t.plain = bytes.Count(t.text, []byte("\n")) - len(t.crlf)
	return t
}

// at returns where in raw stands what is at i in text.
func (t folded) at(i int) int {
	n, _ := slices.BinarySearch(t.crlf, i)
	return i + n
}

// replace replaces the first n occurrences. What old and new have in common at
// their ends is not touched.
func (t folded) replace(e edit, n int) []byte {
	head, tail := common(e.Old, e.New)
	insert := e.New[head : len(e.New)-tail]
	out := make([]byte, 0, max(len(t.raw)+n*(len(e.New)-len(e.Old)), 0))
	done, at := 0, 0
	for range n {
		at += bytes.Index(t.text[at:], []byte(e.Old))
		from, to := t.at(at+head), t.at(at+len(e.Old)-tail)
		out = append(out, t.raw[done:from]...)
		out = t.appendLines(out, insert, t.raw[from:to])
		done, at = to, at+len(e.Old)
	}
	return append(out, t.raw[done:]...)
}

// common returns the lengths of what a and b begin and end with alike.
func common(a, b string) (head, tail int) {
	short := min(len(a), len(b))
	for head < short && a[head] == b[head] {
		head++
	}
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// appendLines appends text. Its line ends are those of the text in whose place
// it comes, one by one; further ones are like the last, or like most in the
// file.
func (t folded) appendLines(out []byte, text string, replaced []byte) []byte {
	if len(t.crlf) == 0 {
		return append(out, text...)
	}
	crlf := len(t.crlf) >= t.plain
	for {
		line, rest, ended := strings.Cut(text, "\n")
		out = append(out, line...)
		if !ended {
			return out
		}
		if i := bytes.IndexByte(replaced, '\n'); i >= 0 {
			crlf = i > 0 && replaced[i-1] == '\r'
			replaced = replaced[i+1:]
		}
		if crlf {
			out = append(out, '\r')
		}
		out, text = append(out, '\n'), rest
	}
}
