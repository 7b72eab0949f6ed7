package tool

import (
	"bytes"
	"fmt"
	"strings"
)

// Bounds of the look for the nearest text: lines compared, places tried.
const (
	maxAlike = 50
	maxTried = 1000
)

// nearest says where the text comes closest to old, which it doesn't contain:
// where the first line of old is but for white space, and what differs there.
func nearest(text []byte, old string) string {
	lf := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }
	if bytes.Contains(lf(text), lf([]byte(old))) {
		return "it is but for the line ends: write them as LF in old and in new, which stands for the file's own"
	}
	want := strings.Split(strings.TrimSuffix(strings.ReplaceAll(old, "\r\n", "\n"), "\n"), "\n")
	for len(want) > 1 && strings.TrimSpace(want[0]) == "" {
		want = want[1:]
	}
	first := []byte(strings.TrimSpace(want[0]))
	if len(first) == 0 {
		return "it is only white space"
	}
	want = want[:min(len(want), maxAlike)]
	have := bytes.Split(text, []byte("\n"))
	best, most, tried := -1, -1, 0
	for i, line := range have {
		if !bytes.Equal(bytes.TrimSpace(line), first) {
			continue
		}
		if tried++; tried > maxTried {
			break
		}
		if n := alike(have[i:], want); n > most {
			best, most = i, n
		}
	}
	switch {
	case best < 0:
		return "no line is like its first; read the file again"
	case most == maxAlike:
		return fmt.Sprintf("%d lines are as from line %d on, and what differs comes later", most, best+1)
	case most == len(want):
		return fmt.Sprintf("its lines are as from line %d on, but not the line ends around them", best+1)
	case best+most == len(have):
		return fmt.Sprintf("it begins like line %d, but the file ends after line %d", best+1, len(have))
	}
	return fmt.Sprintf("line %d comes nearest: the file has %q where old has %q", best+most+1,
		clip(string(bytes.TrimSuffix(have[best+most], []byte("\r"))), 200), clip(want[most], 200))
}

// alike counts the lines from the first that are equal.
func alike(have [][]byte, want []string) int {
	for i, w := range want {
		if i == len(have) || string(bytes.TrimSuffix(have[i], []byte("\r"))) != w {
			return i
		}
	}
	return len(want)
}
