package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// untilDone is a reader that ends with its ctx.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(b)
}

// skipLines passes over n lines of any length and returns the bytes and the
// lines that it passed. The error is io.EOF when nothing follows them.
func skipLines(r *bufio.Reader, n int64) (skipped, lines int64, err error) {
	if n == 0 {
		return 0, 0, nil
	}
	inLine := false
	for lines < n {
		piece, err := r.ReadSlice('\n')
		skipped += int64(len(piece))
		inLine = inLine || len(piece) > 0
		switch {
		case err == nil:
			lines, inLine = lines+1, false
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			if inLine {
				lines++
			}
			return skipped, lines, err
		}
	}
	_, err = r.Peek(1)
	return skipped, lines, err
}

// page is the part of a file that one call shows.
type page struct {
	raw  []byte // whole lines, but for the last when the file ends or long is set
	bad  int    // bytes of raw that can't be shown as they are
	more bool   // the file goes on
	full bool   // ... and the bound on size was what ended the page
	long bool   // raw is the beginning of a line that doesn't fit
}

// readPage reads up to limit lines (0: no limit) and maxRead bytes.
func readPage(r *bufio.Reader, limit int64) (page, error) {
	var p page
	for lines := int64(0); (limit == 0 || lines < limit) && !p.full; {
		piece, err := r.ReadSlice('\n')
		if room := maxRead - len(p.raw); len(piece) > room {
			piece, p.full = piece[:room], true
		}
		p.raw = append(p.raw, piece...)
		switch {
		case err == nil:
			lines++
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			p.more = p.full
			p.trim()
			return p, nil
		default:
			return p, err
		}
	}
	_, err := r.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return p, err
	}
	p.more = p.full || err == nil
	p.trim()
	return p, nil
}

// trim makes the page fit its bound and end with a line, or at least a rune.
func (p *page) trim() {
	used, _ := fit(p.raw, maxRead)
	if used < len(p.raw) {
		p.raw, p.full, p.more = p.raw[:used], true, true
	}
	if p.full {
		if end := bytes.LastIndexByte(p.raw, '\n'); end >= 0 {
			p.raw = p.raw[:end+1]
		} else {
			p.raw, p.long = wholeRunes(p.raw), true
		}
	}
	_, p.bad = fit(p.raw, maxRead)
}

// fit returns how many bytes of raw can be shown in limit bytes of clean text,
// and how many of them message.Clean replaces: a NUL or a run of invalid bytes
// becomes one U+FFFD.
func fit(raw []byte, limit int) (used, bad int) {
	const replacement = len("\uFFFD")
	shown, inRun := 0, false
	for used < len(raw) {
		r, size := utf8.DecodeRune(raw[used:])
		invalid := r == utf8.RuneError && size == 1
		cost := size
		switch {
		case invalid && inRun:
			cost = 0
		case invalid || r == 0:
			cost = replacement
		}
		if shown+cost > limit {
			break
		}
		if invalid || r == 0 {
			bad++
		}
		shown, used, inRun = shown+cost, used+size, invalid
	}
	return used, bad
}

// wholeRunes drops the beginning of a rune at the end of b.
func wholeRunes(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// result shows the page, whose first line has the number first, and says what
// is not in it. left is the size of the file from the page's beginning.
func (p page) result(first, left int64) Result {
	if len(p.raw) == 0 && !p.more {
		return Success("[the file is empty]")
	}
	last := first + int64(bytes.Count(p.raw, []byte{'\n'})) - 1
	if p.raw[len(p.raw)-1] != '\n' {
		last++
	}
	var notes []string
	switch {
	case p.long:
		notes = append(notes, fmt.Sprintf("[cut: line %d is too long; only its first %d bytes are shown, and no "+
			"call of this tool shows the rest; the next line would be offset=%d]", first, len(p.raw), first+1))
	case p.full:
		notes = append(notes, fmt.Sprintf("[cut at %d KiB: this is lines %d to %d; read on with offset=%d]",
			maxRead>>10, first, last, last+1))
	case p.more:
		notes = append(notes, fmt.Sprintf("[this is lines %d to %d; read on with offset=%d]", first, last, last+1))
	}
	if p.bad > 0 {
		notes = append(notes, fmt.Sprintf("[%d bytes are NUL or not valid UTF-8; they are shown as U+FFFD]", p.bad))
	}
	text := string(p.raw)
	if len(notes) > 0 && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	result := Success(text + strings.Join(notes, "\n"))
	if p.full {
		result.Omitted = max(left-int64(len(p.raw)), 0)
	}
	return result
}
