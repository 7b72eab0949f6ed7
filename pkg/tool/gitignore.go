package tool

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxIgnore bounds what is read of one .gitignore, in bytes.
const maxIgnore = 256 << 10

// ignores are the rules of one .gitignore; up are those of the directories
// above it, which count less.
type ignores struct {
	up    *ignores
	skip  int // bytes of a path before what the rules apply to
	rules []rule
}

// match reports whether an entry is ignored. It is asked from the top down, so
// that what is below an ignored directory is never asked about.
func (g *ignores) match(path, name string, isDir bool) bool {
	for ; g != nil; g = g.up {
		for _, r := range slices.Backward(g.rules) {
			if r.match(path[g.skip:], name, isDir) {
				return !r.keep
			}
		}
	}
	return false
}

// rule is one line of a .gitignore.
type rule struct {
	glob     string // for doublestar, unless plain
	plain    bool   // glob is the whole name
	suffix   bool   // ... or its end
	anchored bool   // it is the path that matches, not the name
	dirOnly  bool
	keep     bool // takes back what an earlier rule ignores
}

func (r rule) match(path, name string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if r.anchored {
		name = path
	}
	switch {
	case r.suffix:
		return strings.HasSuffix(name, r.glob)
	case r.plain:
		return name == r.glob
	}
	return doublestar.MatchUnvalidated(r.glob, name)
}

// readIgnores reads the .gitignore of the directory at rel. One that is a link
// counts as none, as it does for git; so does one that can't be read.
func readIgnores(dir *os.Root, rel string, up *ignores) *ignores {
	info, err := dir.Lstat(".gitignore")
	if err != nil || !info.Mode().IsRegular() {
		return up
	}
	f, err := (&place{dir: dir, base: ".gitignore", info: info}).open(os.O_RDONLY)
	if err != nil {
		return up
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return up
	}
	g := &ignores{up: up, rules: parseIgnores(data)}
	if rel != "." {
		g.skip = len(rel) + 1
	}
	return g
}

func parseIgnores(data []byte) []rule {
	var rules []rule
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if r, ok := parseIgnore(string(line)); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// parseIgnore reads one line. Comments, empty lines and what git takes for
// malformed are no rules.
func parseIgnore(line string) (r rule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	for strings.HasSuffix(line, " ") {
		rest := line[:len(line)-1]
		if escapes := len(rest) - len(strings.TrimRight(rest, `\`)); escapes%2 == 1 {
			break
		}
		line = rest
	}
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	switch rest := strings.TrimPrefix(line, "*"); {
	case line == "":
		return r, false
	case !strings.ContainsAny(line, `*?[\`):
		r.glob, r.plain = line, true
		return r, true
	case !r.anchored && !strings.ContainsAny(rest, `*?[\`):
		r.glob, r.suffix = rest, true
		return r, true
	}
	r.glob, ok = translate(line)
	return r, ok
}

// translate turns git's pattern into one for doublestar, where braces have a
// meaning, brackets have less of one, and "a/**" is a itself, too.
func translate(p string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch c := p[i]; c {
		case '{', '}':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\\':
			if i+1 == len(p) {
				return "", false
			}
			b.WriteString(p[i : i+2])
			i++
		case '[':
			class, n := translateClass(p[i:])
			if n == 0 {
				return "", false
			}
			b.WriteString(class)
			i += n - 1
		default:
			b.WriteByte(c)
		}
	}
	if strings.HasSuffix(p, "/**") {
		b.WriteString("/*")
	}
	return b.String(), true
}

// posix returns the named classes that have a use in file names.
func posix() map[string]string {
	return map[string]string{
		"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "digit": "0-9", "lower": "a-z", "upper": "A-Z", "space": " \t", "xdigit": "0-9A-Fa-f",
	}
}

// translateClass turns the bracket expression at the beginning of p into one
// for doublestar. n is its length in p, 0 when it is malformed.
func translateClass(p string) (class string, n int) {
	class, first := "[", 1
	if strings.HasPrefix(p, "[!") || strings.HasPrefix(p, "[^") {
		class, first = "[!/", 2 // a class never matches a slash
	}
	for i := first; i < len(p); i++ {
		switch c := p[i]; {
		case c == ']' && i > first:
			return class + "]", i + 1
		case strings.HasPrefix(p[i:], "[:"):
			name, _, ended := strings.Cut(p[i+2:], ":]")
			set, known := posix()[name]
			if !ended || !known {
				return "", 0
			}
			class += set
			i += len(name) + 3
		case c == '\\' && i+1 < len(p):
			class += p[i : i+2]
			i++
		case c == ']' || c == '-' && i == first:
			class += `\` + p[i:i+1]
		default:
			class += p[i : i+1]
		}
	}
	return "", 0
}
