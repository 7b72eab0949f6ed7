package demo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestListingsAreUnderstood(t *testing.T) {
	for listing, want := range map[string]string{
		"":                                       "0 files and 0 directories.",
		"[the directory is empty]":               "0 files and 0 directories. The tool remarks: [the directory is empty]",
		"a.bin\nb/\n":                            "1 file and 1 directory: b/, a.bin.",
		"./a.bin\r\n./b/\r\n":                    "1 file and 1 directory: b/, a.bin.",
		"a.bin  12 KB\nb/  -\n":                  "1 file and 1 directory: b/, a.bin.",
		"my file.bin\t12\n":                      "1 file and 0 directories: my file.bin.",
		"[id].bin\t1\n(x)\t2\n":                  "2 files and 0 directories: [id].bin, (x).",
		"l -> /etc\ns\t(socket)\n":               "0 files and 0 directories, and 2 other entries: l, s.",
		"l -> x\n":                               "0 files and 0 directories, and 1 other entry: l.",
		"locked/\t(permission denied)\n":         "0 files and 1 directory: locked/.",
		"a.bin\n[cut: 1 entry is shown]\n":       "1 file and 0 directories: a.bin. The tool remarks: [cut: 1 entry is shown]",
		"数据.bin\t3\n🙂/\n":                        "1 file and 1 directory: 🙂/, 数据.bin.",
		strings.Repeat("x.bin\n", 30) + "z/\n\n": "30 files and 1 directory: z/, " + strings.Repeat("x.bin, ", 11) + "and 19 more.",
	} {
		contains(t, (&session{world: world{tools: both(), listing: listing}}).ask(t, "hi"), "The directory holds "+want)
	}
}

func TestTheMostTellingFilesAreRead(t *testing.T) {
	for listing, want := range map[string][]string{
		"a.txt\nb.txt\nc.txt\nd.txt":                          {"a.txt", "b.txt", "c.txt"},
		"zz.md\nMakefile\nsrc/\npackage.json\nreadme.rst":     {"readme.rst", "package.json", "Makefile"},
		"README\nREADME.md\nREADME.png\nLICENSE\na.go":        {"README", "README.md", "LICENSE"},
		".env\n.npmrc\nid_rsa\nprogram\ndb.sqlite\nm\ngo.sum": nil,
		"x.txt -> /etc/passwd\nf.txt\t(named pipe)\nd.txt/":   nil,
		"sub/README.md\nsub/.git/a.txt\nz.txt":                {"z.txt", "sub/README.md"},
		"\"a\\nb.txt\"\nB.TXT\t3":                             {"B.TXT"},
		"说明.md\t3":                                            {"说明.md"},
	} {
		w := world{tools: both(), listing: listing, files: map[string]string{}}
		var calls []string
		for _, f := range want {
			w.files[f] = "x"
			calls = append(calls, "read_file "+f)
		}
		s := &session{world: w}
		s.ask(t, "hi")
		if !slices.Equal(s.calls[1:], calls) {
			t.Errorf("%q: called %q", listing, s.calls)
		}
	}
}

func TestFilesAreSummedUp(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"a.md", "# One #\n~~~\n# no\n~~~\n### 二\n#hash", "2 headings: One, 二."},
		{"a.md", "plain", "it begins with “plain”."},
		{"a.md", "# a\n# b\n# c\n# d\n# e\n# f\n# g", "7 headings: a, b, c, d, e, and 2 more."},
		{"a.txt", "\n\n  first \r\nsecond", "it begins with “first”."},
		{"a.txt", " \n", "it is empty."},
		{"a.txt", "[the file is empty]", "the tool says [the file is empty]."},
		{"a.txt", strings.Repeat("é", 500), "it begins with “" + strings.Repeat("é", 120) + "…”."},
		{"package.json", "{\n  \"name\": \"@x/y\",\n \"version\": \"1\"}", "it names the project @x/y."},
		{"package.json", "{\"private\": true}", "it begins with “{\"private\": true}”."},
		{"Cargo.toml", "[package]\nname = \"tide\"\n", "it names the project tide."},
		{"README", "# Title\n", "it begins with “# Title”.\n\nThe project calls itself Title."},
		{"go.mod", "// a comment\nmodule m\n", "it names the project m."},
		{"a.md", "# A\r\n[cut at 256 KiB: read on]", "1 heading: A. The tool remarks: [cut at 256 KiB: read on]"},
		{"a.txt", "bad \xff\x00 bytes", "it begins with “bad \uFFFD\uFFFD bytes”."},
	} {
		w := world{tools: both(), listing: c.file + "\n", files: map[string]string{c.file: c.text}}
		contains(t, (&session{world: w}).ask(t, "hi"), fmt.Sprintf("- %s: %s", c.file, c.want))
	}
}
