package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commands are all that do something.
func commands(t *testing.T) (all []*cobra.Command) {
	t.Helper()
	a := &app{out: newOutput(os.Stdout), stderr: os.Stderr}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Runnable() {
			all = append(all, c)
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(a.root())
	return all
}

// exampleDesk has what examples speak of: sessions, files, a host.
func exampleDesk(t *testing.T) *desk {
	t.Helper()
	need(t, "git", "jq", "tar")
	d := newDesk(t)
	d.commits()
	old, err := filepath.Abs("../testdata/kagent-ts")
	if err != nil {
		t.Fatal(err)
	}
	d.set("OLD", old)
	d.set("OPENAI_API_KEY", "sk-"+strings.Repeat("1", 40))
	bin := t.TempDir()
	write(t, filepath.Join(bin, "ssh"), "#!/bin/sh\nmkdir -p \"$HOME/host\" && cd \"$HOME/host\" && exec sh -c \"$2\"\n", 0o755)
	d.env = append(d.env, "PATH="+bin+":"+os.Getenv("PATH"))
	d.must(`exec 2>/dev/null
		kagent run -q -a plan-solve -s nightly --stdin none 'look around' && kagent resume -q nightly 'and again' &&
		kagent run -q -s 3f2a9c01-0000-4000-8000-000000000000 --stdin none hi && kagent export nightly nightly.kagent &&
		mkdir -p src agents .kagent/agents old/.kagent-sessions &&
		printf -- '---\nname: reader\ndescription: reads\n---\nRead.\n' > agents/reader.md &&
		cp "$OLD/react-completed.json" old.json && cp "$OLD/react-interrupted.json" old/.kagent-sessions/my-task.json &&
		head -c 900 "$OLD/react-completed.json" > half.json && echo 'mind the tests' > note.txt`)
	return d
}

// Each example of a help text is run as it stands, with a model that needs no
// network, on a copy of the same desk.
func TestEveryCommandHasExamplesThatWork(t *testing.T) {
	first := exampleDesk(t)
	for _, c := range commands(t) {
		if strings.TrimSpace(c.Example) == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			line = strings.TrimSpace(line)
			t.Run(line, func(t *testing.T) {
				d := &desk{t: t, dir: filepath.Join(t.TempDir(), "desk"), env: append(first.env, "KAGENT_STDIN=auto")}
				if out, err := exec.Command("cp", "-a", first.dir, d.dir).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				d.env = append(d.env, "HOME="+d.dir)
				if strings.HasPrefix(line, "kagent import nightly.kagent") {
					d.must("kagent rm nightly")
				}
				d.must(line)
			})
		}
	}
}
