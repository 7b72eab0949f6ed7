package tool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// checkWebURL says why an address is not fetched.
func checkWebURL(u *url.URL) error {
	switch {
	case !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https"):
		return errors.New("want an address that begins with http:// or https://")
	case u.Hostname() == "":
		return errors.New("it names no host")
	case u.User != nil:
		return errors.New("it must not hold a user or password")
	}
	return nil
}

// privateError is why an address was not connected to.
type privateError struct{ host string }

func (e *privateError) Error() string {
	return e.host + " is an address of this machine or of a private network, which is not fetched"
}

// webWay is how pages come: straight from addresses that are looked at when they
// are connected to, so that no name and no redirect leads into a private network,
// or through the proxy that the environment names.
type webWay struct {
	proxy            func(*http.Request) (*url.URL, error)
	private          bool
	straight, behind *http.Transport
}

func newWebWay(o WebFetchOptions) *webWay {
	w := &webWay{proxy: o.Proxy, private: o.Private}
	w.straight, w.behind = webTransport(nil, w.control), webTransport(o.Proxy, nil)
	return w
}

func webTransport(proxy func(*http.Request) (*url.URL, error), control func(network, address string, c syscall.RawConn) error) *http.Transport {
	d := net.Dialer{Timeout: 15 * time.Second, Control: control}
	return &http.Transport{
		Proxy: proxy, DialContext: d.DialContext, ForceAttemptHTTP2: true,
		DisableKeepAlives: true, MaxResponseHeaderBytes: 256 << 10,
	}
}

func (w *webWay) close() {
	w.straight.CloseIdleConnections()
	w.behind.CloseIdleConnections()
}

func (w *webWay) RoundTrip(req *http.Request) (*http.Response, error) {
	proxy, err := w.proxy(req)
	switch {
	case err != nil:
		return nil, errors.New("the proxy that the environment names is no address")
	case proxy == nil:
		return w.straight.RoundTrip(req)
	}
	if err := w.checkHost(req.Context(), req.URL.Hostname()); err != nil {
		return nil, err
	}
	return w.behind.RoundTrip(req)
}

// control sees the address itself, after all names were looked up.
func (w *webWay) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !w.private && isPrivate(at.Addr()) {
		return &privateError{address}
	}
	return nil
}

// checkHost looks at where a proxy is sent, as far as that is known here.
func (w *webWay) checkHost(ctx context.Context, host string) error {
	if w.private {
		return nil
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if isPrivate(addr) {
			return &privateError{host}
		}
		return nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return ctx.Err() // the proxy may know it
	}
	for _, addr := range found {
		if isPrivate(addr) {
			return &privateError{host}
		}
	}
	return nil
}

// isPrivate reports whether an address is not one of the public internet: among
// them those at which clouds tell their machines of keys.
func isPrivate(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return true
	}
	for _, text := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"240.0.0.0/4", "168.63.129.16/32", "100::/64", "2001:db8::/32", "fec0::/10", "::/96",
	} {
		if netip.MustParsePrefix(text).Contains(a) {
			return true
		}
	}
	if in, ok := embedded(a); ok {
		return isPrivate(in)
	}
	return false
}

// embedded is the IPv4 address that an address of a translation leads to.
func embedded(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	for text, at := range map[string]int{"64:ff9b::/96": 12, "64:ff9b:1::/48": 12, "2002::/16": 2} {
		if a.Is6() && netip.MustParsePrefix(text).Contains(a) {
			return netip.AddrFrom4([4]byte(b[at : at+4])), true
		}
	}
	return a, false
}

// webReason words why no page came, without the address that the caller knows.
func webReason(err error) string {
	var private *privateError
	var dns *net.DNSError
	var at *url.Error
	switch {
	case errors.As(err, &private):
		return private.Error()
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("there is no host %s", dns.Name)
	case errors.As(err, &at):
		return "the page could not be had: " + at.Err.Error()
	}
	return "the page could not be had: " + err.Error()
}
