package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// inputLimit is the most that stdin, or one attached file, may hold.
const inputLimit = 10 << 20

// Input is where a prompt comes from: the arguments, stdin, attached files.
type Input struct {
	Args   []string
	Mode   string        // --stdin: auto (or empty) or none
	Wait   time.Duration // --stdin-wait: how long silence on stdin is borne
	Files  []string      // --file, relative to the current directory
	Stdin  *os.File      // nil: closed
	Stderr io.Writer     // for the hint

	after func(time.Duration) <-chan time.Time // a seam for tests; nil: time.After
}

// Prompt is what the user said.
type Prompt struct {
	Text     string
	Attached bool     // stdin stands below the arguments, marked as such
	Hollow   bool     // something was piped in to be attached, and it was empty
	Bytes    int64    // read from stdin, whether attached or the prompt itself
	Warnings []string // to be shown once
}

// Read makes the prompt. Its errors are a *UsageError, or the context's cause
// where a signal came first; nothing has been started then.
func (in Input) Read(ctx context.Context) (Prompt, error) {
	args, explicit, err := in.arguments()
	if err != nil {
		return Prompt{}, err
	}
	files, err := readFiles(in.Files)
	if err != nil {
		return Prompt{}, err
	}
	var p Prompt
	var raw []byte
	use, err := in.usesStdin(len(args) > 0, explicit)
	if err != nil {
		return p, err
	}
	if use {
		if raw, err = in.readStdin(ctx); err != nil {
			return p, err
		}
	}
	p.Bytes = int64(len(raw))
	cleaner := cleaner{}
	p.Text = cleaner.clean("the arguments", strings.Join(args, " "))
	piped := cleaner.clean("stdin", string(raw))
	switch {
	case len(args) == 0:
		p.Text = strings.TrimRight(piped, "\r\n")
	case strings.TrimSpace(piped) != "":
		p.Attached = true
		p.Text += "\n\n" + fence("stdin", "", piped)
	default:
		p.Hollow = use && in.piped()
	}
	if strings.TrimSpace(p.Text) == "" {
		return Prompt{}, noPrompt()
	}
	for _, f := range files {
		p.Text += "\n\n" + fence("file", fmt.Sprintf(" path=%q", f.path), cleaner.clean(f.path, f.text))
	}
	p.Warnings = cleaner.warnings()
	return p, nil
}

// arguments splits off a `-`, which asks for stdin in so many words.
func (in Input) arguments() (words []string, explicit bool, err error) {
	words = slices.DeleteFunc(slices.Clone(in.Args), func(a string) bool { return a == "-" })
	explicit = len(words) < len(in.Args)
	switch {
	case in.Mode != "" && in.Mode != "auto" && in.Mode != "none":
		return nil, false, usageErrorf("give auto or none", "--stdin: unknown mode %q", in.Mode)
	case explicit && in.Mode == "none":
		return nil, false, usageErrorf("leave one of them out", "the argument - asks for stdin, --stdin none forbids it")
	case len(words) > 0 && strings.TrimSpace(strings.Join(words, "")) == "":
		return nil, false, usageErrorf("a variable may have been empty; leave the argument out to read the prompt from stdin",
			"the prompt is blank")
	case len(words) == 0 && in.Mode == "none":
		return nil, false, noPrompt()
	}
	return words, explicit, nil
}

func noPrompt() *UsageError {
	return usageErrorf("give it as an argument or on stdin: kagent run \"…\"", "no prompt")
}

// usesStdin decides by what stdin is. With arguments it is something to
// attach, so a terminal is left alone, and so is a file that a loop around the
// command reads line by line: both belong to somebody else.
func (in Input) usesStdin(prompted, explicit bool) (bool, error) {
	if in.Mode == "none" || in.Stdin == nil {
		return false, nil
	}
	info, err := in.Stdin.Stat()
	if err != nil {
		return false, nil // closed
	}
	if info.IsDir() {
		return false, usageErrorf("redirect a file, or use --stdin none", "stdin is a directory")
	}
	optional := prompted && !explicit
	if optional && isTerminal(in.Stdin) {
		return false, nil
	}
	if info.Mode().IsRegular() {
		offset, err := in.Stdin.Seek(0, io.SeekCurrent)
		if err == nil && optional && offset > 0 {
			return false, nil
		}
		if info.Size()-offset > inputLimit {
			return false, tooLarge("stdin")
		}
	}
	return true, nil
}

// piped reports whether somebody gave a stdin: /dev/null says that there is none.
func (in Input) piped() bool {
	info, err := in.Stdin.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&fs.ModeNamedPipe != 0)
}

func tooLarge(what string) *UsageError {
	return usageErrorf("shorten it, or name the file in the prompt and let the agent read it",
		"%s holds more than %d MB", what, inputLimit>>20)
}

// readStdin reads to the end. It gives up when ctx ends, and when nothing has
// come for Wait: going on without input that may still come would be wrong,
// and so would be waiting for ever.
func (in Input) readStdin(ctx context.Context) ([]byte, error) {
	after := in.after
	if after == nil {
		after = time.After
	}
	chunks, done := make(chan chunk), make(chan struct{})
	defer close(done)
	go pump(in.Stdin, chunks, done)

	hint := after(time.Second)
	var limit <-chan time.Time
	if !isTerminal(in.Stdin) {
		if in.Wait <= 0 {
			return nil, usageErrorf("use --stdin none to ignore stdin", "--stdin-wait must be more than 0")
		}
		limit = after(in.Wait)
	}
	var data []byte
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-hint:
			in.hint()
			hint = nil
		case <-limit:
			return nil, usageErrorf("close it (</dev/null), use --stdin none, or raise --stdin-wait",
				"nothing came on stdin for %s, and it is still open", in.Wait)
		case c := <-chunks:
			data = append(data, c.data...)
			switch {
			case len(data) > inputLimit:
				return nil, tooLarge("stdin")
			case c.err == io.EOF:
				return data, nil
			case c.err != nil:
				return nil, usageErrorf("redirect it, or use --stdin none", "cannot read stdin: %v", c.err)
			}
			if limit != nil {
				limit = after(in.Wait)
			}
		}
	}
}

func (in Input) hint() {
	if in.Stderr != nil {
		fmt.Fprintln(in.Stderr, "waiting for stdin to end; if none is meant, use --stdin none or </dev/null")
	}
}

// A chunk is what one read gave.
type chunk struct {
	data []byte
	err  error
}

// pump reads r until an error or until done is closed. A read that never
// returns keeps it until the process ends: no call can wake it.
func pump(r io.Reader, out chan<- chunk, done <-chan struct{}) {
	for {
		buf := make([]byte, 64<<10)
		n, err := r.Read(buf)
		if errors.Is(err, syscall.EBADF) || errors.Is(err, fs.ErrClosed) {
			err = io.EOF // nohup gives a stdin that can't be read
		}
		select {
		case out <- chunk{buf[:n], err}:
		case <-done:
			return
		}
		if err != nil {
			return
		}
	}
}

// isTerminal asks without File.Fd, which would change how the file blocks for
// every process that shares it.
func isTerminal(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	terminal := false
	err = conn.Control(func(fd uintptr) { terminal = term.IsTerminal(int(fd)) })
	return err == nil && terminal
}
