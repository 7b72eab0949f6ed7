package providertest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// How many recorded streams of a protocol are cut, and their largest size in
// bytes: the work grows with its square, one of 100 KiB takes minutes.
const (
	cutStreams = 16
	cutSize    = 12 << 10
)

// CutAnywhere ends recorded streams after each byte. The reply is the whole one
// (only the token count may be missing) or none: never a part of the text,
// never a call that could be run. The shortest streams are taken, one of each
// cluster; the three ways to end take turns, unless KAGENT_CUT=all.
func CutAnywhere(t *testing.T, a Adapter) {
	list := slices.DeleteFunc(a.recordings(t), func(r recording) bool {
		return !r.Stream || r.Response.Status != http.StatusOK || len(r.Response.Body) > cutSize
	})
	slices.SortFunc(list, func(a, b recording) int {
		return cmp.Or(len(a.Response.Body)-len(b.Response.Body), strings.Compare(a.ID, b.ID))
	})
	ways := 1
	if os.Getenv("KAGENT_CUT") == "all" {
		ways = 3
	}
	seen := map[string]bool{}
	for _, r := range list {
		if seen[r.Cluster] || len(seen) == cutStreams {
			continue
		}
		seen[r.Cluster] = true
		t.Run(r.ID, func(t *testing.T) { a.cut(t, r.Response.Body, ways) })
	}
}

// step returns how far apart cuts are, so that a test takes a bounded time.
func step() int {
	if hurry {
		return 23
	}
	return 1
}

// cut ends body after each byte in that many of three ways.
func (a Adapter) cut(t *testing.T, body string, ways int) {
	whole, wholeErr := a.answer(t, strings.NewReader(body))
	for n := 0; n < len(body); n += step() {
		for i := range ways {
			how, end := cutBy(n + i)
			reply, err := a.answer(t, io.MultiReader(strings.NewReader(body[:n]), end))
			if problem := cutProblem(t, whole, wholeErr, reply, err); problem != "" {
				t.Fatalf("cut at %d of %d by %s, after %q: %s", n, len(body), how, body[max(0, n-30):n], problem)
			}
		}
	}
}

func cutBy(n int) (how string, end io.Reader) {
	switch n % 3 {
	case 0:
		return "the end", strings.NewReader("")
	case 1:
		return "close", iotest.ErrReader(io.ErrUnexpectedEOF)
	}
	return "reset", iotest.ErrReader(errors.New("read: connection reset by peer"))
}

// cutProblem says what is wrong with the answer to a stream that was cut.
func cutProblem(t *testing.T, whole provider.Reply, wholeErr error, reply provider.Reply, err error) string {
	if err != nil {
		if e := failed(t, err); e.Kind != provider.Network && wholeErr == nil {
			return "not a network error: " + err.Error()
		}
		return ""
	}
	whole.Usage, reply.Usage = message.Usage{}, message.Usage{}
	if wholeErr != nil || !reflect.DeepEqual(reply, whole) {
		return fmt.Sprintf("a reply %v; the whole stream gives %v, %v", reply, whole, wholeErr)
	}
	return ""
}

// cutConnections ends body after each byte over real connections: by closing,
// by a reset, and by the regular end of the HTTP body.
func (a Adapter) cutConnections(t *testing.T, body string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		part := strings.SplitN(r.URL.Path, "/", 4) // "", how, where, the rest
		n, err := strconv.Atoi(part[2])
		if err != nil {
			t.Errorf("unexpected request: %s", r.URL)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, body[:n])
		if part[1] == "end" {
			return
		}
		w.(http.Flusher).Flush()
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if part[1] == "reset" {
			conn.(*net.TCPConn).SetLinger(0)
		}
		conn.Close()
	}))
	defer server.Close()
	whole, wholeErr := a.answer(t, strings.NewReader(body))
	client := dripping(t, 0)
	for _, how := range []string{"end", "close", "reset"} {
		for n := 0; n < len(body); n += 3 * step() {
			base := server.URL + "/" + how + "/" + strconv.Itoa(n)
			reply, err := a.ask(t, Options{BaseURL: base, HTTPClient: client})
			if problem := cutProblem(t, whole, wholeErr, reply, err); problem != "" {
				t.Fatalf("cut at %d of %d by %s, after %q: %s", n, len(body), how, body[max(0, n-30):n], problem)
			}
		}
	}
}
