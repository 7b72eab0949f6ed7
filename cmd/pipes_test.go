package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Nobody writes the configuration, and a signal comes: the wait is over.
func TestASignalEndsTheWaitForAPipeInPlaceOfTheConfiguration(t *testing.T) {
	var pipe [2]int // stays open: who waits may open it after the end of the test, and no other of its number
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(pipe[0])
	syscall.CloseOnExec(pipe[1])
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	done := make(chan error)
	go func() {
		_, err := LoadConfig(ConfigSource{File: fmt.Sprintf("/dev/fd/%d", pipe[0]), Alone: true, Context: ctx})
		done <- err
	}()
	cancel(stopped)
	if err := <-done; !errors.Is(err, stopped) {
		t.Errorf("%v, want %v", err, stopped)
	}
}

// The pipe of a shell's <(COMMAND) is read to its end.
func TestTheConfigurationMayBeThePipeOfAShell(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		io.WriteString(w, "model: demo\n")
		w.Close()
	}()
	data, err := readLimited(fmt.Sprintf("/dev/fd/%d", r.Fd()), configLimit)
	if err != nil || string(data) != "model: demo\n" {
		t.Errorf("%q, %v", data, err)
	}
}

// A pipe with a name, in the place of a file that is read once and again, is
// refused: its other end may never be opened.
func TestANamedPipeInPlaceOfAFileHoldsNoRun(t *testing.T) {
	dir := t.TempDir()
	fifo(t, filepath.Join(dir, "pipe"))
	for _, c := range []struct{ variable, says string }{
		{"KAGENT_CONFIG=pipe", "configuration file pipe: not a regular file"},
		{"SSL_CERT_FILE=pipe", "SSL_CERT_FILE names pipe, and that is not a regular file"},
		{"SSL_CERT_FILE=/dev/zero", "SSL_CERT_FILE names /dev/zero, and that is not a regular file"},
		{"SSL_CERT_DIR=.", "SSL_CERT_DIR names ., and there pipe is not a regular file"},
	} {
		cmd, out := kagentIn(t, dir, "run", "-q", "-m", "openai/m", "--base-url", "https://127.0.0.1:1", "--retries", "0", "hi")
		cmd.Env = append(cmd.Environ(), c.variable, "OPENAI_API_KEY=x")
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: exit %d: %s", c.variable, code, out)
		}
	}
}

// Nobody reads the answer, and a signal comes: the run ends by it, and its
// answer is where it was and on stdout.
func TestASignalEndsTheWaitForTheReaderOfAnAnswer(t *testing.T) {
	for _, flag := range []string{"--answer-file", "--record"} {
		dir := t.TempDir()
		fifo(t, filepath.Join(dir, "pipe"))
		c, _ := kagentIn(t, dir, "run", "-s", "s", "-m", "demo", "--tools", "none", flag, "pipe", "hi")
		c.Stdout, c.Stderr = nil, nil
		said, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(said)
		if first, err := lines.ReadString('\n'); first != "session s\n" {
			t.Fatal(first, err)
		}
		if follow, text := kagentIn(t, dir, "show", "s", "--follow"); follow.Run() != nil { // until the turn is over
			t.Fatal(text)
		}
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		out, _ := io.ReadAll(lines)
		endedBy(t, c, syscall.SIGTERM, bytes.NewBuffer(out))
		if !strings.Contains(string(out), "could not be written to pipe") {
			t.Errorf("%s: %s", flag, out)
		}
		resumeEnds(t, dir, "demo")
	}
}

// A log that a pipe takes away is read as it comes; without a reader it is
// refused, and one that stands still does not hold the run.
func TestALogFileThatIsAPipeHoldsNoRun(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pipe")
	fifo(t, path)
	run := func() (string, int) {
		c, out := kagentIn(t, dir, "run", "-q", "-m", "demo", "--tools", "none", "--log-file", "pipe", "hi")
		_ = c.Run()
		return out.String(), c.ProcessState.ExitCode()
	}
	if out, code := run(); code != exitUsage || !strings.Contains(out, "a pipe that nobody reads") {
		t.Errorf("without a reader: %d, %s", code, out)
	}
	r, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if out, code := run(); code != exitOK || strings.Contains(out, "warning") {
		t.Errorf("with a reader: %d, %s", code, out)
	}
	for err == nil { // as much as it holds
		_, err = syscall.Write(int(r.Fd()), make([]byte, 4096))
	}
	if out, code := run(); code != exitOK || strings.Count(out, "warning: --log-file pipe lacks lines") != 1 {
		t.Errorf("full: %d, %s", code, out)
	}
}
