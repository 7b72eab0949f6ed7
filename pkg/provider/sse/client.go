package sse

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"kagent/pkg/provider"
)

// Client asks one model of a service, and guards its answers against silence.
type Client struct {
	Address  string        // where Exchange posts to
	Header   http.Header   // of what Exchange posts
	HTTP     *http.Client  // for example DefaultHTTP()
	Idle     time.Duration // longest silence, the wait for the first byte included; 0: two minutes
	Provider string        // for errors, and the first half of ID
	Model    string        // as the service calls it
	Secrets  []string      // masked in every error text

	refusals refusals
}

// DefaultHTTP returns a client that honours HTTP_PROXY, HTTPS_PROXY, NO_PROXY
// and (by way of crypto/x509) SSL_CERT_FILE and SSL_CERT_DIR.
func DefaultHTTP() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:               EnvironmentProxy,
		DialContext:         dial,
		TLSHandshakeTimeout: 15 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // streams are asked for plain; Answer unpacks what comes packed all the same

		OnProxyConnectResponse: connected,
	}}
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: 30 * time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return listen(conn), nil
}

// Answer is what a server said, its head read and its body open.
type Answer struct {
	Status int
	Header http.Header
	Host   string
	Body   *bufio.Reader // unpacked; its errors are final: *provider.Error or ctx's cause
	close  func()
}

// Close ends the answer, read or not.
func (a *Answer) Close() { a.close() }

// FirstByte returns the first byte of the body that is no white space, without
// consuming it. Servers send blanks to keep a connection alive.
func (a *Answer) FirstByte() (byte, error) {
	if bom, _ := a.Body.Peek(1); len(bom) > 0 && bom[0] == 0xef {
		if bom, _ := a.Body.Peek(3); string(bom) == "\ufeff" {
			a.Body.Discard(3)
		}
	}
	for {
		c, err := a.Body.ReadByte()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, a.Body.UnreadByte()
		}
	}
}

// ID is what messages of this model carry as message.Message's Model.
func (c *Client) ID() string { return c.Provider + "/" + c.Model }

// Exchange sends the body that encode makes of req, and has read make a reply of
// the answer. An answer whose status is no success is an error. A choice of a tool
// or a schema that the service refuses is left out, in this request and later.
func (c *Client) Exchange(ctx context.Context, req provider.Request, encode func(provider.Request) ([]byte, error), read func(*Answer) (provider.Reply, error)) (provider.Reply, error) {
	without := func(left leftOut) ([]byte, error) { return encode(left.of(req)) }
	try := attempt{left: c.refusals.leftOut()}
	var err error
	if try.body, err = without(try.left); err != nil {
		return provider.Reply{}, c.Fail(provider.InvalidRequest, 0, "the request can't be encoded: %v", err)
	}
	for {
		a, err := c.accepted(ctx, try.body)
		if err == nil {
			defer a.Close()
			c.refusals.remember(try.left)
			return read(a)
		}
		next, ok := try.after(err, without)
		if !ok {
			return provider.Reply{}, err
		}
		try = next
	}
}

// accepted posts body and returns the answer, if its status is a success.
func (c *Client) accepted(ctx context.Context, body []byte) (*Answer, error) {
	a, err := c.Post(ctx, c.Address, c.Header, body)
	if err != nil || a.Status >= 200 && a.Status <= 299 {
		return a, err
	}
	defer a.Close()
	return nil, c.Refused(ctx, a)
}

// Whole reports whether a successful answer is one JSON value although a stream
// was asked for. io.EOF says that there is none; a login page is an error.
func (c *Client) Whole(a *Answer) (bool, error) {
	first, err := a.FirstByte()
	if err == nil && first == '<' {
		return false, c.LoginPage(a)
	}
	return first == '{' || first == '[', err
}

// Post sends body to address. The answer may have any status but a
// redirection: those are refused, because following one would hand the key and
// the conversation to somebody else.
func (c *Client) Post(ctx context.Context, address string, header http.Header, body []byte) (*Answer, error) {
	w := c.watch(ctx)
	var over way
	req, err := http.NewRequestWithContext(over.tapped(w.ctx), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		w.stop()
		return nil, c.Fail(provider.InvalidRequest, 0, "the address of the service is not valid")
	}
	req.Header = header.Clone()
	w.arm()
	resp, err := c.http().Do(req)
	w.disarm()
	if err != nil {
		defer w.stop()
		return nil, w.failure(req.URL.Host, over.why(err))
	}
	a := &Answer{Status: resp.StatusCode, Header: resp.Header, Host: req.URL.Host}
	a.close = func() { w.stop(); resp.Body.Close() }
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		a.Close()
		return nil, c.redirected(a.Host, resp)
	}
	switch coding := resp.Header.Get("Content-Encoding"); coding {
	case "", "identity", "gzip", "x-gzip":
	default:
		a.Close()
		return nil, c.Fail(provider.Server, 0, "%s sent the content coding %q, which was not asked for", a.Host, coding)
	}
	a.Body, err = unpack(&watched{w, a.Host, resp.Body})
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// http returns the client with redirections off.
func (c *Client) http() *http.Client {
	h := *c.HTTP
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &h
}

// redirected is the error of an answer with status 3xx. It names where a
// redirection leads, without credentials and query.
func (c *Client) redirected(host string, resp *http.Response) error {
	u, err := resp.Location()
	if err != nil || u.Host == "" {
		return c.Fail(provider.InvalidRequest, resp.StatusCode, "%s answered %q and no more",
			host, strings.TrimSpace(strconv.Itoa(resp.StatusCode)+" "+http.StatusText(resp.StatusCode)))
	}
	at := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	return c.Fail(provider.InvalidRequest, resp.StatusCode, "%s redirects to %s, which is not followed: it would be told the key", host, at)
}

// Fail returns an error of this client's provider: one line, secrets masked.
// status is the HTTP status, 0 for none.
func (c *Client) Fail(kind provider.Kind, status int, format string, args ...any) *provider.Error {
	return &provider.Error{
		Kind: kind, Status: status, Provider: c.Provider, Model: c.Model,
		Message: c.line(fmt.Sprintf(format, args...)),
	}
}

// ReadAll returns the rest of the body; max is its largest size in bytes, more
// is an error.
func (c *Client) ReadAll(a *Answer, max int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(a.Body, max+1))
	if err == nil && int64(len(b)) > max {
		err = c.Fail(provider.TooLarge, a.Status, "the answer of %s is longer than %d MiB", a.Host, max>>20)
	}
	return b, err
}

// ReadSome returns at most the first max bytes of the body, together with the
// error that ended it early.
func ReadSome(a *Answer, max int64) ([]byte, error) {
	return io.ReadAll(io.LimitReader(a.Body, max))
}
