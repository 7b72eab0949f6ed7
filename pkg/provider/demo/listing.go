package demo

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// maxReads is how many files are read for an answer.
const maxReads = 3

// listing is a directory as list_files tells it.
type listing struct {
	files, dirs, links, others []string
	remarks                    []string // the tool's own words
}

func (l listing) names() []string { return slices.Concat(l.dirs, l.files, l.links, l.others) }

// parseListing reads one entry a line: directories end with a slash, links are
// "name -> target", and a column after a tab or two spaces is no part of the
// name; in brackets it says what else the entry is. Lines in brackets are
// remarks.
func parseListing(text string) listing {
	var l listing
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, column, ok := strings.Cut(line, "\t")
		if !ok {
			name, column, _ = strings.Cut(line, "  ")
		}
		name = strings.TrimPrefix(name, "./")
		link, _, isLink := strings.Cut(name, " -> ")
		switch {
		case name == "" || name == ".":
		case isRemark(line):
			l.remarks = append(l.remarks, line)
		case isLink:
			l.links = append(l.links, link)
		case strings.HasSuffix(name, "/"):
			l.dirs = append(l.dirs, name)
		case strings.HasPrefix(column, "("):
			l.others = append(l.others, name)
		default:
			l.files = append(l.files, name)
		}
	}
	return l
}

func isRemark(line string) bool {
	return strings.HasPrefix(line, "…") || strings.HasPrefix(line, "... ") ||
		strings.HasPrefix(line, "(") && strings.HasSuffix(line, ")") ||
		strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]")
}

// choose picks the files that say most about a project: readmes, then those
// that describe a build, then any text by name.
func choose(files []string) []string {
	var texts []string
	for _, f := range files {
		if isText(f) {
			texts = append(texts, f)
		}
	}
	slices.SortFunc(texts, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")),
			cmp.Compare(rank(a), rank(b)),
			cmp.Compare(a, b))
	})
	texts = slices.Compact(texts)
	return texts[:min(len(texts), maxReads)]
}

// isText guesses from the name; hidden files are none of its business.
func isText(file string) bool {
	for part := range strings.SplitSeq(file, "/") {
		if part == "" || part[0] == '.' {
			return false
		}
	}
	base := path.Base(file)
	ext := strings.ToLower(path.Ext(base))
	return strings.Contains(textExts, ext+" ") && ext != "" || rank(file) < other && ext == ""
}

const textExts = ".md .markdown .rst .adoc .org .txt .text .csv .tsv .log .json .yaml .yml .toml .xml .ini .cfg .conf .html " +
	".go .mod .py .js .mjs .ts .tsx .jsx .rs .c .h .cc .cpp .hpp .java .kt .rb .php .pl .lua .sh .sql .swift .cs .gradle .tex "

// other is the rank of a file that nothing is known of.
const other = 100

// rank orders files by how much they say about a project.
func rank(file string) int {
	base := strings.ToLower(path.Base(file))
	if strings.HasPrefix(base, "readme") {
		return 0
	}
	known := [...]string{
		"go.mod", "package.json", "cargo.toml", "pyproject.toml", "makefile", "cmakelists.txt", "pom.xml",
		"build.gradle", "composer.json", "gemfile", "setup.py", "requirements.txt", "dockerfile", "license", "authors", "changelog",
	}
	if i := slices.Index(known[:], base); i >= 0 {
		return i + 1
	}
	return other
}
