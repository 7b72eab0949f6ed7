package sse

import (
	"bufio"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kagent/pkg/provider"
)

// saying is a server that says the same to everybody who connects.
func saying(t *testing.T, text string) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if strings.HasPrefix(text, "HTTP/") {
					http.ReadRequest(bufio.NewReader(c))
				} else {
					c.Read(make([]byte, 1))
				}
				io.WriteString(c, text)
			}()
		}
	}()
	return l.Addr().String()
}

// What can't be reached is told in words that say what to look at, and none of Go's.
func TestWhatCanNotBeReachedIsToldInPlainWords(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	proxied := func(address string) *http.Client {
		h := DefaultHTTP()
		h.Transport.(*http.Transport).Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: address, User: url.UserPassword("u", "hunter2")})
		return h
	}
	for name, c := range map[string]struct {
		address string
		http    *http.Client
		kind    provider.Kind
		says    string
	}{
		"no server":          {closed.URL, DefaultHTTP(), provider.Network, "can't be reached: it refuses connections"},
		"TLS to plain":       {strings.Replace(plain.URL, "http:", "https:", 1), DefaultHTTP(), provider.InvalidRequest, "does not speak TLS; is the address http://?"},
		"plain to TLS":       {"http://" + saying(t, "\x15\x03\x01\x00\x02\x02\x16"), DefaultHTTP(), provider.InvalidRequest, "speaks TLS; is the address https://?"},
		"no HTTP":            {"http://" + saying(t, "SSH-2.0-OpenSSH_9.9\r\n"), DefaultHTTP(), provider.InvalidRequest, "does not speak HTTP"},
		"another authority":  {secure.URL, DefaultHTTP(), provider.InvalidRequest, "is not trusted: no authority that is known here has signed it"},
		"another host's":     {strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), secure.Client(), provider.InvalidRequest, "is not trusted: "},
		"closed at once":     {"http://" + saying(t, ""), DefaultHTTP(), provider.Network, "connection"},
		"a bad redirection":  {"http://" + saying(t, "HTTP/1.1 307 X\r\nLocation: http://[::1/\r\nContent-Length: 0\r\n\r\n"), DefaultHTTP(), provider.InvalidRequest, "a redirection that is not valid"},
		"a redirection":      {"http://" + saying(t, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"), DefaultHTTP(), provider.InvalidRequest, `answered "302 Found" and no more`},
		"not modified":       {"http://" + saying(t, "HTTP/1.1 304 Not Modified\r\n\r\n"), DefaultHTTP(), provider.InvalidRequest, `answered "304 Not Modified" and no more`},
		"no proxy":           {"https://host.invalid", proxied("127.0.0.1:1"), provider.Network, "the proxy on the way to host.invalid can't be reached"},
		"a proxy forbids":    {"https://host.invalid", proxied(saying(t, "HTTP/1.1 403 Nope\r\nContent-Length: 0\r\n\r\n")), provider.InvalidRequest, "refuses to connect to it (HTTP 403)"},
		"a proxy's gateway":  {"https://host.invalid", proxied(saying(t, "HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n")), provider.Network, "can't reach it (HTTP 502)"},
		"a proxy wants more": {"https://host.invalid", proxied(saying(t, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")), provider.Auth, "wants a name and a password"},
	} {
		client := client(nil)
		client.HTTP = c.http
		_, err := client.Post(t.Context(), c.address, nil, nil)
		e := failed(t, err, c.kind)
		if !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %q, want %q", name, e.Message, c.says)
		}
		for _, word := range []string{"dial", "tcp", "x509", "tls:", "net/http", "proxyconnect", "EOF", "malformed"} {
			if strings.Contains(e.Message, word) {
				t.Errorf("%s: %q holds %q", name, e.Message, word)
			}
		}
	}
}

func TestNamesThatAreNotKnownAreToldApart(t *testing.T) {
	for says, err := range map[string]error{
		"there is no host of the name h":     &net.DNSError{Err: "no such host", Name: "h", IsNotFound: true},
		"(DNS) does not answer":              &net.DNSError{Err: "i/o timeout", Name: "h", IsTimeout: true},
		"(DNS) failed: server misbehaving":   &net.DNSError{Err: "server misbehaving", Name: "h", IsTemporary: true},
		"while a secure connection is made":  errors.New("net/http: TLS handshake timeout"),
		"could be agreed on: handshake fail": errors.New("remote error: tls: handshake failure"),
		"host: timeout awaiting":             errors.New("net/http: timeout awaiting response headers"),
	} {
		if e := client(nil).transport("host", &url.Error{Op: "Post", URL: "http://u:hunter2@h", Err: &net.OpError{Op: "dial", Err: err}}); !strings.Contains(e.Error(), says) {
			if e = client(nil).transport("host", err); !strings.Contains(e.Error(), says) {
				t.Errorf("%v, want %q", e, says)
			}
		}
	}
}

func TestAVariableThatNamesNoProxyIsNotPassedBy(t *testing.T) {
	for _, c := range []struct {
		to, name, value, past string
		fails                 bool
	}{
		{"https://h/v1", "HTTPS_PROXY", "http://p:3128", "", false},
		{"https://h/v1", "HTTPS_PROXY", "p:3128", "", false},
		{"https://h/v1", "HTTPS_PROXY", "socks5://u:hunter2@p", "", false},
		{"https://h/v1", "HTTPS_PROXY", "https://[::1]:8080", "", false},
		{"https://h/v1", "HTTPS_PROXY", "::::", "", true},
		{"https://h/v1", "https_proxy", "ftp://u:hunter2@p:1", "", true},
		{"https://h/v1", "HTTPS_PROXY", "http://u:hunter2@p roxy:1", "", true},
		{"https://h/v1", "HTTPS_PROXY", " http://p:1", "", true},
		{"https://h/v1", "HTTPS_PROXY", "http://p:99999", "", true},
		{"https://h/v1", "HTTPS_PROXY", "http://", "", true},
		{"https://h/v1", "HTTPS_PROXY", "http://u:hun%ter2@p", "", true},
		{"https://h/v1", "HTTPS_PROXY", "::::", "h", false},
		{"https://h/v1", "HTTPS_PROXY", "::::", "*", false},
		{"https://localhost/v1", "HTTPS_PROXY", "::::", "", false},
		{"http://h/v1", "HTTPS_PROXY", "::::", "", false},
		{"http://h/v1", "HTTP_PROXY", "::::", "", true},
	} {
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "no_proxy"} {
			t.Setenv(name, "")
		}
		t.Setenv(c.name, c.value)
		t.Setenv("NO_PROXY", c.past)
		u, _ := url.Parse(c.to)
		err := CheckProxy(u)
		if (err != nil) != c.fails {
			t.Errorf("%s=%s to %s: %v", c.name, c.value, c.to, err)
		}
		if err != nil && (!strings.Contains(err.Error(), c.name+" ") || strings.Contains(err.Error(), "hun")) {
			t.Errorf("%v", err)
		}
	}
}

func TestWhatIsWrongWithAFileOfAuthoritiesIsTold(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk")
	if err := os.WriteFile(junk, []byte("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"", "", "SSL_CERT_FILE names the file of its certificate"},
		{junk, "", "SSL_CERT_FILE names " + junk + ", and that holds no certificate"},
		{dir, "", "SSL_CERT_FILE names " + dir + ", and that can't be read: is a directory"},
		{"", dir + ":" + dir + "/x", "SSL_CERT_DIR names " + dir + ", and that holds no file"},
		{"", dir + "/x", "SSL_CERT_DIR names " + dir + "/x, and that does not exist"},
	} {
		t.Setenv("SSL_CERT_FILE", c[0])
		t.Setenv("SSL_CERT_DIR", c[1])
		if got := authorities(); !strings.Contains(got, c[2]) {
			t.Errorf("%q, want %q", got, c[2])
		}
	}
}

// Go would wait for such a file, or read it, without end.
func TestACertificateFileWithoutEndIsNotBegun(t *testing.T) {
	dir := t.TempDir()
	pipe, big := filepath.Join(dir, "pipe"), filepath.Join(t.TempDir(), "big")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no FIFO can be made here:", err)
	}
	if err := os.WriteFile(big, nil, 0o600); err != nil || os.Truncate(big, maxAuthorities+1) != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"", "", ""},
		{"/dev/null", "", ""},
		{dir, "/none", ""},
		{pipe, "", "SSL_CERT_FILE names " + pipe + ", and that is not a regular file"},
		{"/dev/zero", "", "is not a regular file"},
		{big, "", "is larger than 16 MiB"},
		{"", "/none:" + dir, "SSL_CERT_DIR names " + dir + ", and there pipe is not a regular file"},
	} {
		t.Setenv("SSL_CERT_FILE", c[0])
		t.Setenv("SSL_CERT_DIR", c[1])
		said := ""
		if _, err := EnvironmentProxy(&http.Request{URL: &url.URL{Scheme: "https", Host: "h"}}); err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, c[2]) || (c[2] == "") != (said == "") {
			t.Errorf("%q: %q, want %q", c[:2], said, c[2])
		}
		if err := CheckWay(&url.URL{Scheme: "http", Host: "h"}); err != nil {
			t.Error(err)
		}
	}
}
