//go:build bench

package providertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kagent/pkg/provider"
)

// costSize is how much is decoded, maxCost how much longer that may take than
// the bare loop.
const (
	costSize = 10 << 20
	maxCost  = 2.0
)

// DecodeCost compares what an adapter takes for 10 MiB of streams with a loop
// that splits the same bytes into lines and unmarshals each into a map: for one
// long stream made by hand, and for recorded ones until there are 10 MiB.
func DecodeCost(t *testing.T, a Adapter) {
	t.Run("one long stream", func(t *testing.T) { a.cost(t, []string{a.long()}) })
	t.Run("recorded streams", func(t *testing.T) {
		var bodies []string
		for _, r := range a.recordings(t) {
			list := strings.HasPrefix(r.Response.Body, "[") // is no stream of lines
			if r.Stream && !list && r.Response.Status == http.StatusOK && r.Expected.Outcome == "ok" && a.decodeOnly(t, r.Response.Body) == nil {
				bodies = append(bodies, r.Response.Body)
			}
		}
		a.cost(t, filled(bodies))
	})
}

// long returns a stream of about 10 MiB: mostly text in pieces of some tokens,
// with reasoning and a call of some length.
func (a Adapter) long() string {
	one := len(a.saying(256))
	return a.saying(256 * costSize / one)
}

// saying returns a stream that says n sentences.
func (a Adapter) saying(n int) string {
	const words = "Die Übung macht den \"Meister\"; 熟能生巧 😀.\n"
	text := Literals(strings.Repeat(words, n), 12)
	return a.Wire.frame(a.Wire.Answer(Answer{
		Reasoning: text[:len(text)/4], Text: text,
		Calls: []Call{{"call_1", "write_file", `{"content":` + literal(strings.Repeat(words, n/8)) + `}`}},
	}))
}

// filled repeats bodies until they hold 10 MiB.
func filled(bodies []string) []string {
	var list []string
	for size, i := 0, 0; size < costSize; i++ {
		body := bodies[i%len(bodies)]
		list, size = append(list, body), size+len(body)
	}
	return list
}

func (a Adapter) cost(t *testing.T, bodies []string) {
	var ours, bare []time.Duration
	for range 5 {
		bare = append(bare, took(func() {
			for _, body := range bodies {
				bareLoop(t, body)
			}
		}))
		ours = append(ours, took(func() {
			for _, body := range bodies {
				if err := a.decodeOnly(t, body); err != nil {
					t.Fatal(err)
				}
			}
		}))
	}
	fast, least := slices.Min(ours), slices.Min(bare)
	ratio := float64(fast) / float64(least)
	t.Logf("%s, %d streams: %v, the bare loop %v: %.2f times, at most %.1f", a.Protocol, len(bodies), fast, least, ratio, maxCost)
	if ratio > maxCost {
		t.Errorf("decoding takes %.2f times the bare loop, want at most %.1f", ratio, maxCost)
	}
}

// decodeOnly reads body as the program does, and throws the reply away.
func (a Adapter) decodeOnly(t *testing.T, body string) error {
	p := a.open(t, Options{HTTPClient: Canned(http.StatusOK, nil, strings.NewReader(body))})
	_, err := p.Stream(t.Context(), Hello(), func(provider.Event) {})
	return err
}

// bareLoop is the least that any client does. It keeps nothing.
func bareLoop(t *testing.T, body string) {
	lines := bufio.NewReaderSize(strings.NewReader(body), 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:")))
		var v map[string]any
		if len(line) > 0 && line[0] == '{' {
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatalf("%v: %.200q", err, line)
			}
		}
		if err != nil {
			return
		}
	}
}

// took returns the processor time of f, that of the garbage collector with it:
// unlike the time of day it doesn't tell what else the machine does.
func took(f func()) time.Duration {
	runtime.GC()
	began := spent()
	f()
	return spent() - began
}

func spent() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // can't fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
