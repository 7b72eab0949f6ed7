package tool

import (
	"strings"
	"unicode/utf8"
)

// A StreamMasker masks a text that comes in pieces. What it returns is, put
// together, what Mask returns for the whole, however the text was split, and
// each part is valid UTF-8.
//
// Text is held back only while it may be the beginning of a secret: at most as
// much as the longest form of a value, or 2 KiB for a shape. As soon as it is
// known to be one its mask is returned, and what belongs to it is swallowed,
// without limit for a shape. So the block of a private key that has no end,
// because somebody cut it, ends with the lines that look like it; what comes
// after is shown.
type StreamMasker struct {
	runes runeJoiner
	scan  maskScan
}

// Stream returns a new StreamMasker, for use by one goroutine at a time.
func (m *Masker) Stream() *StreamMasker {
	return &StreamMasker{scan: maskScan{masker: m.orNone()}}
}

// Write takes the next piece and returns what can be shown now.
func (s *StreamMasker) Write(piece string) string {
	s.scan.text += s.runes.join(piece)
	s.scan.run(false)
	s.scan.forget()
	return s.scan.take()
}

// Flush ends the text and returns what is left of it. The next Write begins a
// new text.
func (s *StreamMasker) Flush() string {
	s.scan.text += s.runes.flush()
	s.scan.run(true)
	rest := s.scan.take()
	*s = StreamMasker{scan: maskScan{masker: s.scan.masker}}
	return rest
}

// A runeJoiner puts together runes that were split, and replaces each run of
// invalid bytes by one U+FFFD, as strings.ToValidUTF8 does for a whole text.
type runeJoiner struct {
	half string // the beginning of a rune
	bad  bool   // the last byte before half was replaced
}

func (j *runeJoiner) join(piece string) string {
	text := j.half + piece
	end := len(text)
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				end = i
			}
			break
		}
	}
	j.half = strings.Clone(text[end:])
	return j.clean(text[:end])
}

func (j *runeJoiner) flush() string {
	return j.clean(j.half)
}

func (j *runeJoiner) clean(text string) string {
	if j.bad {
		for text != "" && startsInvalid(text) {
			text = text[1:]
		}
	}
	if text != "" {
		r, n := utf8.DecodeLastRuneInString(text)
		j.bad = r == utf8.RuneError && n == 1
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func startsInvalid(text string) bool {
	r, n := utf8.DecodeRuneInString(text)
	return r == utf8.RuneError && n == 1
}
