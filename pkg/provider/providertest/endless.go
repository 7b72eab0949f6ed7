package providertest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"kagent/pkg/provider"
)

// A Flood is an answer that never ends: its head, then again and again its
// piece, in which PIECE stands for a mebibyte.
type Flood struct{ Head, Piece string }

// Endless checks that a reply without an end is given up at its largest size,
// with an error that nobody asks again for and with its connection closed.
func Endless(t *testing.T, a Adapter, floods map[string]Flood) {
	for name, f := range floods {
		body := &flood{head: f.Head, piece: strings.ReplaceAll(f.Piece, "PIECE", strings.Repeat("a", 1<<20))}
		client := &http.Client{Transport: Transport(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}, nil
		})}
		_, err := a.open(t, Options{HTTPClient: client}).Stream(t.Context(), Hello(), func(provider.Event) {})
		e := failed(t, err)
		if e.Kind != provider.TooLarge || e.Kind.Retryable() || e.Message != "the reply is larger than 64 MiB" {
			t.Errorf("%s: %v", name, e)
		}
		if !body.closed || body.read > 70<<20 {
			t.Errorf("%s: closed: %t, after %d MiB", name, body.closed, body.read>>20)
		}
	}
}

// flood is the body of a Flood; it ends after all, where nobody gives it up.
type flood struct {
	head, piece string
	rest        string
	read        int
	closed      bool
}

func (f *flood) Read(p []byte) (int, error) {
	if f.rest == "" {
		f.rest = f.head + f.piece
		f.head = ""
	}
	if f.read > 100<<20 {
		return 0, io.EOF
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	f.read += n
	return n, nil
}

func (f *flood) Close() error {
	f.closed = true
	return nil
}
