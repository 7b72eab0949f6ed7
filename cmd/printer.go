package cmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// A printer writes what is printed, in its order. As long as that does not block,
// whoever prints waits for it, as for any write. Where the reader stands still (a
// stopped terminal, a pipe that nobody reads, the log of a service that hangs) the
// text waits here instead, and the run goes on to its next request: see paced.
// So output never keeps a session from being saved, nor a process from ending
// that was told to.
type printer struct {
	told  <-chan struct{} // closed when the process is told to end; nil: never
	grace time.Duration   // for what waits then

	mu    sync.Mutex
	queue []piece       // the first is being written
	size  int           // of their texts
	moved chan struct{} // closed when the first has gone out
	stuck bool          // the first has not gone out for a while
	paced bool          // a run waits for room elsewhere
	shut  bool          // what waited is given up
}

// piece is a text and where it goes.
type piece struct {
	to   *outlet
	text []byte
}

const (
	printRoom    = 1 << 20                // bytes that may wait
	printBlocked = 100 * time.Millisecond // a write that takes so long may take for ever
	printGrace   = 5 * time.Second
)

// errUnread says that nobody read stdout until the process had to end.
var errUnread = errors.New("nobody read it until the process was told to end")

func newPrinter(told <-chan struct{}) *printer {
	return &printer{told: told, grace: printGrace, moved: make(chan struct{})}
}

// outlet is stdout or stderr.
type outlet struct {
	printer *printer
	file    *os.File
	err     error // the first one; the rest is dropped
}

// Write never fails: see failure.
func (l *outlet) Write(b []byte) (int, error) {
	if len(b) > 0 {
		l.printer.put(piece{l, bytes.Clone(b)})
	}
	return len(b), nil
}

// failure is the first error of what has gone out so far.
func (l *outlet) failure() error {
	l.printer.mu.Lock()
	defer l.printer.mu.Unlock()
	return l.err
}

func (l *outlet) fail(err error) {
	l.printer.mu.Lock()
	defer l.printer.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

func (p *printer) put(next piece) {
	if !p.pacing() {
		p.drain(printRoom)
	}
	if p.add(next) {
		return
	}
	soon, done := context.WithTimeout(context.Background(), printBlocked)
	defer done()
	if !p.until(0, soon.Done()) {
		p.mu.Lock()
		p.stuck = p.size > 0
		p.mu.Unlock()
	}
}

// add reports whether it is of no use to wait for what was added.
func (p *printer) add(next piece) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut && next.to.err == nil {
		next.to.err = errUnread
	}
	if next.to.err != nil {
		return true
	}
	p.queue, p.size = append(p.queue, next), p.size+len(next.text)
	if len(p.queue) == 1 {
		go p.carry()
	}
	return p.stuck
}

// carry writes until nothing waits.
func (p *printer) carry() {
	for next, more := p.first(); more; next, more = p.gone(next) {
		if next.to.failure() == nil {
			if _, err := next.to.file.Write(next.text); err != nil {
				next.to.fail(err)
			}
		}
	}
}

func (p *printer) first() (piece, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		return piece{}, false
	}
	return p.queue[0], true
}

// gone takes the first out of the queue and returns the next, if there is one.
func (p *printer) gone(sent piece) (piece, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		return piece{}, false
	}
	p.queue[0], p.queue, p.size = piece{}, p.queue[1:], p.size-len(sent.text)
	p.tell()
	if len(p.queue) == 0 {
		p.queue, p.stuck = nil, false
		return piece{}, false
	}
	return p.queue[0], true
}

// tell wakes all who wait for room.
func (p *printer) tell() {
	close(p.moved)
	p.moved = make(chan struct{})
}

// until waits until no more than n bytes wait, and reports whether that was before
// the end.
func (p *printer) until(n int, end <-chan struct{}) bool {
	for {
		p.mu.Lock()
		size, moved := p.size, p.moved
		p.mu.Unlock()
		if size <= n {
			return true
		}
		select {
		case <-moved:
		case <-end:
			return false
		}
	}
}

// drain is until, but once the process is told to end it waits for no longer
// than the grace, and then gives up what is left.
func (p *printer) drain(n int) {
	if !p.until(n, p.told) && !p.within(n) {
		p.giveUp()
	}
}

// within is until, for the grace.
func (p *printer) within(n int) bool {
	late, done := context.WithTimeout(context.Background(), p.patience())
	defer done()
	return p.until(n, late.Done())
}

func (p *printer) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, left := range p.queue {
		if left.to.err == nil {
			left.to.err = errUnread
		}
	}
	p.queue, p.size, p.shut = nil, 0, true
	p.tell()
}

func (p *printer) pacing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paced
}

func (p *printer) patience() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.grace
}
