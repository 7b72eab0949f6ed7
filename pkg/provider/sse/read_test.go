package sse

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// events reads all, as "type|data".
func events(r io.Reader) (got []string, err error) {
	for reader := NewReader(r); ; {
		e, err := reader.Next()
		if err != nil {
			return got, err
		}
		got = append(got, e.Type+"|"+string(e.Data))
	}
}

func TestStreamsAreSplitIntoEvents(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"plain", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"CRLF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"x|a", "|b"}},
		{"CR", "event: x\rdata: a\r\rdata: b\r\r", []string{"x|a", "|b"}},
		{"mixed ends", "data: a\r\n\ndata: b\r\r\ndata: c\n\r\n", []string{"|a", "|b", "|c"}},
		{"byte order mark", "\ufeffdata: a\n\n", []string{"|a"}},
		{"a mark later is no mark", "data: a\n\n\ufeffdata: b\n\n", []string{"|a"}},
		{"comments", ": hi\n:\n\n: x\ndata: a\n: y\n\n", []string{"|a"}},
		{"no space", "event:x\ndata:a\n\n", []string{"x|a"}},                 // F061
		{"one space only", "data:  a \n\n", []string{"| a "}},                // F061
		{"several lines", "data: a\ndata\ndata: b\n\n", []string{"|a\n\nb"}}, // F064
		{"no final blank line", "data: a\n\ndata: b\n", []string{"|a", "|b"}},
		{"no final line end", "data: a\n\ndata: b", []string{"|a", "|b"}},
		{"other fields", "id: 1\nretry: 5\nfoo: x\nfoo\ndata: a\n\n", []string{"|a"}},
		{"event without data", "event: x\n\ndata: a\n\n", []string{"|a"}},
		{"empty data", "data:\n\ndata\n\n", []string{"|", "|"}},
		{"empty", "", nil},
		{"blank lines", "\n\r\n\r\r", nil},
	} {
		for _, how := range []struct {
			name string
			r    io.Reader
		}{
			{"at once", strings.NewReader(c.body)},
			{"byte by byte", iotest.OneByteReader(strings.NewReader(c.body))}, // F066
			{"end with data", iotest.DataErrReader(strings.NewReader(c.body))},
		} {
			got, err := events(how.r)
			if err != io.EOF || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, %s: %q, %v; want %q", c.name, how.name, got, err, c.want)
			}
		}
	}
}

func TestAnEventIsThereBeforeTheNextByte(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n"} {
		r, w := io.Pipe()
		go io.WriteString(w, "data: a"+end) // and never more
		if e, err := NewReader(r).Next(); err != nil || string(e.Data) != "a" {
			t.Errorf("%q: %q, %v", end, e.Data, err)
		}
		r.Close()
	}
}

func TestABrokenConnectionDropsTheOpenEvent(t *testing.T) {
	reset := errors.New("reset")
	got, err := events(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(reset)))
	if err != reset || !reflect.DeepEqual(got, []string{"|a"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// F065; in small pieces, as a quadratic reader would take minutes for it.
func TestLongLinesAreRead(t *testing.T) {
	for _, n := range []int{65537, 8 << 20} {
		body := "data: " + strings.Repeat("x", n) + "\n\ndata: b\n\n"
		reader := NewReader(iotest.HalfReader(strings.NewReader(body)))
		e, err := reader.Next()
		if err != nil || len(e.Data) != n {
			t.Fatalf("%d bytes: got %d, %v", n, len(e.Data), err)
		}
		if e, err := reader.Next(); err != nil || string(e.Data) != "b" {
			t.Errorf("after %d bytes: %q, %v", n, e.Data, err)
		}
	}
}

func TestTooLongIsAnError(t *testing.T) {
	for _, unit := range []string{"x", "data: xxx\n"} {
		reader := NewReader(io.MultiReader(strings.NewReader("data: a\n\n"), &repeat{unit: unit}))
		reader.max = 1 << 16
		if _, err := reader.Next(); err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Next(); err != ErrTooLong {
			t.Errorf("%q without end: %v", unit, err)
		}
	}
}

// repeat is the same text without end.
type repeat struct {
	unit string
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], r.unit[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.unit)
	}
	return n, nil
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "data: a\r\rdata:b\r\n\r\n", "\ufeffevent: x\ndata\n", ":\n\n\rdata: \xff", "data: a\r\r\ndata"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		whole, err1 := events(strings.NewReader(body))
		pieces, err2 := events(iotest.OneByteReader(strings.NewReader(body)))
		if err1 != io.EOF || err2 != io.EOF || !reflect.DeepEqual(whole, pieces) {
			t.Errorf("at once %q (%v), byte by byte %q (%v)", whole, err1, pieces, err2)
		}
		for _, e := range whole {
			if strings.Contains(e, "\r") {
				t.Errorf("a line end inside of %q", e)
			}
		}
		short := strings.ReplaceAll(body, "\r\n", "\n")
		if strings.Contains(short, "\r\n") {
			return // two line ends became one
		}
		if lf, err := events(strings.NewReader(short)); fmt.Sprint(lf, err) != fmt.Sprint(whole, err1) {
			t.Errorf("with LF %q, with CRLF %q", lf, whole)
		}
	})
}
