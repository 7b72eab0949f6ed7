package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// block is a fenced block of a page, under its nearest heading.
type block struct {
	heading, lang, text string
	line                int
}

// page is a file of words that people read.
type page struct {
	headings []string // with their marks: "## Agents"
	blocks   []block
}

func readPage(t *testing.T, file string) page {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var p page
	heading := ""
	var open *block
	for i, line := range strings.Split(string(b), "\n") {
		switch {
		case open != nil && line == "```":
			p.blocks, open = append(p.blocks, *open), nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "```"):
			open = &block{heading: heading, lang: line[3:], line: i + 2}
		case strings.HasPrefix(line, "#"):
			p.headings = append(p.headings, line)
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block is not closed", file, open.line)
	}
	return p
}

// under returns the one block of that language under a heading.
func (p page) under(t *testing.T, heading, lang string) string {
	t.Helper()
	all := p.all(heading, lang)
	if len(all) != 1 {
		t.Fatalf("%d blocks of %s under %q, want one", len(all), lang, heading)
	}
	return all[0]
}

func (p page) all(heading, lang string) (texts []string) {
	for _, b := range p.blocks {
		if b.heading == heading && b.lang == lang {
			texts = append(texts, b.text)
		}
	}
	return texts
}

// desk is a directory where lines of a shell are run as a user would: a
// repository with a change, a model that needs no network, no time to sleep.
type desk struct {
	t   *testing.T
	dir string
	env []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir()}
	bin := t.TempDir()
	write(t, filepath.Join(bin, "sleep"), "#!/bin/sh\n", 0o755)
	d.env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + d.dir, "TMPDIR=" + t.TempDir(), "LANG=C.UTF-8",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.org", "KAGENT_MODEL=demo",
	}
	d.write("main.go", "package main\n\nfunc main() {}\n")
	d.write("README.md", "# Heron 苍鹭\n\nA bird.\n")
	return d
}

// commits makes a repository of two commits of it.
func (d *desk) commits() {
	d.t.Helper()
	d.must("git init -q . && git add . && git commit -q -m one && echo '// changed' >> main.go && git commit -q -a -m two")
}

func (d *desk) write(name, text string) { write(d.t, filepath.Join(d.dir, name), text, 0o600) }

func (d *desk) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(d.dir, name))
	return string(b)
}

// set gives a variable its value; the last one counts.
func (d *desk) set(name, value string) { d.env = append(d.env, name+"="+value) }

// sh runs lines of a shell; stdin is closed.
func (d *desk) sh(lines string) (out, said string, code int) {
	d.t.Helper()
	c := exec.Command("sh", "-c", lines)
	c.Dir, c.Env = d.dir, d.env
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); c.ProcessState == nil {
		d.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

// must is sh for lines that have to succeed.
func (d *desk) must(lines string) (out, said string) {
	d.t.Helper()
	out, said, code := d.sh(lines)
	if code != 0 {
		d.t.Fatalf("exit %d\n%s\nof %s\nstderr: %s", code, out, lines, said)
	}
	return out, said
}

// script makes the model one that says what is written there.
func (d *desk) script(replies string) {
	d.write("model.yaml", "replies:\n"+replies)
	d.set("KAGENT_MODEL", "script:"+filepath.Join(d.dir, "model.yaml"))
}

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// need skips where the machine has no such program.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is missing here", p)
		}
	}
}
