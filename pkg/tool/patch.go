package tool

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// filePatch is what a unified diff says of one file.
type filePatch struct {
	path    string
	create  bool // from nothing
	remove  bool // to nothing
	changes []hunk
}

// hunk is a run of lines that is replaced by another. at is the line that it
// begins at, counted from 1, before the patch; 0 where it is not said.
type hunk struct {
	at    int
	lines []patchLine
}

// patchLine is a line of a hunk: ' ' stays, '-' goes, '+' comes. open means
// that no line end follows it.
type patchLine struct {
	op   byte
	text string
	open bool
}

// hunkHeader is lenient with counts: models get them wrong, and the lines say
// the same.
var hunkHeader = regexp.MustCompile(`^@@+ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@`)

// parsePatch reads a unified diff, as diff and git write it (POSIX diff -u, the
// extended headers of git diff). Code fences around it are passed over.
func parsePatch(text string) ([]filePatch, error) {
	var files []filePatch
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			f, err := fileHeader(line, lines[i+1])
			if err != nil {
				return nil, err
			}
			files = append(files, f)
			i++
		case strings.HasPrefix(line, "@@"):
			if len(files) == 0 {
				return nil, fmt.Errorf("line %d: a hunk before any file: want lines --- a/PATH and +++ b/PATH first", i+1)
			}
			h, n, err := readHunk(lines[i:])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			f := &files[len(files)-1]
			f.changes = append(f.changes, h)
			i += n - 1
		case strings.HasPrefix(line, "rename ") || strings.HasPrefix(line, "copy ") || strings.HasPrefix(line, "GIT binary patch"):
			return nil, fmt.Errorf("line %d: %s: renames, copies and binary patches can't be applied", i+1, clip(line, 80))
		}
	}
	return files, checkPatch(files)
}

func checkPatch(files []filePatch) error {
	if len(files) == 0 {
		return errors.New("it holds no file: want a unified diff with lines --- a/PATH, +++ b/PATH and @@")
	}
	seen := map[string]bool{}
	for _, f := range files {
		switch {
		case seen[f.path]:
			return fmt.Errorf("%s is in it twice", printable(f.path))
		case len(f.changes) == 0 && !f.remove:
			return fmt.Errorf("%s has no hunk", printable(f.path))
		}
		seen[f.path] = true
	}
	return nil
}

// fileHeader reads the two lines that name a file before and after.
func fileHeader(before, after string) (filePatch, error) {
	from, to := patchName(before), patchName(after)
	f := filePatch{path: to, create: from == "/dev/null", remove: to == "/dev/null"}
	if strings.HasPrefix(from, "a/") && strings.HasPrefix(to, "b/") || f.create && strings.HasPrefix(to, "b/") || f.remove && strings.HasPrefix(from, "a/") {
		from, to = strings.TrimPrefix(from, "a/"), strings.TrimPrefix(to, "b/")
	}
	switch {
	case f.create && f.remove:
		return f, errors.New("a file from /dev/null to /dev/null")
	case f.remove:
		to = from
	case !f.create && from != to:
		return f, fmt.Errorf("%s becomes %s: renames can't be applied", printable(from), printable(to))
	}
	f.path = to
	return f, nil
}

// patchName is the path of a header line; a tab and a time may follow it, and
// git quotes what is not plain.
func patchName(line string) string {
	name, _, _ := strings.Cut(line[4:], "\t")
	name = strings.TrimRight(name, " ")
	if strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(name); err == nil {
			return plain
		}
	}
	return name
}

// readHunk reads a hunk from its header on and returns how many lines it has.
func readHunk(lines []string) (hunk, int, error) {
	var h hunk
	if m := hunkHeader.FindStringSubmatch(lines[0]); m != nil {
		h.at, _ = strconv.Atoi(m[1]) // digits, and a huge number is just far away
	} else if strings.Trim(lines[0], "@ ") != "" && !strings.HasPrefix(lines[0], "@@ ") {
		return h, 0, fmt.Errorf("%q is no hunk header, want @@ -LINE,COUNT +LINE,COUNT @@", clip(lines[0], 80))
	}
	n := 1
	for ; n < len(lines); n++ {
		line := lines[n]
		if line == "" && n == len(lines)-1 || endsHunk(lines[n:]) {
			break
		}
		if line == "" {
			line = " " // an editor has taken the blank of an empty line
		}
		switch op := line[0]; op {
		case ' ', '+', '-':
			h.lines = append(h.lines, patchLine{op: op, text: line[1:]})
		case '\\': // \ No newline at end of file
			if len(h.lines) > 0 {
				h.lines[len(h.lines)-1].open = true
			}
		default:
			return h, 0, fmt.Errorf("%q does not begin with a blank, + or -", clip(line, 80))
		}
	}
	h.lines = trimBlank(h.lines)
	if !h.changes() {
		return h, 0, errors.New("the hunk changes nothing")
	}
	return h, n, nil
}

// endsHunk reports whether something else begins: the next hunk or file, or
// the end of a fence.
func endsHunk(lines []string) bool {
	line := lines[0]
	return strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "```") ||
		strings.HasPrefix(line, "--- ") && len(lines) > 1 && strings.HasPrefix(lines[1], "+++ ")
}

// trimBlank takes blank lines from the end that stand between two files.
func trimBlank(lines []patchLine) []patchLine {
	for n := len(lines); n > 0 && lines[n-1] == (patchLine{op: ' '}); n-- {
		lines = lines[:n-1]
	}
	return lines
}

func (h hunk) changes() bool {
	for _, l := range h.lines {
		if l.op != ' ' {
			return true
		}
	}
	return false
}
