package sse

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"kagent/pkg/provider"
)

// transport is an http.RoundTripper made of a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// client has a model m of a vendor v and the key SECRETKEY123.
func client(f transport) *Client {
	return &Client{HTTP: &http.Client{Transport: f}, Provider: "v", Model: "m", Secrets: []string{"SECRETKEY123"}}
}

// body answers with what r has.
func body(r io.Reader, header ...string) transport {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(r), Request: req}, nil
	}
}

// post returns the whole answer.
func post(ctx context.Context, c *Client) (string, error) {
	a, err := c.Post(ctx, "http://host/path?key=SECRETKEY123", http.Header{"Authorization": {"Bearer SECRETKEY123"}}, []byte("{}"))
	if err != nil {
		return "", err
	}
	defer a.Close()
	b, err := c.ReadAll(a, 1<<20)
	return string(b), err
}

// failed returns err as a provider's error that tells no secret.
func failed(t *testing.T, err error, want provider.Kind) *provider.Error {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != want || e.Provider != "v" || e.Model != "m" {
		t.Fatalf("got %#v, want an error of kind %s", err, want)
	}
	if s := err.Error(); strings.Contains(s, "SECRETKEY") || strings.Contains(s, "hunter") || strings.ContainsAny(s, "\n\r\x1b") {
		t.Errorf("error text is not fit to be shown: %q", s)
	}
	return e
}

// silent gives its pieces after a pause each and ends with the request.
func silent(req *http.Request, pause time.Duration, pieces ...string) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		for _, p := range pieces {
			time.Sleep(pause)
			io.WriteString(w, p)
		}
		<-req.Context().Done()
		w.CloseWithError(req.Context().Err())
	}()
	return r
}

// F082; the clock is synctest's.
func TestSilenceIsATimeout(t *testing.T) {
	for name, answer := range map[string]transport{
		"before the head": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"before the first byte": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: silent(r, 0), Request: r}, nil
		},
		"in the middle": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: silent(r, time.Minute, "a", ": keep alive", "c"), Request: r}, nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, err := post(t.Context(), client(answer))
			if e := failed(t, err, provider.Timeout); e.Message != "host sent nothing for 2m0s" {
				t.Errorf("%s: message %q", name, e.Message)
			}
			if took, want := time.Since(start), 2*time.Minute; took != want && took != 3*time.Minute+want {
				t.Errorf("%s: took %v", name, took)
			}
		})
	}
}

func TestASlowReaderIsNoSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client(body(iotest.OneByteReader(strings.NewReader("abc"))))
		a, err := c.Post(t.Context(), "http://host", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		for range 3 {
			time.Sleep(time.Hour)
			if _, err := a.Body.ReadByte(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestTheCallersCauseIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("ctrl-c")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		_, err := post(ctx, client(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: silent(r, 0, "a"), Request: r}, nil
		}))
		if err != cause {
			t.Errorf("in the body: %v", err)
		}
		_, err = post(ctx, client(func(r *http.Request) (*http.Response, error) { return nil, r.Context().Err() }))
		if err != cause {
			t.Errorf("before the head: %v", err)
		}
	})
}

func zipped(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.Bytes()
}

func TestGzipIsUnpackedWithAndWithoutHeader(t *testing.T) {
	for _, header := range [][]string{nil, {"Content-Encoding", "gzip"}} {
		got, err := post(t.Context(), client(body(iotest.OneByteReader(bytes.NewReader(zipped("hello"))), header...)))
		if err != nil || got != "hello" {
			t.Errorf("%v: %q, %v", header, got, err)
		}
	}
	// A header alone is a lie that does no harm.
	if got, err := post(t.Context(), client(body(strings.NewReader("hello"), "Content-Encoding", "gzip"))); err != nil || got != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	packed := zipped(strings.Repeat("hello", 100))
	for n := 2; n < len(packed); n++ {
		if got, err := post(t.Context(), client(body(bytes.NewReader(packed[:n])))); err == nil {
			t.Fatalf("cut after %d bytes: %q", n, got)
		}
	}
	_, err := post(t.Context(), client(body(strings.NewReader("x"), "Content-Encoding", "br")))
	failed(t, err, provider.Server)
}

// F149: neither the key nor the conversation go to somebody else.
func TestRedirectionsAreRefused(t *testing.T) {
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("request reached the target: %v", r.Header)
	}))
	defer thief.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", strings.Replace(thief.URL, "://", "://user:hunter2@", 1)+"/new?key=SECRETKEY123")
			w.WriteHeader(status)
		}))
		c := client(nil)
		c.HTTP = server.Client()
		_, err := c.Post(t.Context(), server.URL, http.Header{"Authorization": {"Bearer SECRETKEY123"}}, nil)
		if e := failed(t, err, provider.InvalidRequest); !strings.Contains(e.Message, thief.URL+"/new") || e.Status != status {
			t.Errorf("%v", e)
		}
		server.Close()
	}
}

func TestTransportErrorsAreClassified(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind provider.Kind
	}{
		{&net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}, provider.Network},
		{&net.DNSError{Err: "i/o timeout", Name: "host", IsTimeout: true}, provider.Timeout},
		{&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}, provider.Network},
		{io.ErrUnexpectedEOF, provider.Network},
		{errors.New("Proxy Authentication Required"), provider.Auth},
		{errors.New(`proxyconnect tcp: dial "http://user:hunter2@proxy:3128": no route`), provider.Network},
		{errors.New("odd\x1b[2J\r\nthing with SECRETKEY123"), provider.Network},
	} {
		_, err := post(t.Context(), client(func(*http.Request) (*http.Response, error) { return nil, c.err }))
		failed(t, err, c.kind)
		_, err = post(t.Context(), client(body(io.MultiReader(strings.NewReader("data: a"), iotest.ErrReader(c.err)))))
		failed(t, err, c.kind)
	}
}

