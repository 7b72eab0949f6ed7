package sse

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"kagent/pkg/secret"
)

// Options describes a model and the way to it, for every protocol. Only Model
// must be given.
type Options struct {
	Name        string            // used in errors and as the first half of message.Message's Model; default that of the protocol
	Model       string            // as the service calls it
	BaseURL     string            // default that of the protocol; a query is kept
	APIKey      string            // empty: none
	Header      map[string]string // further headers; they win
	IdleTimeout time.Duration     // longest silence in an answer, before its first byte too; default 2m
	HTTPClient  *http.Client      // default DefaultHTTP(); its redirect policy is not used
}

// Or returns the options with a protocol's name and address where none is given.
func (o Options) Or(name, base string) Options {
	if o.Name == "" {
		o.Name = name
	}
	if o.BaseURL == "" {
		o.BaseURL = base
	}
	return o
}

// Service is how a protocol uses its options.
type Service struct {
	Options
	Path      string // appended to BaseURL, unless that ends in it
	KeyHeader string // that carries the key; default Authorization, where it is a bearer token
	Accept    string // default text/event-stream
}

// Open checks s; nothing is sent yet. Its errors show no credentials.
func (s Service) Open() (*Client, error) {
	if s.Model == "" {
		return nil, errors.New(s.Name + ": no model given")
	}
	address, secrets, err := s.address()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	header := http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"text/event-stream"},
		"User-Agent":   {"kagent"},
	}
	if s.Accept != "" {
		header.Set("Accept", s.Accept)
	}
	key := strings.TrimSpace(s.APIKey)
	secrets = append(secrets, key)
	switch {
	case key == "":
	case s.KeyHeader != "":
		header.Set(s.KeyHeader, key)
	default:
		header.Set("Authorization", "Bearer "+key)
	}
	for name, value := range s.Header {
		header.Set(name, value)
		secrets = append(secrets, secret.InHeader(value)...)
	}
	for _, name := range secret.ProxyVariables() { // a proxy is told the password, and may say it
		secrets = append(secrets, secret.InProxy(os.Getenv(name))...)
	}
	for name, values := range header {
		if strings.ContainsFunc(values[0], func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, fmt.Errorf("%s: the value of header %s holds a control character", s.Name, name)
		}
	}
	if s.HTTPClient == nil {
		s.HTTPClient = DefaultHTTP()
	}
	return &Client{
		Address: address, Header: header, HTTP: s.HTTPClient, Idle: s.IdleTimeout,
		Provider: s.Name, Model: s.Model, Secrets: secrets,
	}, nil
}

// address returns where to post to and the secrets in it, if any.
func (s Service) address() (address string, secrets []string, err error) {
	u, err := url.Parse(strings.TrimSpace(s.BaseURL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", nil, errors.New("the base URL is not an http:// or https:// address")
	}
	if trimmed := strings.TrimRight(u.Path, "/"); !strings.HasSuffix(trimmed, s.Path) {
		u = u.JoinPath(s.Path)
	}
	u.Fragment = ""
	return u.String(), secret.InAddress(u), nil
}
