package cmd

import (
	"context"
	"os"
	"time"

	"kagent/pkg/provider"
)

// streams are the printers of stdout and stderr: one where both are the same file,
// so that their order stays.
type streams struct {
	out *output
	err *outlet
}

func newStreams(told <-chan struct{}) streams {
	s := streams{out: newOutput(os.Stdout), err: &outlet{file: os.Stderr, printer: newPrinter(told)}}
	s.out.printer.told = told
	if same(os.Stdout, os.Stderr) {
		s.err.printer = s.out.printer
	}
	return s
}

func same(a, b *os.File) bool {
	one, err := a.Stat()
	two, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// patient says how long what waits may take once the process is told to end.
func (s streams) patient(grace time.Duration) {
	for _, p := range s.printers() {
		p.mu.Lock()
		p.grace = grace
		p.mu.Unlock()
	}
}

func (s streams) printers() []*printer {
	if s.out == nil {
		return nil
	}
	return []*printer{s.out.printer, s.err.printer}
}

// flush waits for whoever reads stdout, until the process is told to end. Nobody
// needs stderr as much: what it lacks the session has.
func (s streams) flush() {
	s.out.printer.drain(0)
	if s.err.printer != s.out.printer && !s.err.printer.within(0) {
		s.err.printer.giveUp()
	}
}

// pace has a model asked, and heard further, only where there is room for what it
// says: so a reader who is slow slows the run down, until the run is to end.
func (s streams) pace(p provider.Provider) provider.Provider {
	for _, p := range s.printers() {
		p.mu.Lock()
		p.paced = true
		p.mu.Unlock()
	}
	return paced{p, s}
}

type paced struct {
	provider provider.Provider
	streams  streams
}

func (p paced) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	if !p.room(ctx) {
		return provider.Reply{}, context.Cause(ctx)
	}
	return p.provider.Stream(ctx, req, func(e provider.Event) {
		emit(e)
		p.room(ctx)
	})
}

func (p paced) room(ctx context.Context) bool {
	for _, printer := range p.streams.printers() {
		if !printer.until(printRoom, ctx.Done()) {
			return false
		}
	}
	return true
}
