package sse

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"kagent/pkg/provider"
)

// transport classifies an error of net/http, and words it for people: what they
// can do something about has words of its own, anything else is the innermost
// text that says enough. url.Error would repeat the whole address.
func (c *Client) transport(host string, err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var refused *proxyError
	if errors.As(err, &refused) {
		return c.proxyRefused(host, refused)
	}
	if strings.Contains(err.Error(), "Proxy Authentication Required") { // of a client that is not ours
		return c.proxyRefused(host, &proxyError{status: http.StatusProxyAuthRequired})
	}
	host = by(host, err)
	if failed := c.unsafe(host, err); failed != nil {
		return failed
	}
	return c.unreached(host, err)
}

// unsafe is the error of a connection that was made and can't be trusted, or is
// spoken another protocol over: waiting won't help. nil if it is another one.
func (c *Client) unsafe(host string, err error) error {
	text := err.Error()
	var alert tls.AlertError
	switch {
	case untrusted(err):
		return c.Fail(provider.InvalidRequest, 0, "the certificate of %s is not trusted: %s; %s", host, certificateFault(err), authorities())
	case errors.As(err, new(tls.RecordHeaderError)), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return c.Fail(provider.InvalidRequest, 0, "%s does not speak TLS; is the address http://?", host)
	case strings.Contains(text, `malformed HTTP`) && strings.Contains(text, `\x15\x03`): // a TLS alert
		return c.Fail(provider.InvalidRequest, 0, "%s speaks TLS; is the address https://?", host)
	case strings.Contains(text, "malformed HTTP"):
		return c.Fail(provider.InvalidRequest, 0, "%s does not speak HTTP; is the address right?", host)
	case strings.Contains(text, "failed to parse Location header"):
		return c.Fail(provider.InvalidRequest, 0, "%s answers with a redirection that is not valid; is the address right?", host)
	case errors.As(err, &alert), strings.Contains(text, alertText), strings.HasPrefix(text, "tls: "):
		return c.Fail(provider.InvalidRequest, 0, "no secure connection to %s could be agreed on: %s", host, afterLast(text, "tls: "))
	}
	return nil
}

// unreached is the error of a connection that was not made, or broke.
func (c *Client) unreached(host string, err error) error {
	var dns *net.DNSError
	var netErr net.Error
	text := err.Error()
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return c.Fail(provider.Network, 0, "%s can't be reached: there is no host of the name %s", host, dns.Name)
	case errors.As(err, &dns) && dns.IsTimeout:
		return c.Fail(provider.Timeout, 0, "%s can't be reached: the name service (DNS) does not answer", host)
	case errors.As(err, &dns):
		return c.Fail(provider.Network, 0, "%s can't be reached: the name service (DNS) failed: %s", host, withoutPorts(dns.Err))
	case errors.Is(err, syscall.ECONNREFUSED):
		return c.Fail(provider.Network, 0, "%s can't be reached: it refuses connections", host)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return c.Fail(provider.Network, 0, "%s can't be reached: there is no route to it", host)
	case strings.Contains(text, "TLS handshake timeout"):
		return c.Fail(provider.Timeout, 0, "%s does not answer while a secure connection is made", host)
	case errors.As(err, &netErr) && netErr.Timeout():
		return c.Fail(provider.Timeout, 0, "%s can't be reached: it does not answer", host)
	case cut(err):
		return c.Fail(provider.Network, 0, "%s cut the connection", host)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return c.Fail(provider.Network, 0, "%s closed the connection before its answer was complete", host)
	}
	return c.Fail(provider.Network, 0, "%s: %s", host, strings.TrimPrefix(withoutPorts(text), "net/http: "))
}

// ends matches the two ends of a connection in an error of package net: they are
// other ports each time, and nobody can look for them.
var ends = pattern(`\b(dial|read|write) (tcp|udp|unix)[46]? \S+: `)

func withoutPorts(text string) string { return ends().ReplaceAllString(text, "") }

// by names the proxy if it is that, and not the service, which an error tells of.
func by(host string, err error) string {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "proxyconnect" && op.Op != "socks connect" {
		return host
	}
	return "the proxy on the way to " + host
}

// untrusted reports whether a certificate was refused.
func untrusted(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) ||
		errors.As(err, new(x509.UnknownAuthorityError)) ||
		errors.As(err, new(x509.HostnameError)) ||
		errors.As(err, new(x509.CertificateInvalidError))
}

// certificateFault words what is wrong with a certificate.
func certificateFault(err error) string {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "no authority that is known here has signed it"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired, is not valid yet, or the clock here is wrong"
	}
	return strings.TrimPrefix(afterLast(err.Error(), "certificate: "), "x509: ")
}

// afterLast is what follows the last mark in a text, else all of it.
func afterLast(text, mark string) string {
	if at := strings.LastIndex(text, mark); at >= 0 {
		return text[at+len(mark):]
	}
	return text
}
