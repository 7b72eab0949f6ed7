package cmd

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"kagent/pkg/agent"
	"kagent/pkg/session"
)

// secondGrace is how long tools have to die after a second signal.
const secondGrace = 500 * time.Millisecond

// signals turns the first signal into the end of a context, so that the run is
// saved, and the second into an end at once. Signals that were inherited as
// ignored (nohup) stay ignored.
type signals struct {
	ctx  context.Context
	kill chan struct{} // closed by the second signal: tools die without grace
	got  atomic.Value  // the first signal

	atOnce atomic.Value // a func() to call where a second signal ends all at once
}

func watchSignals() *signals {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &signals{ctx: ctx, kill: make(chan struct{})}
	ch := make(chan os.Signal, 4)
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) {
			signal.Notify(ch, sig)
		}
	}
	// A closed stdout is an error of the write, not the end of the run; unlike
	// ignoring the signal, this is not inherited by tools.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go s.watch(ch, cancel)
	return s
}

func (s *signals) watch(ch <-chan os.Signal, cancel context.CancelCauseFunc) {
	first := <-ch
	s.got.Store(first)
	stop := &agent.Stop{Status: session.Interrupted, Reason: session.ReasonSignal}
	if first == syscall.SIGINT && (term.IsTerminal(0) || term.IsTerminal(2)) {
		stop.Status, stop.Reason = session.Cancelled, ""
	}
	cancel(stop)
	second := <-ch
	close(s.kill)
	select {
	case second = <-ch:
	case <-time.After(secondGrace):
	}
	if last, ok := s.atOnce.Load().(func()); ok {
		last()
	}
	raise(second.(syscall.Signal))
}

// ended reports whether a signal has come.
func (s *signals) ended() bool { return s.got.Load() != nil }

// finish raises the signal again if it is what ended the run.
func (s *signals) finish(code int) {
	if sig, ok := s.got.Load().(syscall.Signal); ok && code > signalBase {
		raise(sig)
	}
}

// raise ends this process by sig, so that a shell loop stops too; as pid 1,
// where signals have no default, and after SIGQUIT, where Go's default is a
// dump of its stacks, by its exit code.
func raise(sig syscall.Signal) {
	if os.Getpid() != 1 && sig != syscall.SIGQUIT {
		signal.Reset(sig)
		syscall.Kill(os.Getpid(), sig)
		time.Sleep(time.Second) // delivery is asynchronous
	}
	os.Exit(signalBase + int(sig))
}
