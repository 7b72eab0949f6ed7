package sse

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"kagent/pkg/provider"
)

// EnvironmentProxy is http.ProxyFromEnvironment, but for what CheckWay tells of: a
// proxy that is none would be passed by in silence, and the request sent straight.
func EnvironmentProxy(req *http.Request) (*url.URL, error) {
	if err := CheckWay(req.URL); err != nil {
		return nil, err
	}
	return http.ProxyFromEnvironment(req)
}

// CheckWay tells of a variable that bars the way to an address.
func CheckWay(to *url.URL) error {
	if to.Scheme == "https" {
		if err := CheckAuthorities(); err != nil {
			return err
		}
	}
	return CheckProxy(to)
}

// CheckProxy tells of a variable that is to name the proxy to an address and
// does not. Its value is not repeated: it may hold a password.
func CheckProxy(to *url.URL) error {
	name, value := anyOf(strings.ToUpper(to.Scheme)+"_PROXY", to.Scheme+"_proxy")
	if value == "" || isProxy(value) {
		return nil
	}
	_, past := anyOf("NO_PROXY", "no_proxy")
	used, err := (&httpproxy.Config{HTTPProxy: "proxy:1", HTTPSProxy: "proxy:1", NoProxy: past}).ProxyFunc()(to)
	if err == nil && used == nil {
		return nil
	}
	return fmt.Errorf("%s holds no address of a proxy; want for example http://HOST:PORT or socks5://HOST:PORT", name)
}

// anyOf returns the first of the variables that is set.
func anyOf(names ...string) (name, value string) {
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			return name, value
		}
	}
	return "", ""
}

// isProxy reports whether net/http takes a value for a proxy and can use it.
func isProxy(value string) bool {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" || strings.ContainsAny(u.Host, " \t") {
		return false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	return slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)
}

// proxyError is how a proxy refuses to connect to a service.
type proxyError struct {
	host   string // of the proxy
	status int
}

func (e *proxyError) Error() string {
	return fmt.Sprintf("the proxy %s refuses: %d %s", e.host, e.status, http.StatusText(e.status))
}

// connected looks at a proxy's answer to CONNECT: net/http would keep only the
// words of its status.
func connected(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{proxy.Host, resp.StatusCode}
}

// proxyRefused is the error of a request that a proxy did not let through.
func (c *Client) proxyRefused(host string, e *proxyError) error {
	name := "the proxy on the way to " + host
	if e.host != "" {
		name = "the proxy " + e.host + " on the way to " + host
	}
	switch {
	case e.status == http.StatusProxyAuthRequired:
		return c.Fail(provider.Auth, e.status, "%s wants a name and a password", name)
	case e.status >= 500:
		return c.Fail(provider.Network, 0, "%s can't reach it (HTTP %d)", name, e.status)
	}
	return c.Fail(provider.InvalidRequest, 0, "%s refuses to connect to it (HTTP %d); NO_PROXY goes past it", name, e.status)
}
