package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of the module, and so of the package at the root.
const module = "kagent"

// A floor says what a package and those below it may import of this module. A
// package stands on the floor with the longest matching path.
type floor struct {
	path    string
	imports []string // exact paths; "..." after one takes in the packages below it
	stdOnly bool     // of the world outside, only the standard library
	pure    bool     // no files, no clock, no goroutines
}

func floors() []floor {
	return []floor{
		{path: "", imports: []string{"cmd"}, stdOnly: true},
		{path: "cmd", imports: []string{"pkg/..."}},
		{path: "pkg/agent", imports: []string{"pkg/session", "pkg/provider", "pkg/tool", "pkg/message", "pkg/userfile"}},
		{path: "pkg/checkpoint", imports: []string{"pkg/session", "pkg/message"}},
		{path: "pkg/session", imports: []string{"pkg/message"}, pure: true},
		{path: "pkg/provider", imports: []string{"pkg/message", "pkg/provider"}},
		{path: "pkg/provider/sse", imports: []string{"pkg/message", "pkg/provider", "pkg/secret"}},
		{path: "pkg/provider/demo", imports: []string{"pkg/message", "pkg/provider", "pkg/provider/script"}},
		{path: "pkg/provider/anthropic", imports: []string{"pkg/message", "pkg/provider", "pkg/provider/sse"}},
		{path: "pkg/provider/catalogue", imports: []string{"pkg/message", "pkg/secret", "pkg/userfile"}},
		{path: "pkg/provider/catalogue/make", imports: nil},
		{path: "pkg/provider/gemini", imports: []string{"pkg/message", "pkg/provider", "pkg/provider/sse"}},
		{path: "pkg/provider/ollama", imports: []string{"pkg/message", "pkg/provider", "pkg/provider/sse"}},
		{path: "pkg/provider/script", imports: []string{"pkg/message", "pkg/provider", "pkg/userfile"}},
		{path: "pkg/provider/responses", imports: []string{"pkg/message", "pkg/provider", "pkg/provider/sse"}},
		{path: "pkg/provider/openai", imports: []string{"pkg/message", "pkg/provider", "pkg/provider/sse"}},
		{path: "pkg/tool", imports: []string{"pkg/message", "pkg/secret", "pkg/tool", "pkg/userfile"}},
		{path: "pkg/message", stdOnly: true},
		{path: "pkg/secret", stdOnly: true},
		{path: "pkg/userfile"},    // what people write by hand
		{path: "internal/wire"},   // drives the built binary against a strict server
		{path: "internal/faults"}, // drives the built binary from outside
		{path: "internal/soak"},   // and keeps it at work under all kinds of trouble
	}
}

func TestPackagesStandOnTheirFloors(t *testing.T) {
	faults, files, err := inspect(".", floors())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
	if files == 0 {
		t.Error("no source files were found")
	}
}

// inspect parses every source file below root and lists what breaks a rule.
// Build tags don't hide a file; tests are read too, but may import anything.
func inspect(root string, floors []floor) (faults []string, files int, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && skipped(name) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		faults = append(faults, check(filepath.ToSlash(rel), file, set, floors)...)
		return nil
	})
	return faults, files, err
}

// skipped tells directories that hold no package of this module.
func skipped(dir string) bool {
	base := filepath.Base(dir)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func check(name string, file *ast.File, set *token.FileSet, floors []floor) (faults []string) {
	add := func(at ast.Node, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s:%d: ", name, set.Position(at.Pos()).Line)+fmt.Sprintf(format, args...))
	}
	pkg := strings.TrimPrefix(path.Dir(name), ".")
	f, ok := floorOf(pkg, floors)
	if !ok {
		add(file, "package %s is on no floor: give it a line in floors_test.go", pkg)
		return faults
	}
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			add(fn, "init functions are not used here")
		}
	}
	if strings.HasSuffix(name, "_test.go") {
		return faults
	}
	for _, imp := range file.Imports {
		target, _ := strconv.Unquote(imp.Path.Value)
		if why := f.refuses(target); why != "" {
			add(imp, "package %s must not import %s: %s", pkg, target, why)
		}
	}
	if f.pure {
		impure(file, add)
	}
	return faults
}

// floorOf finds the floor of a package. The root's is for itself alone.
func floorOf(pkg string, floors []floor) (best floor, ok bool) {
	for _, f := range floors {
		below := f.path != "" && strings.HasPrefix(pkg, f.path+"/")
		if (pkg == f.path || below) && (!ok || len(f.path) > len(best.path)) {
			best, ok = f, true
		}
	}
	return best, ok
}

