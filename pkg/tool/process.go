package tool

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// How long we wait for what should come at once.
const (
	drainTime = 500 * time.Millisecond // for the rest of the output once the shell is gone
	killTime  = 5 * time.Second        // for a killed process, which a broken disk can hold
)

// process is a running command, the leader of a group of its own.
type process struct {
	cmd     *exec.Cmd
	out     *output
	left    leftBehind
	pipe    *os.File      // we read it
	exited  chan struct{} // closed when the shell is gone
	drained chan struct{} // closed when nobody holds the output any more, or we gave up on it
}

// leftBehind knows the orphans of one call.
type leftBehind struct {
	orphans *Orphans
	key     string // of the call
}

// ending is how a process ended.
type ending struct {
	outcome   Outcome          // Timeout or Stopped, "" when it ended by itself
	state     *os.ProcessState // of the shell; nil when it is not known
	leftovers bool             // something had outlived the shell and was killed
	escaped   bool             // something outside the group lives on
	stuck     bool             // it could not be killed
}

// start runs cmd and has out gather its output.
func start(cmd *exec.Cmd, out *output, left leftBehind) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = sysProcAttr()
	p := &process{
		cmd: cmd, out: out, left: left, pipe: r,
		exited: make(chan struct{}), drained: make(chan struct{}),
	}
	left.orphans.begin()
	started := make(chan error)
	go func() {
		// The death signal of Linux comes when the thread that started the
		// child ends, so that this thread must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := left.orphans.start(cmd)
		started <- err
		if err == nil {
			left.orphans.wait(cmd)
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		r.Close()
		left.orphans.end(left.key)
		return nil, err
	}
	go func() {
		defer close(p.drained)
		defer r.Close()
		p.out.readFrom(r)
	}()
	return p, nil
}

// wait returns when the command has ended, or has been ended because of ctx or
// its timeout. Nothing that it started is left then.
func (p *process) wait(ctx context.Context, timeout time.Duration, opts ShellOptions) ending {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var e ending
	select {
	case <-p.exited:
		return p.finish(e)
	case <-timer.C:
		e.outcome = Timeout
	case <-ctx.Done():
		e.outcome = Stopped
	case <-opts.Kill:
		e.outcome = Stopped
	}
	select {
	case <-p.exited: // both at once: it had ended by itself
		return p.finish(ending{})
	default:
	}
	p.terminate(ctx, opts)
	return p.finish(e)
}

// terminate asks the group to end and returns when it did, as far as its hold
// on the output shows, when the grace is over, or when there shall be none.
func (p *process) terminate(ctx context.Context, opts ShellOptions) {
	ctxDone := ctx.Done()
	if ctx.Err() != nil {
		if errors.Is(context.Cause(ctx), ErrKillNow) {
			return
		}
		ctxDone = nil
	}
	select {
	case <-opts.Kill:
		return
	default:
	}
	_ = p.signal(syscall.SIGTERM)
	grace := time.NewTimer(opts.Grace)
	defer grace.Stop()
	exited, drained := p.exited, p.drained
	for exited != nil || drained != nil {
		select {
		case <-exited:
			exited = nil
			p.left.orphans.terminate(p.left.key, p.cmd.Process.Pid)
		case <-drained:
			drained = nil
		case <-ctxDone:
			if errors.Is(context.Cause(ctx), ErrKillNow) {
				return
			}
			ctxDone = nil
		case <-opts.Kill:
			return
		case <-grace.C:
			return
		}
	}
}

// finish kills what is left of the group and of what has left it, and gathers
// the rest of the output.
func (p *process) finish(e ending) ending {
	select {
	case <-p.exited:
		// Its number can't have been given away in the instant since it was
		// reaped: the system counts through all numbers first.
		e.leftovers = p.signal(syscall.SIGKILL) == nil
	default:
		_ = p.signal(syscall.SIGKILL)
		select {
		case <-p.exited:
		case <-time.After(killTime):
			e.stuck = true
		}
	}
	if !e.stuck {
		e.state = p.cmd.ProcessState
	}
	found, left := p.left.orphans.end(p.left.key)
	e.leftovers, e.escaped = e.leftovers || found && !left, left
	if !p.drain() {
		e.escaped = e.escaped || !e.stuck
		_ = p.pipe.SetReadDeadline(time.Now())
		<-p.drained
	}
	return e
}

// drain waits for the rest of the output. False means that somebody still
// holds it, who says nothing; a slow disk that takes what was said is waited
// for.
func (p *process) drain() bool {
	for deadline := time.Now().Add(4 * drainTime); ; {
		select {
		case <-p.drained:
			return true
		case <-time.After(drainTime):
		}
		if !p.out.storing() || time.Now().After(deadline) {
			return false
		}
	}
}

// signal sends s to the whole group.
func (p *process) signal(s syscall.Signal) error {
	return syscall.Kill(-p.cmd.Process.Pid, s)
}
