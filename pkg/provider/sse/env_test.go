package sse

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kagent/pkg/provider"
)

// TestMain makes this binary its own client: what Go reads from the
// environment it reads once in a process.
func TestMain(m *testing.M) {
	address := os.Getenv("SSE_TEST_POST")
	if address == "" {
		os.Exit(m.Run())
	}
	c := &Client{HTTP: DefaultHTTP(), Provider: "v"}
	var kind provider.Kind
	a, err := c.Post(context.Background(), address, nil, nil)
	if err == nil {
		a.Close()
	} else if e := new(provider.Error); errors.As(err, &e) {
		kind = e.Kind
	}
	fmt.Printf("kind=%s %v\n", kind, err)
	os.Exit(0)
}

// F119, and F149 as far as proxies are concerned.
func TestTheEnvironmentNamesProxiesAndAuthorities(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // bad handshakes are wanted here
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for name, c := range map[string]struct {
		address string
		env     []string
		want    string // the beginning of the outcome
		says    string // and a part of it
	}{
		"own authority":      {server.URL, []string{"SSL_CERT_FILE=" + ca}, "kind= <nil>", ""},
		"unknown authority":  {server.URL, nil, "kind=invalid_request", "SSL_CERT_DIR names " + empty + ", and that holds no file of certificates"},
		"none in the file":   {server.URL, []string{"SSL_CERT_FILE=/dev/null"}, "kind=invalid_request", "SSL_CERT_FILE names /dev/null, and that holds no certificate"},
		"no such file":       {server.URL, []string{"SSL_CERT_FILE=" + ca + "x"}, "kind=invalid_request", "SSL_CERT_FILE names " + ca + "x, and that does not exist"},
		"another authority":  {server.URL, []string{"SSL_CERT_DIR="}, "kind=invalid_request", "SSL_CERT_FILE names the file of its certificate"},
		"no proxy's address": {"https://host.invalid", []string{"HTTPS_PROXY=http://user:hunter2@::::"}, "kind=network", "HTTPS_PROXY holds no address of a proxy"},
		"no proxy for local": {server.URL, []string{"SSL_CERT_FILE=" + ca, "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1"}, "kind= <nil>", ""},
		"plain server":       {strings.Replace(server.URL, "https", "http", 1), nil, "kind= <nil>", ""}, // answers 400
		"proxy out of reach": {"https://host.invalid", []string{"HTTPS_PROXY=http://user:hunter2@127.0.0.1:9"}, "kind=network", "the proxy on the way to host.invalid can't be reached: it refuses connections"},
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append([]string{"SSE_TEST_POST=" + c.address, "SSL_CERT_DIR=" + empty, "GORACE=atexit_sleep_ms=0"}, c.env...)
		out, err := cmd.CombinedOutput()
		got := string(out)
		if err != nil || !strings.HasPrefix(got, c.want) || !strings.Contains(got, c.says) || strings.Contains(got, "hun") {
			t.Errorf("%s: %v: %s", name, err, got)
		}
	}
}
