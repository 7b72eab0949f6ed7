package cmd

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// screen is stderr on a terminal, with a line at its end that says what is done
// right now. Other lines are written above it; while text is streamed to the
// same terminal it is away.
type screen struct {
	mu     sync.Mutex
	out    io.Writer
	width  func() int
	line   func() string
	shown  bool
	inText bool // streamed text has not ended its line

	done chan struct{}
	gone sync.WaitGroup
}

// liveScreen returns a screen where there is a terminal for it, else nil.
func liveScreen(f *os.File, line func() string) *screen {
	if os.Getenv("TERM") == "dumb" || !isTerminal(f) {
		return nil
	}
	width := func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil || w < 20 {
			return 80
		}
		return w
	}
	return &screen{out: f, width: width, line: line}
}

const erase = "\r\x1b[K"

// start keeps the line fresh until close.
func (s *screen) start() {
	s.done = make(chan struct{})
	s.gone.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			s.refresh()
			select {
			case <-tick.C:
			case <-s.done:
				return
			}
		}
	})
}

// close takes the line away.
func (s *screen) close() {
	close(s.done)
	s.gone.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

// Write puts whole lines above the live one.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	if s.inText {
		io.WriteString(s.out, "\n")
		s.inText = false
	}
	n, err := s.out.Write(b)
	s.draw()
	return n, err
}

// text lets write put streamed text on the terminal.
func (s *screen) text(text string, write func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	write()
	s.inText = !strings.HasSuffix(text, "\n")
}

// fresh reports whether what is streamed next begins a line of its own.
func (s *screen) fresh() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.inText
}

func (s *screen) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw()
}

func (s *screen) draw() {
	if line := s.line(); !s.inText && line != "" {
		io.WriteString(s.out, erase+fitting(visible(line), s.width()-1))
		s.shown = true
	}
}

func (s *screen) clear() {
	if s.shown {
		io.WriteString(s.out, erase)
		s.shown = false
	}
}

// fitting cuts a line to so many columns. Characters of the East take two.
func fitting(line string, columns int) string {
	used := 0
	for i, r := range line {
		w := 1
		if r >= 0x1100 && utf8.RuneLen(r) > 2 && r != '…' && r != '·' {
			w = 2
		}
		if used += w; used > columns {
			return line[:i]
		}
	}
	return line
}
