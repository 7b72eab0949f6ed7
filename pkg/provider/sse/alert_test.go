package sse

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"kagent/pkg/provider"
)

// A server that wants a certificate refuses while it is being written to. That is
// what is told, and not that the connection is gone: no other try goes better.
func TestAServerThatWantsACertificateIsToldApart(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()
	for _, size := range []int{0, 10_000, 4 << 20} {
		for _, h2 := range []bool{true, false} {
			for range 10 {
				h := DefaultHTTP()
				transport := h.Transport.(*http.Transport)
				transport.ForceAttemptHTTP2 = h2
				transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
				transport.TLSClientConfig.NextProtos = nil
				client := client(nil)
				client.HTTP = h
				_, err := client.Post(t.Context(), server.URL, nil, bytes.Repeat([]byte("x"), size))
				if e := failed(t, err, provider.InvalidRequest); !strings.HasSuffix(e.Message, "could be agreed on: certificate required") {
					t.Errorf("%d bytes, HTTP/2 %v: %v", size, h2, e)
				}
			}
		}
	}
}

// A connection that was cut for no reason that is known is told in plain words,
// without the numbers of ports.
func TestAFailureNamesNoPortOfOurs(t *testing.T) {
	ports := regexp.MustCompile(`:\d{2,5}`)
	to := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443}
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 52960}
	for _, c := range []struct {
		err  error
		says string
	}{
		{net.ErrClosed, "host cut the connection"},
		{os.NewSyscallError("write", syscall.EPIPE), "host cut the connection"},
		{os.NewSyscallError("write", syscall.ECONNRESET), "host cut the connection"},
		{errors.New("something new"), "something new"},
	} {
		err := fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", &net.OpError{Op: "write", Net: "tcp", Source: from, Addr: to, Err: c.err})
		e := client(nil).transport("host", &url.Error{Op: "Post", URL: "https://h", Err: err})
		if ports.MatchString(e.Error()) || !strings.HasSuffix(e.Error(), c.says) {
			t.Errorf("%v, want %q", e, c.says)
		}
	}
	e := client(nil).transport("host", &net.DNSError{Err: "read udp 127.0.0.1:4242->127.0.0.53:53: connection refused", Name: "h"})
	if ports.MatchString(e.Error()) || !strings.Contains(e.Error(), "(DNS) failed: connection refused") {
		t.Error(e)
	}
}
