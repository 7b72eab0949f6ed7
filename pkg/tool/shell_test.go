package tool

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

func TestShellReportsHowACommandEnded(t *testing.T) {
	sh := Shell(workspace(t), ShellOptions{})
	code := func(n int) *int { return &n }
	for _, tt := range []struct {
		command string
		outcome Outcome
		code    *int
		text    string
	}{
		{"echo out; echo err >&2; echo out", OK, code(0), "out\nerr\nout\n"},
		{"true", OK, code(0), "[no output]"},
		{"printf 'x'; exit 3", Failed, code(3), "x\n[exit code 3]"},
		{"exit 255", Failed, code(255), "[no output]\n[exit code 255]"},
		{"echo a; kill -SEGV $$", Failed, nil, "a\n[ended by a signal: segmentation fault]"},
		{"sh -c 'kill -9 $$'; exit $?", Failed, code(137), ""},
		{"cat; echo end", OK, code(0), "end\n"},
		{"printf '你好 🙂 שלום\\377\\000z'", OK, code(0), "你好 🙂 שלום\uFFFD\uFFFDz"},
		{"tty", Failed, code(1), "not a tty\n[exit code 1]"},
		{": >/dev/tty", Failed, nil, ""},
		{"no-such-command-at-all", Failed, code(127), ""},
		{"echo 'unfinished", Failed, nil, ""},
	} {
		r := run(t, sh, obj{"command": tt.command})
		if r.Outcome != tt.outcome || tt.text != "" && r.Text != tt.text {
			t.Errorf("%s: %s %q, want %s %q", tt.command, r.Outcome, r.Text, tt.outcome, tt.text)
		}
		if tt.code != nil && (r.ExitCode == nil || *r.ExitCode != *tt.code) {
			t.Errorf("%s: exit code %v, want %d", tt.command, r.ExitCode, *tt.code)
		}
	}
	if r := run(t, sh, obj{"command": "kill -9 $$"}); r.ExitCode != nil {
		t.Errorf("a killed command has exit code %d", *r.ExitCode)
	}
}

// F102
func TestEachCallIsAFreshShell(t *testing.T) {
	ws := workspace(t)
	put(t, ws, "sub/子/x", "")
	sh := Shell(ws, ShellOptions{})
	real, err := filepath.EvalSymlinks(ws.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ command, cwd, want string }{
		{"cd sub && X=1 && pwd", "", real + "/sub\n"},
		{"pwd; echo $X", "", real + "\n\n"},
		{"pwd; echo $PWD", "sub/子", strings.Repeat(real+"/sub/子\n", 2)},
		{"pwd", ws.Dir() + "/sub", real + "/sub\n"},
	} {
		args := obj{"command": tt.command}
		if tt.cwd != "" {
			args["cwd"] = tt.cwd
		}
		if r := run(t, sh, args); r.Text != tt.want {
			t.Errorf("%s in %q: %q, want %q", tt.command, tt.cwd, r.Text, tt.want)
		}
	}
	for cwd, want := range map[string]string{"none": "does not exist", "sub/子/x": "not a directory"} {
		r := run(t, sh, obj{"command": "pwd", "cwd": cwd})
		wantOutcome(t, r, Failed)
		wantText(t, r.Text, want)
	}
}

func TestShellCommandsThatCannotStart(t *testing.T) {
	sh := Shell(workspace(t), ShellOptions{})
	for command, want := range map[string]string{
		"echo \x00": "could not be started", ": " + strings.Repeat("x", 4<<20): "write a long script to a file", "": "minLength",
	} {
		r := run(t, sh, obj{"command": command})
		wantOutcome(t, r, Failed)
		wantText(t, r.Text, want)
	}
	wantText(t, run(t, sh, obj{"command": "pwd", "timeout": 601}).Text, "timeout", "maximum")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantOutcome(t, sh.Run(ctx, Call{Args: []byte(`{"command":"pwd"}`)}), Stopped)
}

// F094
func TestShellOutputIsBoundedWhileItIsRead(t *testing.T) {
	sh := Shell(workspace(t), ShellOptions{Keep: 1000})
	for _, tt := range []struct {
		command string
		timeout float64
		outcome Outcome
	}{
		{"yes", 0.3, Timeout},
		{"yes 🙂 | tr -d '\\n'", 0.3, Timeout},
		{"cat /dev/zero", 0.3, Timeout},
		{"echo first; seq 1 300000; echo last >&2", 60, OK},
	} {
		r := run(t, sh, obj{"command": tt.command, "timeout": tt.timeout})
		wantOutcome(t, r, tt.outcome)
		wantText(t, r.Text, "bytes omitted …]")
		if len(r.Text) > 7000 || r.Omitted < 1_000_000 {
			t.Errorf("%s: %d bytes of text, %d omitted", tt.command, len(r.Text), r.Omitted)
		}
		if tt.outcome == OK && (!strings.HasPrefix(r.Text, "first\n1\n") || !strings.HasSuffix(r.Text, "300000\nlast\n")) {
			t.Errorf("head or tail is lost: %.40q", r.Text)
		}
	}
}

