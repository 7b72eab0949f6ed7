package providertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"kagent/pkg/provider"
)

// testStatuses: what a status means where the body says nothing else.
func testStatuses(t *testing.T, a Adapter) {
	for status, want := range map[int]provider.Kind{
		401: provider.Auth, 402: provider.Quota, 403: provider.Permission, 404: provider.NotFound, 407: provider.Auth,
		408: provider.Timeout, 409: provider.Server, 413: provider.ContextLength, 422: provider.InvalidRequest, 418: provider.InvalidRequest,
		429: provider.RateLimit, 500: provider.Server, 502: provider.Server, 503: provider.Overloaded,
		504: provider.Server, 520: provider.Server, 529: provider.Overloaded,
	} {
		for _, body := range []string{
			a.Wire.Body("m1 went wrong"), "", "m1 went wrong\n", "\xff\x00\x1b[2J" + strings.Repeat("x", 4000),
			"<html>\n<head><title>m1 went wrong</title></head>",
		} {
			_, err := a.ask(t, Options{HTTPClient: Canned(status, nil, strings.NewReader(body))})
			e := failed(t, err)
			if e.Kind != want || e.Status != status || strings.Contains(body, "m1") && !strings.Contains(e.Message, "m1 went wrong") {
				t.Errorf("%d %.60q: %v, want %s", status, body, e, want)
			}
		}
	}
}

// testWaits: what the server asks for is in the error.
func testWaits(t *testing.T, a Adapter) {
	for _, status := range []int{429, 503, 529} {
		for name, value := range map[string]string{"Retry-After": "7", "Retry-After-Ms": "7000"} {
			header := http.Header{name: {value}}
			_, err := a.ask(t, Options{HTTPClient: Canned(status, header, strings.NewReader(a.Wire.Body("slow down")))})
			if e := failed(t, err); e.RetryAfter != 7*time.Second {
				t.Errorf("%d %s: %v, want 7s", status, name, e.RetryAfter)
			}
		}
	}
}

// F149: keys travel in headers and are in no error, whatever a server echoes.
func testSecrets(t *testing.T, a Adapter) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var echo strings.Builder
		r.Header.Write(&echo)
		if !strings.Contains(echo.String(), key) || strings.Contains(r.URL.String(), "SECRET") {
			t.Errorf("address %s, header\n%s", r.URL, &echo)
		}
		code := http.StatusOK
		fmt.Sscanf(r.URL.Path, "/%d/", &code)
		w.WriteHeader(code)
		if strings.Contains(r.URL.Path, "html") {
			fmt.Fprintf(w, "<html><title>%s</title>", &echo)
			return
		}
		io.WriteString(w, a.Wire.Body(echo.String()))
	}))
	defer server.Close()
	withUser := strings.Replace(server.URL, "://", "://user:SECRETPASS@", 1)
	for _, base := range []string{
		server.URL + "/200", server.URL + "/400", server.URL + "/401", server.URL + "/429", server.URL + "/500",
		server.URL + "/200/html", server.URL + "/502/html", withUser + "/400",
		strings.Replace(server.URL, "http:", "https:", 1), "http://user:SECRETPASS@127.0.0.1:1",
	} {
		_, err := a.ask(t, Options{BaseURL: base, HTTPClient: dripping(t, 0)})
		failed(t, err)
	}
	for _, o := range []Options{
		{BaseURL: "http://u:SECRET@h:x/%zz", Key: key},
		{BaseURL: "ftp://SECRET@h", Key: key},
		{BaseURL: "http://h", Key: "SECRET\nKEY"},
	} {
		if _, err := a.New(o); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", o.BaseURL, err)
		}
	}
}

// testRedirections: one that was followed would carry the key elsewhere.
func testRedirections(t *testing.T, a Adapter) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirection was followed, with %s", r.Header)
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		header := http.Header{"Location": {other.URL + "/?key=" + key}}
		_, err := a.ask(t, Options{HTTPClient: Canned(status, header, strings.NewReader(""))})
		if e := failed(t, err); e.Kind.Retryable() || !strings.Contains(e.Message, "redirects") {
			t.Errorf("%d: %v", status, e)
		}
	}
}
