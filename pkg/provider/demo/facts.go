package demo

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// maxHeadings is how many headings of a file are told.
const maxHeadings = 5

var (
	heading    = pattern(`^#{1,6}[ \t]+(.+?)[ \t#]*$`)
	fence      = pattern("^[ \t]*(```|~~~)")
	namedField = pattern(`(?m)^[ \t{]*"?name"?[ \t]*[:=][ \t]*["']([^"'\n]+)["']`)
	module     = pattern(`(?m)^module[ \t]+(\S+)`)
)

// fact is what a file says in one line: its headings if it is a document, the
// name of a project, or else its first line that isn't blank.
func fact(file, text string) string {
	switch name := projectName(file, text); path.Ext(strings.ToLower(file)) {
	case ".md", ".markdown":
		if hs := headings(text); len(hs) > 0 {
			return plural(len(hs), "heading") + ": " + some(hs, maxHeadings)
		}
	case ".mod", ".json", ".toml":
		if name != "" {
			return "it names the project " + name
		}
	}
	switch first := firstLine(text); {
	case first == "":
		return "it is empty"
	case first == strings.TrimSpace(text) && isRemark(first):
		return "the tool says " + first
	default:
		return "it begins with “" + first + "”"
	}
}

// projectName returns what the file calls its project, "" if it doesn't.
func projectName(file, text string) string {
	var m []string
	switch base := strings.ToLower(path.Base(file)); base {
	case "go.mod":
		m = module().FindStringSubmatch(text)
	case "package.json", "cargo.toml", "pyproject.toml", "composer.json":
		m = namedField().FindStringSubmatch(text)
	default:
		if hs := headings(text); strings.HasPrefix(base, "readme") && len(hs) > 0 {
			return hs[0]
		}
	}
	if m == nil {
		return ""
	}
	return cut(m[1], maxLine)
}

// headings returns the Markdown headings, those in code blocks left out.
func headings(text string) []string {
	var hs []string
	code := false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\r\n")
		if fence().MatchString(l) {
			code = !code
		}
		if m := heading().FindStringSubmatch(l); m != nil && !code {
			hs = append(hs, cut(m[1], maxLine))
		}
	}
	return hs
}

// firstLine returns the first line that isn't blank.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return cut(strings.TrimSpace(line), maxLine)
}

// pattern returns an expression that is compiled when it is first needed: a
// start that needs none pays for none.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