// F022
func TestShellOutputIsCutBetweenRunes(t *testing.T) {
	sh := Shell(workspace(t), ShellOptions{})
	for shift := range 4 {
		r := run(t, sh, obj{"command": fmt.Sprintf("printf %%%ds; yes 🙂ä | head -n 20000 | tr -d '\\n'", shift)})
		wantOutcome(t, r, OK)
		wantText(t, r.Text, "bytes omitted …]")
		if !utf8.ValidString(r.Text) || strings.ContainsRune(r.Text, utf8.RuneError) || len(r.Text) > 33<<10 {
			t.Errorf("shift %d: %d bytes, cut badly", shift, len(r.Text))
		}
	}
}

// held runs f with the write end of a pipe for its commands to inherit, and
// returns when none of them has it any more: nothing was left running.
func held(t *testing.T, f func(inherit *os.File)) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f(w)
	w.Close()
	if err := r.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err != nil {
		t.Errorf("a process was left: %v", err)
	}
}

// F091
func TestBackgroundProcessesDoNotHoldACall(t *testing.T) {
	for _, command := range []string{
		"sleep 600 & echo up", "sleep 600 >/dev/null & echo up", "(sleep 600; echo no) 2>/dev/null & echo up",
		"nohup sleep 600 >/dev/null 2>&1 & echo up", "trap '' TERM HUP; sleep 600 & echo up",
	} {
		held(t, func(inherit *os.File) {
			r := run(t, Shell(workspace(t), ShellOptions{Inherit: []*os.File{inherit}}), obj{"command": command})
			if r.Outcome != OK || r.Text != "up\n[processes that it had left in the background were killed]" {
				t.Errorf("%s: %s %q", command, r.Outcome, r.Text)
			}
		})
	}
}

// F091
func TestADetachedProcessDoesNotHoldACall(t *testing.T) {
	ws := workspace(t)
	r := run(t, Shell(ws, ShellOptions{}), obj{"command": `setsid sh -c 'echo $$ >tmp; mv tmp pid; exec sleep 600' &
		while [ ! -e pid ]; do :; done; echo ok`})
	pid, err := strconv.Atoi(strings.TrimSpace(mustRead(t, filepath.Join(ws.Dir(), "pid"))))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("it had ended already: %v", err)
	}
	wantOutcome(t, r, OK)
	wantText(t, r.Text, "ok\n", "detached itself")
}

// stoppable runs a command that first writes to the fifo "ready" and calls
// stop when it did.
func stoppable(t *testing.T, opts ShellOptions, command string, timeout float64, stop func(*Workspace, context.CancelCauseFunc)) (r Result) {
	t.Helper()
	ws := workspace(t)
	ready := fifo(t, ws, "ready")
	fifo(t, ws, "term")
	held(t, func(inherit *os.File) {
		opts.Inherit = []*os.File{inherit}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		done := make(chan Result)
		go func() {
			args := fmt.Sprintf(`{"command":%s,"timeout":%g}`, quoted(command), timeout)
			done <- Shell(ws, opts).Run(ctx, Call{Args: []byte(args)})
		}()
		await(t, ready)
		stop(ws, cancel)
		r = <-done
	})
	return r
}

const (
	obeys     = `trap 'echo cleaned; exit 0' TERM; echo begun; echo >ready; while :; do sleep 0.01; done`
	resists   = `trap 'echo >term' TERM; echo begun; echo >ready; while :; do sleep 0.01; done`
	childEnds = `sh -c "trap 'echo cleaned; exit 0' TERM; echo begun; echo >ready; while :; do sleep 0.01; done"; exit 9`
)

