package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFilesAreAttachedInOrder(t *testing.T) {
	a, b := writeFile(t, "alpha\n"), writeFile(t, "")
	in := input(stdinFile(t, "piped"), "compare")
	in.Files = []string{a, b}
	want := fmt.Sprintf("compare\n\n<stdin>\npiped\n</stdin>\n\n<file path=%q>\nalpha\n</file>\n\n<file path=%q>\n</file>", a, b)
	if p := mustRead(t, in); p.Text != want {
		t.Errorf("got %q\nwant %q", p.Text, want)
	}
}

func TestFilesAloneAreNoPrompt(t *testing.T) {
	in := input(nil)
	in.Files = []string{writeFile(t, "alpha")}
	wantUsage(t, in, "no prompt")
}

func TestUnusableFilesAreRefusedByName(t *testing.T) {
	dir := t.TempDir()
	fifo, big := filepath.Join(dir, "fifo"), filepath.Join(dir, "big")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip("no FIFO can be made here:", err)
	}
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, inputLimit+1); err != nil {
		t.Fatal(err)
	}
	for path, words := range map[string]string{
		filepath.Join(dir, "none"): "no such file",
		dir:                        "not a regular file",
		fifo:                       "not a regular file",
		"/dev/zero":                "not a regular file",
		big:                        "10 MB",
		"":                         "no such file",
	} {
		in := input(nil, "hi")
		in.Files = []string{path}
		wantUsage(t, in, words, path)
	}
}

func TestUncleanInputIsMendedAndSaidOnce(t *testing.T) {
	path := writeFile(t, "nul\x00")
	in := input(stdinFile(t, "latin \xe9 one"), "read", "\xff")
	in.Files = []string{path}
	p := mustRead(t, in)
	for _, want := range []string{"read \uFFFD\n", "latin \uFFFD one\n", "nul\uFFFD\n"} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("%q lacks %q", p.Text, want)
		}
	}
	if len(p.Warnings) != 1 || !strings.HasPrefix(p.Warnings[0], "the arguments, stdin, "+path+":") {
		t.Errorf("warnings: %q", p.Warnings)
	}
}

func TestFileNamesCannotBreakTheMark(t *testing.T) {
	if got := fence("file", fmt.Sprintf(" path=%q", "a\">\n\xff"), "x"); got != "<file path=\"a\\\">\\n\\xff\">\nx\n</file>" {
		t.Errorf("got %q", got)
	}
}
