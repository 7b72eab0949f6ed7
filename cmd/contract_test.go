package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The page that says what users see is handed, and no part of the repository:
// KAGENT_SHARED names its directory.

func contract(t *testing.T) string {
	t.Helper()
	dirs := []string{os.Getenv("KAGENT_SHARED"), "../../shared"}
	for _, dir := range dirs {
		if b, err := os.ReadFile(filepath.Join(dir, "CONTRACT.md")); dir != "" && err == nil {
			return string(b)
		}
	}
	t.Skipf("no CONTRACT.md in %q: KAGENT_SHARED names its directory", dirs)
	return ""
}

// exceptions are the flags in which page and program differ, by command.
func exceptions() (later, ours map[string]string) {
	later = map[string]string{ // of a work to come: tool policy, sandbox, MCP; tables of steps
		"run":    "deny approval sandbox mcp-config",
		"resume": "deny-call",
	}
	settings := " api-key-env header agents-dir confirm-plan require-tool record wait-limit grace heartbeat-url effort temperature max-output"
	ours = map[string]string{ // beside what the page says
		"run":    settings,
		"resume": settings + " dry-run",
		"show":   "last",
		"agents": "agents-dir workdir",
		"models": "services",
		"repair": "session",
		"fork":   "session",
		"import": settings + " damaged",
		"verify": "secrets",
		"doctor": "api-key-env base-url header model",
		"tools":  "allow tools",
	}
	return later, ours
}

// inContract finds the flags that the page names for each command: what stands
// in backticks after the command was named.
func inContract(page string) map[string][]string {
	_, output, _ := strings.Cut(page, "\n## Output\n")
	output, _, _ = strings.Cut(output, "\n## ")
	_, page, _ = strings.Cut(page, "\n## Commands\n")
	page, _, _ = strings.Cut(page, "\n## ")
	code := regexp.MustCompile("`[^`]*`")
	command := regexp.MustCompile(`^(?:kagent )?([a-z]+)\b`)
	flag := regexp.MustCompile(`--([a-z][a-z-]*)|(?:^|[ |])-([a-zA-Z])\b`)
	flags, current := map[string][]string{}, ""
	for _, m := range flag.FindAllStringSubmatch(strings.Join(code.FindAllString(output, -1), "\n"), -1) {
		flags["run"] = append(flags["run"], m[1])
	}
	for _, span := range code.FindAllString(page, -1) {
		span = strings.Trim(span, "`")
		at := current
		if m := command.FindStringSubmatch(span); m != nil {
			at = m[1]
			if strings.HasPrefix(span, "kagent ") {
				current = at
			}
		}
		for _, m := range flag.FindAllStringSubmatch(span, -1) {
			flags[at] = append(flags[at], m[1]+m[2])
		}
	}
	return flags
}

func commandsByName(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	root := (&app{out: newOutput(os.Stdout), stderr: os.Stderr, signals: &signals{ctx: t.Context()}}).root()
	byName := map[string]*cobra.Command{}
	for _, c := range root.Commands() {
		byName[c.Name()] = c
	}
	return byName
}

// flagsOf lists a command's own flags by name; letters are looked up too.
func flagsOf(c *cobra.Command) (names []string, find func(name string) string) {
	own := c.NonInheritedFlags()
	own.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names, func(name string) string {
		f := c.Flags().Lookup(name)
		if f == nil {
			f = c.InheritedFlags().Lookup(name)
		}
		if f == nil && len(name) == 1 {
			if f = c.Flags().ShorthandLookup(name); f == nil {
				f = c.InheritedFlags().ShorthandLookup(name)
			}
		}
		if f == nil {
			return ""
		}
		return f.Name
	}
}

func TestFlagsAreThoseOfTheContract(t *testing.T) {
	page := inContract(contract(t))
	later, ours := exceptions()
	commands := commandsByName(t)
	if len(page["run"]) < 40 || len(page["list"]) < 4 {
		t.Fatalf("the page is not understood: %v", page)
	}
	for name, flags := range page {
		c := commands[name]
		if c == nil {
			t.Errorf("there is no command %s; the page names its flags %v", name, flags)
			continue
		}
		_, find := flagsOf(c)
		for _, f := range flags {
			missing := find(f) == ""
			if except := slices.Contains(strings.Fields(later[name]), f); missing != except {
				t.Errorf("%s --%s: missing %v, an exception %v", name, f, missing, except)
			}
		}
	}
	for name, c := range commands {
		names, find := flagsOf(c)
		var known []string
		for _, f := range page[name] {
			known = append(known, find(f))
		}
		if name == "resume" || name == "import" { // take the settings of run anew
			_, find := flagsOf(commands["run"])
			for _, f := range page["run"] {
				known = append(known, find(f))
			}
		}
		for _, f := range names {
			said, except := slices.Contains(known, f), slices.Contains(strings.Fields(ours[name]), f)
			if said == except {
				t.Errorf("%s --%s: in the contract %v, an exception %v", name, f, said, except)
			}
		}
	}
}
