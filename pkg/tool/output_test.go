package tool

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// gather feeds data to an output in pieces of random size.
func gather(keep int, data []byte) (string, int64) {
	o := newOutput(keep, nil, nil)
	rng := rand.New(rand.NewPCG(1, uint64(len(data))))
	for len(data) > 0 {
		n := min(1+rng.IntN(3*keep), len(data))
		o.write(data[:n])
		data = data[n:]
	}
	return o.text("")
}

func TestOutputKeepsAllThatFits(t *testing.T) {
	for n := range 25 {
		data := bytes.Repeat([]byte("é界🙂a"), 3)[:n]
		text, omitted := gather(12, data)
		if want := strings.ToValidUTF8(string(data), "\uFFFD"); text != want || omitted != 0 {
			t.Errorf("%d bytes: %q, %d omitted; want %q", n, text, omitted, want)
		}
	}
}

// F022: whatever the offset, a cut makes no character unreadable, and what is
// kept and what is said to be left out add up.
func TestOutputCutsBetweenRunes(t *testing.T) {
	for _, char := range []string{"🙂", "ä", "界", "x"} {
		for shift := range 4 {
			for keep := 8; keep < 16; keep++ {
				data := strings.Repeat("-", shift) + strings.Repeat(char, 100)
				text, omitted := gather(keep, []byte(data))
				head, tail, cut := strings.Cut(text, fmt.Sprintf("\n[… %d bytes omitted …]\n", omitted))
				if !cut || !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
					t.Fatalf("%q shift %d keep %d: %q", char, shift, keep, text)
				}
				if !strings.HasPrefix(data, head) || !strings.HasSuffix(data, tail) ||
					int64(len(head)+len(tail))+omitted != int64(len(data)) {
					t.Errorf("%q shift %d keep %d: %q does not add up", char, shift, keep, text)
				}
			}
		}
	}
}

func TestOutputKeepsTheLastBytesInOrder(t *testing.T) {
	var data strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&data, "%d,", i)
	}
	for keep := 1; keep < 200; keep += 13 {
		text, omitted := gather(keep, []byte(data.String()))
		if !strings.HasSuffix(text, "\n"+data.String()[data.Len()-keep:]) || omitted != int64(data.Len()-2*keep) {
			t.Errorf("keep %d: %q, %d omitted", keep, text, omitted)
		}
	}
}

func TestOutputCleansBinary(t *testing.T) {
	for _, data := range []string{strings.Repeat("\x80", 100), strings.Repeat("\x00\xff", 100), "ok\xf0\x9f"} {
		text, _ := gather(10, []byte(data))
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			t.Errorf("%q is not clean", text)
		}
	}
}