// refuses says why an import breaks the rule, "" if it doesn't.
func (f floor) refuses(target string) string {
	inner, internal := strings.CutPrefix(target, module+"/")
	switch {
	case target == module:
		return "nothing imports the root"
	case internal:
		for _, allowed := range f.imports {
			if base, all := strings.CutSuffix(allowed, "..."); inner == allowed || all && strings.HasPrefix(inner, base) {
				return ""
			}
		}
		return "its floor allows " + strings.Join(append(f.imports, "nothing else"), ", ")
	case f.stdOnly && strings.Contains(strings.Split(target, "/")[0], "."):
		return "its floor allows only the standard library"
	case f.pure && slices.Contains([]string{"os", "net", "sync", "syscall"}, strings.Split(target, "/")[0]):
		return "its floor touches no files, no clock and no goroutines"
	}
	return ""
}

// impure finds uses of the clock, and goroutines.
func impure(file *ast.File, add func(ast.Node, string, ...any)) {
	clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"}
	alias := ""
	for _, imp := range file.Imports {
		if imp.Path.Value == `"time"` {
			alias = "time"
			if imp.Name != nil {
				alias = imp.Name.Name
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			add(n, "no goroutines here")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == alias && slices.Contains(clock, n.Sel.Name) {
				add(n, "no clock here: time.%s", n.Sel.Name)
			}
		}
		return true
	})
}

// The check itself is checked: each of these trees breaks one rule.
func TestBrokenFloorsAreFound(t *testing.T) {
	for name, c := range map[string]struct{ file, source, want string }{
		"upwards":                 {"pkg/message/a.go", `import _ "kagent/pkg/session"`, "must not import kagent/pkg/session"},
		"a library in message":    {"pkg/message/a.go", `import _ "example.org/x"`, "only the standard library"},
		"a protocol in agent":     {"pkg/agent/a.go", `import _ "kagent/pkg/provider/openai"`, "must not import"},
		"files in agent":          {"pkg/agent/a.go", `import _ "kagent/pkg/checkpoint"`, "must not import"},
		"agents in checkpoint":    {"pkg/checkpoint/a.go", `import _ "kagent/pkg/agent"`, "must not import"},
		"protocols of each other": {"pkg/provider/x/a.go", `import _ "kagent/pkg/provider/y"`, "must not import"},
		"sessions in a tool":      {"pkg/tool/mcp/a.go", `import _ "kagent/pkg/session"`, "must not import"},
		"cmd from below":          {"pkg/tool/a.go", `import _ "kagent/cmd"`, "must not import kagent/cmd"},
		"a short way for main":    {"main.go", `import _ "kagent/pkg/agent"`, "must not import"},
		"behind a build tag":      {"pkg/message/a.go", "//go:build never\n\npackage x\n\nimport _ \"kagent/cmd\"", "must not import"},
		"an unknown package":      {"pkg/util/a.go", "", "on no floor"},
		"an init":                 {"cmd/a.go", "func init() {}", "init functions"},
		"files in session":        {"pkg/session/a.go", `import _ "os/exec"`, "no files"},
		"locks in session":        {"pkg/session/a.go", `import _ "sync/atomic"`, "no goroutines"},
		"the clock in session":    {"pkg/session/a.go", "import t \"time\"\n\nvar now = t.Now", "time.Now"},
		"a goroutine in session":  {"pkg/session/a.go", "func f() { go f() }", "no goroutines"},
	} {
		t.Run(name, func(t *testing.T) {
			source := c.source
			if !strings.Contains(source, "package ") {
				source = "package x\n\n" + source
			}
			faults, _, err := inspect(tree(t, c.file, source), floors())
			if err != nil || len(faults) != 1 || !strings.Contains(faults[0], c.want) || !strings.HasPrefix(faults[0], c.file+":") {
				t.Errorf("got %q, %v, want %q", faults, err, c.want)
			}
		})
	}
}

func TestSoundFloorsPass(t *testing.T) {
	for file, source := range map[string]string{
		"main.go":                   `import _ "kagent/cmd"`,
		"cmd/a.go":                  `import _ "kagent/pkg/provider/openai"`,
		"cmd/a_test.go":             `import _ "kagent/cmd/other"`,
		"pkg/provider/openai/a.go":  "import (\n\t_ \"kagent/pkg/provider\"\n\t_ \"example.org/x\"\n)",
		"pkg/session/a.go":          "import \"time\"\n\nvar d time.Time",
		"pkg/tool/testdata/a.go":    `import _ "kagent/cmd"`,
		"pkg/message/a.go":          "type T struct{}\n\nfunc (T) init() {}",
		"pkg/session/clock_test.go": "import \"time\"\n\nvar now = time.Now()",
		".hidden/a.go":              `import _ "kagent/cmd"`,
	} {
		faults, _, err := inspect(tree(t, file, "package x\n\n"+source), floors())
		if err != nil || len(faults) > 0 {
			t.Errorf("%s: got %q, %v", file, faults, err)
		}
	}
}

func tree(t *testing.T, file, source string) string {
	t.Helper()
	root := t.TempDir()
	name := filepath.Join(root, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}
