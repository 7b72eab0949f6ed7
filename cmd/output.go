package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/term"
)

// The rules of the terminal: the answer goes to stdout, all else to stderr. A
// reader that leaves early must not end the run before it is saved, so the
// first error of stdout is remembered and told at the end. One that stands still
// must not either: see printer.
//
// A stdout that was closed before kagent began (>&-) is not noticed, and what is
// printed is lost as if it had been sent to /dev/null: Go's runtime opens that in
// the place of a closed descriptor, before any code of ours runs, with the flags
// (O_RDWR) that daemons and Python's DEVNULL open it with on purpose. Nothing that
// the system tells of a descriptor differs between the two, and a refusal would
// hit those who mean it. The session holds the answer in any case.

// output is stdout.
type output struct {
	outlet
	terminal bool
}

func newOutput(f *os.File) *output {
	return &output{outlet: outlet{file: f, printer: newPrinter(nil)}, terminal: term.IsTerminal(int(f.Fd()))}
}

// Write drops everything after the first error.
func (o *output) Write(b []byte) (int, error) {
	if o.terminal {
		b = []byte(visible(string(b)))
	}
	return o.outlet.Write(b)
}

// text prints s and ends the line.
func (o *output) text(s string) {
	io.WriteString(o, ended(s))
}

// ended is s with the end of its last line.
func ended(s string) string { return strings.TrimSuffix(s, "\n") + "\n" }

// json prints v on one line.
func (o *output) json(v any) { o.encode("", v, "\n") }

// encode prints v between two texts.
func (o *output) encode(before string, v any, after string) {
	var b bytes.Buffer
	b.WriteString(before)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		o.fail(err)
		return
	}
	b.Truncate(b.Len() - 1) // its newline
	b.WriteString(after)
	o.Write(b.Bytes())
}

// jsonList prints a list as json does, but never holds all of its text.
func jsonList[T any](o *output, list []T) {
	before := "["
	for _, v := range list {
		o.encode(before, v, "")
		before = ","
	}
	if len(list) == 0 {
		o.text("[]")
		return
	}
	o.text("]")
}

// finish returns the exit code, given that what was printed may not have
// arrived. A closed pipe ends kagent as it ends other programs, but only now.
func (o *output) finish(code int, stderr io.Writer) int {
	err := o.failure()
	switch {
	case err == nil:
		return code
	case errors.Is(err, syscall.EPIPE):
		raise(syscall.SIGPIPE)
		return signalBase + int(syscall.SIGPIPE)
	}
	fmt.Fprintf(stderr, "kagent: cannot write to stdout: %v\n", err)
	return exitFirst(code, exitStorage)
}

// say prints a line to stderr. Nobody is helped by an error of stderr.
func (a *app) say(format string, args ...any) {
	text := upright(fmt.Sprintf(format, args...))
	fmt.Fprintln(a.stderr, harmless(a.ci, text))
	a.log.write(text)
}

// sayUnless is say, or silence.
func (a *app) sayUnless(quiet bool) func(format string, args ...any) {
	if quiet {
		return func(string, ...any) {}
	}
	return a.say
}

// visible replaces control characters that could drive a terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// upright is visible, and also replaces what turns the direction of the text
// behind it: embeddings, overrides and isolates, not the marks that Hebrew and
// Arabic are written with. A title shows what it says; an answer is left its own.
func upright(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069' {
			return '\uFFFD'
		}
		return r
	}, visible(s))
}

// oneLine makes a title out of any text: at most n characters on one line.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(upright(s)), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}
