package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fullPipe is one that nobody reads and that takes nothing more.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(ends[0]), "reader"), os.NewFile(uintptr(ends[1]), "writer")
	t.Cleanup(func() { r.Close(); w.Close() })
	syscall.SetNonblock(ends[1], true)
	for _, n := range []int{4096, 1} {
		for err := error(nil); err == nil; {
			_, err = syscall.Write(ends[1], make([]byte, n))
		}
	}
	syscall.SetNonblock(ends[1], false)
	return w
}

// talker is a service that says far more than may wait, and then nothing.
func talker(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		line := fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", strings.Repeat("x", 16<<10))
		for range 4 * printRoom / len(line) {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// followed is when the turn of s is over, and how.
func followed(t *testing.T, dir string) string {
	t.Helper()
	c, said := kagentIn(t, dir, "show", "s", "--follow")
	if err := c.Run(); err != nil {
		t.Fatal(said)
	}
	c, said = kagentIn(t, dir, "list", "-o", "json")
	c.Run()
	return said.String()
}

// A reader who stands still holds neither the run nor its end: it is saved, and a
// signal ends the process with what could not be printed.
func TestARunWhoseStdoutNobodyReadsIsSavedAndEndsByASignal(t *testing.T) {
	for _, flags := range [][]string{{"--stream"}, {"-o", "jsonl"}, nil} {
		dir := t.TempDir()
		c, rest := unread(t, dir, append([]string{"run", "-s", "s", "-m", "demo", "--tools", "none", "--grace", "50ms", "--stdin", "none", "hi"}, flags...))
		if how := followed(t, dir); !strings.Contains(how, `"completed"`) {
			t.Error(how)
		}
		c.Process.Signal(syscall.SIGTERM)
		out := rest()
		endedBy(t, c, syscall.SIGTERM, out)
		if !strings.Contains(out.String(), "the answer did not reach stdout; the session has it") {
			t.Errorf("%q: %s", flags, out)
		}
		resumeEnds(t, dir, "demo")
	}
}

// More waits than may: the run waits for room, until its time is over.
func TestADeadlineHoldsWhereNobodyReadsStdout(t *testing.T) {
	for _, flags := range [][]string{{"--stream"}, {"-o", "jsonl"}} {
		dir := t.TempDir()
		c, rest := unread(t, dir, append([]string{"run", "-s", "s", "-m", "openai-compatible/m", "--base-url", talker(t), "--deadline", "1s", "--grace", "50ms", "--stdin", "none", "hi"}, flags...))
		if how := followed(t, dir); !strings.Contains(how, `"deadline"`) {
			t.Errorf("%q: %s", flags, how)
		}
		c.Process.Signal(syscall.SIGTERM)
		out := rest()
		endedBy(t, c, syscall.SIGTERM, out)
	}
}

// A signal in the middle of a reply that nobody reads: what came is saved.
func TestASignalInAReplyThatNobodyReadsSavesIt(t *testing.T) {
	for _, flag := range []string{"text", "jsonl"} {
		dir := t.TempDir()
		c, rest := unread(t, dir, []string{"run", "-s", "s", "-m", "openai-compatible/m", "--base-url", talker(t), "--grace", "50ms", "--stdin", "none", "--stream", "-o", flag, "hi"})
		c.Process.Signal(syscall.SIGTERM)
		out := rest()
		endedBy(t, c, syscall.SIGTERM, out)
		if how := followed(t, dir); !strings.Contains(how, `"signal"`) || !strings.Contains(out.String(), "resume with: kagent resume s") {
			t.Errorf("%s: %s\n%s", flag, how, out)
		}
	}
}

// unread starts a command whose stdout nobody reads, and returns when it has a
// session; rest is what stderr says from there on.
func unread(t *testing.T, dir string, args []string) (c *exec.Cmd, rest func() *bytes.Buffer) {
	t.Helper()
	c, _ = kagentIn(t, dir, args...)
	c.Stdout, c.Stderr = fullPipe(t), nil
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	lines := bufio.NewReader(said)
	if first, err := lines.ReadString('\n'); first != "session s\n" {
		t.Fatal(first, err)
	}
	return c, func() *bytes.Buffer {
		b, _ := io.ReadAll(lines)
		return bytes.NewBuffer(b)
	}
}

// Nobody has to read stderr.
func TestAFullStderrHoldsNoRun(t *testing.T) {
	for _, flag := range []string{"-q", "-v"} {
		c, _ := kagentIn(t, t.TempDir(), "run", "-m", "demo", "--tools", "none", "--grace", "50ms", "--stdin", "none", flag, "hi")
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, fullPipe(t)
		if err := c.Run(); err != nil || !strings.Contains(out.String(), "You asked: hi") {
			t.Errorf("%s: %v: %s", flag, err, &out)
		}
	}
}

// What waited comes in the order in which it was printed, all of it.
func TestWhatWaitedForAReaderComesInOrder(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := newPrinter(nil)
	p.paced = true
	one, other := &outlet{file: w, printer: p}, &outlet{file: w, printer: p}
	var want []string
	for i := range 1000 {
		line := fmt.Sprint(i, strings.Repeat(".", 500), "\n")
		io.WriteString([]io.Writer{one, other}[i%2], line)
		want = append(want, line)
	}
	read := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		read <- string(b)
	}()
	p.drain(0)
	w.Close()
	if got := <-read; got != strings.Join(want, "") || one.failure() != nil {
		t.Errorf("%d bytes, %v", len(got), one.failure())
	}
}

// Without a run to save, whoever prints much waits for its reader.
func TestWhoPrintsMuchWaitsForItsReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l := &outlet{file: w, printer: newPrinter(nil)}
	piece := make([]byte, 64<<10)
	go func() {
		for range 4 * printRoom / len(piece) {
			l.Write(piece)
		}
		l.printer.drain(0)
		w.Close()
	}()
	total, buf := 0, make([]byte, 64<<10)
	for err = nil; err == nil; {
		var n int
		n, err = r.Read(buf)
		total += n
		l.printer.mu.Lock()
		if l.printer.size > printRoom+len(piece) {
			t.Errorf("%d bytes wait", l.printer.size)
		}
		l.printer.mu.Unlock()
	}
	if total != 4*printRoom {
		t.Errorf("%d bytes, %v", total, err)
	}
}

// What nobody read when the process had to end is known to be lost, and so is
// what comes after it.
func TestWhatNobodyReadBeforeTheEndIsLost(t *testing.T) {
	told := make(chan struct{})
	close(told)
	p := newPrinter(told)
	p.grace = time.Millisecond
	one, other := &outlet{file: fullPipe(t), printer: p}, &outlet{file: fullPipe(t), printer: p}
	io.WriteString(one, "first")
	p.drain(0)
	io.WriteString(other, "second")
	p.drain(0)
	if !slices.Equal([]bool{errors.Is(one.failure(), errUnread), errors.Is(other.failure(), errUnread)}, []bool{true, true}) {
		t.Error(one.failure(), other.failure())
	}
}