func TestErrorsAreOneBoundedLineWithoutSecrets(t *testing.T) {
	c := &Client{Secrets: []string{"k e+y/1", "", "abc"}}
	for in, want := range map[string]string{
		"a\n\tb\x00c\x1b[2Jd":                 "a b c [2Jd",
		"key k e+y/1 or k+e%2By%2F1":          "key *** or ***",
		"at https://u:p@h/x, http://u:@q@h/y": "at https://***@h/x, http://***@h/y",
		"abc":                                 "abc", // too short to be a key
		"\xff\xfe":                            "\uFFFD",
		strings.Repeat("ä", 600):              strings.Repeat("ä", 500) + "…",
	} {
		if got := c.Fail(provider.Server, 0, "%s", in).Message; got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestAKeyThatIsAWordIsMaskedInErrorsWhereItStandsAlone(t *testing.T) {
	c := &Client{Secrets: []string{"test", "lm-studio"}}
	for in, want := range map[string]string{
		"the latest contest: test is no key, \"test\"":  "the latest contest: *** is no key, \"***\"",
		"key\\ntest, or Bearer test.":                   "key\\n***, or Bearer ***.",
		"lm-studios and lm-studio":                      "lm-studios and ***",
		"Basic dTpsbS1zdHVkaW8= (lm-studio, with user)": "Basic dTp***8= (***, with user)",
	} {
		if got := c.Fail(provider.Server, 0, "%s", in).Message; got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestAnAnswerHasALargestSize(t *testing.T) {
	a, err := client(body(strings.NewReader("12345"))).Post(t.Context(), "http://host", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client(nil).ReadAll(a, 4)
	failed(t, err, provider.TooLarge)
}

func TestPagesAreSummedUp(t *testing.T) {
	for in, want := range map[string]string{
		"<html><head><title> Log\n in </title></head><body>x</body></html>": "an HTML page (Log in)",
		"\n<!doctype html><style>p{}</style><p>502 Bad  Gateway":            "an HTML page (502 Bad Gateway)",
		"<p>" + strings.Repeat("long ", 100):                                "an HTML page (" + strings.Repeat("long ", 16) + "…)",
		"<":                                                                 "an HTML page (<)",
	} {
		if got := PageNote([]byte(in)); !IsPage([]byte(in)) || got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if IsPage([]byte(`{"a":"<p>"}`)) || IsPage(nil) {
		t.Error("JSON is a page")
	}
}

func TestRetryAfterInAllItsForms(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		status int
		header string // "name: value; name: value"
		want   time.Duration
	}{
		{429, "", 0},
		{429, "Retry-After: 3", 3 * time.Second},
		{503, "Retry-After: 1.5", 1500 * time.Millisecond},
		{429, "Retry-After: " + date(3*time.Second), 3 * time.Second},
		{429, "Retry-After: " + date(-time.Minute), 0},
		{429, "Retry-After: " + date(time.Minute) + "; Date: " + date(50*time.Second), 10 * time.Second},
		{429, "Retry-After: abc", 0},
		{429, "Retry-After: -5", 0},
		{429, "Retry-After: NaN", 0},
		{429, "Retry-After: 1e300", longest},
		{429, "Retry-After-Ms: 20; Retry-After: 1", 20 * time.Millisecond},
		{429, "X-Ratelimit-Reset-Requests: 1s; X-Ratelimit-Reset-Tokens: 6m0s", 6 * time.Minute},
		{429, "X-Ratelimit-Reset-Requests: 2ms", 2 * time.Millisecond},
		{429, "X-Ratelimit-Reset-Requests: soon", 0},
		{429, "Retry-After: 2; X-Ratelimit-Reset-Requests: 1h", 2 * time.Second},
		{400, "X-Ratelimit-Reset-Requests: 1s", 0},
		{429, fmt.Sprint("X-Ratelimit-Reset: ", now.Add(time.Minute).UnixMilli()), time.Minute},
		{429, "Anthropic-Ratelimit-Tokens-Remaining: 0; Anthropic-Ratelimit-Tokens-Reset: 2026-03-01T12:00:09Z; " +
			"Anthropic-Ratelimit-Requests-Remaining: 0; Anthropic-Ratelimit-Requests-Reset: 2026-03-01T13:00:02+01:00; " +
			"Anthropic-Ratelimit-Input-Tokens-Remaining: 7; Anthropic-Ratelimit-Input-Tokens-Reset: 2026-03-01T13:00:00Z", 9 * time.Second},
		{429, "Anthropic-Ratelimit-Tokens-Remaining: 0; Anthropic-Ratelimit-Tokens-Reset: soon", 0},
		{529, "Anthropic-Ratelimit-Tokens-Remaining: 0; Anthropic-Ratelimit-Tokens-Reset: 2026-03-01T12:00:09Z", 0},
	} {
		h := http.Header{}
		for field := range strings.SplitSeq(c.header, "; ") {
			name, value, _ := strings.Cut(field, ": ")
			h.Set(name, value)
		}
		if got := RetryAfter(c.status, h, now); got != c.want {
			t.Errorf("%d with %q: %v, want %v", c.status, c.header, got, c.want)
		}
	}
}