func TestStoppingACommand(t *testing.T) {
	cancelOnly := func(_ *Workspace, cancel context.CancelCauseFunc) { cancel(nil) }
	killNow := func(_ *Workspace, cancel context.CancelCauseFunc) {
		cancel(fmt.Errorf("second signal: %w", ErrKillNow))
	}
	awaitTerm := func(ws *Workspace, _ context.CancelCauseFunc) { await(t, filepath.Join(ws.Dir(), "term")) }
	kill, killAlone := make(chan struct{}), make(chan struct{})
	for _, tt := range []struct {
		name    string
		opts    ShellOptions
		command string
		timeout float64
		stop    func(*Workspace, context.CancelCauseFunc)
		outcome Outcome
		cleaned bool // the command could end in its own way
	}{
		{"asks first", ShellOptions{Grace: time.Hour}, obeys, 600, cancelOnly, Stopped, true},
		{"waits for children", ShellOptions{Grace: time.Hour}, childEnds, 600, cancelOnly, Stopped, true},
		{"kills after the grace", ShellOptions{Grace: time.Millisecond}, resists, 600, cancelOnly, Stopped, false},
		{"kills at once when told so", ShellOptions{Grace: time.Hour}, obeys, 600, killNow, Stopped, false},
		{
			"timeout asks first",
			ShellOptions{Grace: time.Hour},
			obeys, 2, func(*Workspace, context.CancelCauseFunc) {},
			Timeout, true,
		},
		{
			"timeout, then kill at once",
			ShellOptions{Grace: time.Hour},
			resists, 2,
			func(ws *Workspace, cancel context.CancelCauseFunc) { awaitTerm(ws, nil); killNow(ws, cancel) },
			Timeout, false,
		},
		{
			"kill in the grace",
			ShellOptions{Grace: time.Hour, Kill: kill},
			resists, 600,
			func(ws *Workspace, cancel context.CancelCauseFunc) { cancel(nil); awaitTerm(ws, nil); close(kill) },
			Stopped, false,
		},
		{
			"kill alone",
			ShellOptions{Grace: time.Hour, Kill: killAlone},
			obeys, 600,
			func(*Workspace, context.CancelCauseFunc) { close(killAlone) }, Stopped, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := stoppable(t, tt.opts, tt.command, tt.timeout, tt.stop)
			wantOutcome(t, r, tt.outcome)
			note := map[Outcome]string{Stopped: "[stopped", Timeout: "[ended after its timeout of 2s]"}
			wantText(t, r.Text, "begun\n", note[tt.outcome])
			if got := strings.Contains(r.Text, "cleaned\n"); got != tt.cleaned {
				t.Errorf("cleaned is %v, want %v: %q", got, tt.cleaned, r.Text)
			}
			if r.ExitCode != nil {
				t.Errorf("exit code is %d", *r.ExitCode)
			}
		})
	}
}

func TestShellEnvironmentIsAnAllowList(t *testing.T) {
	ws := workspace(t)
	environ := func() []string {
		return []string{
			"PATH=" + os.Getenv("PATH"), "HOME=/home/u", "LC_ALL=C.UTF-8", "LC_X=中", "TZ=UTC", "PWD=/elsewhere", "broken",
			"OPENAI_API_KEY=k", "AWS_SECRET_ACCESS_KEY=k", "HTTPS_PROXY=http://u:p@h", "LD_PRELOAD=x", "EXTRA=1", "MORE=2",
			"PATH2=x", "KAGENT_MODEL=m", "KAGENT_IDEMPOTENCY_KEY=forged", "SSL_CERT_FILE=/c",
		}
	}
	r := run(t, Shell(ws, ShellOptions{Environ: environ, Env: []string{"EXTRA", "UNSET"}}), obj{"command": "/usr/bin/env"})
	wantOutcome(t, r, OK)
	got := strings.Split(strings.TrimSpace(r.Text), "\n")
	got = slices.DeleteFunc(got, func(s string) bool { // what the shell itself adds
		return strings.HasPrefix(s, "_=") || strings.HasPrefix(s, "SHLVL=") || strings.HasPrefix(s, "OLDPWD=")
	})
	slices.Sort(got)
	want := []string{
		"EXTRA=1", "HOME=/home/u", "KAGENT_IDEMPOTENCY_KEY=key-1", "LC_ALL=C.UTF-8", "LC_X=中",
		"PATH=" + os.Getenv("PATH"), "PWD=" + ws.real, "SSL_CERT_FILE=/c", "TZ=UTC",
	}
	if !slices.Equal(got, want) {
		t.Errorf("environment is\n%q\nwant\n%q", got, want)
	}
}

func TestShellCommandsRunTogether(t *testing.T) {
	ws := workspace(t)
	fifo(t, ws, "a")
	fifo(t, ws, "b")
	sh := Shell(ws, ShellOptions{})
	done := make(chan Result)
	go func() { done <- sh.Run(t.Context(), Call{Args: []byte(`{"command":"echo hi >a; cat b"}`)}) }()
	r := run(t, sh, obj{"command": "cat a; echo there >b"})
	if other := <-done; r.Text != "hi\n" || other.Text != "there\n" {
		t.Errorf("got %q and %q", r.Text, other.Text)
	}
}
