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

// screen is stderr on a terminal, with lines at its end that say what is done
// right now. Other lines are written above them; while text is streamed to the
// same terminal they are away.
type screen struct {
	mu     sync.Mutex
	out    io.Writer
	size   func() (columns, rows int)
	live   func(rows int) []string // so many at most
	shown  int                     // lines
	inText bool                    // streamed text has not ended its line

	done chan struct{}
	gone sync.WaitGroup
}

// liveScreen returns a screen where there is a terminal for it, else nil. One
// that can't erase has no live lines, but other lines don't begin within text.
func liveScreen(f *os.File, out io.Writer, live func(rows int) []string) *screen {
	if !isTerminal(f) {
		return nil
	}
	if os.Getenv("TERM") == "dumb" {
		live = func(int) []string { return nil }
	}
	size := func() (columns, rows int) {
		w, h, err := term.GetSize(int(f.Fd()))
		if err != nil || w < 20 || h < 1 {
			return 80, 24
		}
		return w, h
	}
	return &screen{out: out, size: size, live: live}
}

const (
	erase = "\r\x1b[K"
	above = "\x1b[1A"
)

// start keeps the lines fresh until close.
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

// close takes them away.
func (s *screen) close() {
	close(s.done)
	s.gone.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

// Write puts whole lines above the live ones.
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
	if s.inText {
		return
	}
	columns, rows := s.size()
	lines := s.live(rows)
	for i, line := range lines {
		lines[i] = fitting(upright(line), columns-1)
	}
	io.WriteString(s.out, s.away()+strings.Join(lines, "\n"))
	s.shown = len(lines)
}

func (s *screen) clear() {
	io.WriteString(s.out, s.away())
	s.shown = 0
}

// away is what takes the shown lines from the terminal.
func (s *screen) away() string {
	if s.shown == 0 {
		return ""
	}
	return erase + strings.Repeat(above+erase, s.shown-1)
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
