package sse

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"kagent/pkg/provider"
)

// transport classifies an error of net/http. Its text is the innermost one
// that says enough: url.Error would repeat the whole address.
func (c *Client) transport(host string, err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var netErr net.Error
	switch {
	case untrusted(err):
		return c.Fail(provider.InvalidRequest, 0, "the certificate of %s is not trusted: %v (SSL_CERT_FILE names a file of further authorities)", host, err)
	case errors.As(err, new(tls.RecordHeaderError)) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return c.Fail(provider.InvalidRequest, 0, "%s does not speak TLS; is the address http://?", host)
	case strings.Contains(err.Error(), "Proxy Authentication Required"): // from CONNECT
		return c.Fail(provider.Auth, http.StatusProxyAuthRequired, "the proxy on the way to %s wants a name and a password", host)
	case errors.As(err, &netErr) && netErr.Timeout():
		return c.Fail(provider.Timeout, 0, "%s: %v", host, err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return c.Fail(provider.Network, 0, "%s closed the connection before its answer was complete", host)
	}
	return c.Fail(provider.Network, 0, "%s: %v", host, err)
}

// untrusted reports whether a certificate was refused: waiting won't help.
func untrusted(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) ||
		errors.As(err, new(x509.UnknownAuthorityError)) ||
		errors.As(err, new(x509.HostnameError)) ||
		errors.As(err, new(x509.CertificateInvalidError))
}

// maxLine is the length, in runes, to which error texts are cut.
const maxLine = 500

// userinfo matches credentials in an address, greedily: rather too much of an
// error text is lost than one character of a password shown.
var userinfo = regexp.MustCompile(`://[^\s"]*@`)

// line makes s fit for an error: secrets masked, one line, no control
// characters, bounded.
func (c *Client) line(s string) string {
	for _, secret := range c.Secrets {
		if len(secret) < 4 {
			continue // would mask half the alphabet
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			s = strings.ReplaceAll(s, form, "***")
		}
	}
	s = userinfo.ReplaceAllString(s, "://***@")
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(s); len(r) > maxLine {
		s = string(r[:maxLine]) + "…"
	}
	return s
}

var (
	invisible = regexp.MustCompile(`(?is)<(script|style|head)\b.*?(</(script|style|head)>|$)`)
	title     = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	tag       = regexp.MustCompile(`(?s)<[^>]*>`)
)

// IsPage reports whether a body is a web page instead of an answer.
func IsPage(body []byte) bool {
	s := strings.TrimLeft(strings.TrimPrefix(string(body[:min(len(body), 512)]), "\ufeff"), " \t\r\n")
	return strings.HasPrefix(s, "<")
}

// PageNote sums up a web page in a few words: its title, or the beginning of
// its text.
func PageNote(body []byte) string {
	s := string(body[:min(len(body), 8<<10)])
	if m := title.FindStringSubmatch(s); m != nil && strings.TrimSpace(m[1]) != "" {
		s = m[1]
	} else {
		s = tag.ReplaceAllString(invisible.ReplaceAllString(s, " "), " ")
	}
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return "an HTML page (" + s + ")"
}
