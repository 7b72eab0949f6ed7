package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kagent/pkg/message"
)

// ErrKillNow as the cause of a ctx's end makes commands die without grace.
var ErrKillNow = errors.New("kill at once")

// ShellOptions are the settings of the shell tool. The zero value is useful.
type ShellOptions struct {
	Timeout    time.Duration   // of a call that names none; 0: 120 s, or MaxTimeout if that is less
	MaxTimeout time.Duration   // the longest that a call may ask for; 0: 600 s
	Grace      time.Duration   // between SIGTERM and SIGKILL; 0: 5 s
	Keep       int             // bytes kept of the head and of the tail of the output, each; 0: 16 KiB
	Env        []string        // names of variables to pass on beside the allowed ones
	Environ    func() []string // where variables come from; nil: os.Environ
	Inherit    []*os.File      // open in each command, as descriptors 3 and up
	Mask       *Masker         // hides secrets in the output; nil: none
	Kill       <-chan struct{} // when closed, commands die at once, also in their grace
	Orphans    *Orphans        // ends what leaves a command's group; nil: it lives on
}

type shell struct {
	ws   *Workspace
	opts ShellOptions
	jobs *jobs
}

// command is one with the key of its call.
type command struct {
	*exec.Cmd
	key string
}

// Shell returns the tool shell, which runs a command with /bin/sh. It is an
// io.Closer: that ends what its commands run in the background.
func Shell(ws *Workspace, opts ShellOptions) Tool {
	if opts.MaxTimeout <= 0 {
		opts.MaxTimeout = 600 * time.Second
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 120 * time.Second
	}
	opts.Timeout = min(opts.Timeout, opts.MaxTimeout)
	if opts.Grace <= 0 {
		opts.Grace = 5 * time.Second
	}
	if opts.Keep <= 0 {
		opts.Keep = 16 << 10
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ
	}
	return &shell{ws, opts, newJobs()}
}

type shellArgs struct {
	Command string   `json:"command"`
	Cwd     string   `json:"cwd"`
	Timeout *float64 `json:"timeout"`

	Background bool `json:"background"`
}

func (t *shell) Spec() message.ToolSpec {
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	return message.ToolSpec{
		Name: "shell",
		Description: "Run a command with /bin/sh and return its output (stdout and stderr together) and, if it is not 0, " +
			"its exit code. Each call is a fresh shell: cd and variables do not carry over. There is no terminal and " +
			"no input. Of long output only the beginning and the end are returned, and how to read the whole. Processes still running in the " +
			"background when the shell exits are killed: what is to go on while you do other things, such as a server, is started " +
			"with background set, and without &.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"command":{"type":"string","minLength":1,"description":"the script to run"},` +
			`"cwd":{"type":"string","minLength":1,"description":"directory to run in, relative to the work directory (default \".\")"},` +
			`"timeout":{"type":"number","minimum":0.01,"maximum":` + seconds(t.opts.MaxTimeout) +
			`,"description":"seconds after which the command is ended (default ` + seconds(t.opts.Timeout) + `; in the background none)"},` +
			`"background":{"type":"boolean","description":"return at once, with where the output can be read, and let the command run until this run ends (default false)"}},` +
			`"required":["command"],"additionalProperties":false}`),
	}
}

func (*shell) Traits() Traits { return Traits{Class: Execute} }

func (t *shell) Run(ctx context.Context, call Call) Result {
	args, err := decode[shellArgs](call.Args)
	if err != nil {
		return Fail(err.Error())
	}
	cwd, err := t.ws.directory(args.Cwd)
	if err != nil {
		return Fail("cwd: " + err.Error())
	}
	if ctx.Err() != nil {
		return Result{Outcome: Stopped, Text: "[stopped before the command was started]"}
	}
	timeout := t.opts.Timeout
	if args.Timeout != nil {
		timeout = time.Duration(min(*args.Timeout, t.opts.MaxTimeout.Seconds()) * float64(time.Second))
	}
	cmd := exec.Command("/bin/sh", "-c", args.Command)
	cmd.Dir = cwd
	cmd.Env = t.environ(cwd, call.Key)
	cmd.ExtraFiles = t.opts.Inherit
	if args.Background {
		if args.Timeout == nil {
			timeout = jobForever
		}
		return t.background(ctx, command{cmd, call.Key}, timeout)
	}
	p, err := start(cmd, newOutput(t.opts.Keep, call.Artifacts, t.opts.Mask), leftBehind{t.opts.Orphans, call.Key})
	if err != nil {
		return Fail(notStarted(err))
	}
	return report(p, p.wait(ctx, timeout, t.opts), timeout)
}

func notStarted(err error) string {
	text := fmt.Sprintf("the command could not be started: %v", reason(err))
	if errors.Is(err, syscall.E2BIG) {
		text += "; write a long script to a file and run that"
	}
	return text
}

// directory returns the absolute path of an existing directory that a model
// named; "" is the work directory.
func (w *Workspace) directory(path string) (string, error) {
	if path == "" {
		path = "."
	}
	p, err := w.resolve(path)
	if err != nil {
		return "", err
	}
	defer p.close()
	if p.info == nil || !p.info.IsDir() {
		return "", errors.New(notDirectory(p, path))
	}
	return filepath.Join(w.real, filepath.FromSlash(p.rel)), nil
}

// report words what became of a command.
func report(p *process, e ending, timeout time.Duration) Result {
	r := Result{Outcome: OK}
	var note string
	p.out.flush()
	// The result of a command that was stopped with its run is not recorded.
	r.Artifact, note = p.out.spill.keep(e.outcome != Stopped)
	r.Text, r.Omitted = p.out.text(note)
	notes := e.notes(&r, timeout)
	if r.Text == "" {
		notes = append([]string{"[no output]"}, notes...)
	} else if len(notes) > 0 && !strings.HasSuffix(r.Text, "\n") {
		r.Text += "\n"
	}
	r.Text += strings.Join(notes, "\n")
	return r
}

// notes say how a command ended that did not end well; r gets its outcome.
func (e ending) notes(r *Result, timeout time.Duration) (notes []string) {
	switch {
	case e.outcome == Timeout:
		r.Outcome = Timeout
		notes = append(notes, fmt.Sprintf("[ended after its timeout of %v]", timeout))
	case e.outcome == Stopped:
		r.Outcome = Stopped
		notes = append(notes, "[stopped before it had finished]")
	case e.state == nil:
		r.Outcome = Failed
		notes = append(notes, "[what became of the command is not known]")
	case e.state.Exited():
		code := e.state.ExitCode()
		r.ExitCode = &code
		if code != 0 {
			r.Outcome = Failed
			notes = append(notes, fmt.Sprintf("[exit code %d]", code))
		}
	default:
		r.Outcome = Failed
		notes = append(notes, fmt.Sprintf("[ended by a signal: %v]", signalOf(e.state)))
	}
	if e.stuck {
		notes = append(notes, "[it does not react to being killed and may still be running]")
	}
	if e.leftovers {
		notes = append(notes, "[processes that it had left in the background were killed]")
	}
	if e.escaped {
		notes = append(notes, "[a process that it started has detached itself and may still be running]")
	}
	return notes
}

func signalOf(state *os.ProcessState) any {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal()
	}
	return state
}
