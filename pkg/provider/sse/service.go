package sse

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Service says where a service is and what every request to it carries.
type Service struct {
	Name, Model string
	BaseURL     string // a query is kept
	Path        string // appended to BaseURL, unless that ends in it
	APIKey      string // empty: none
	KeyHeader   string // that carries the key; default Authorization, where it is a bearer token
	Header      map[string]string
	IdleTimeout time.Duration
	HTTPClient  *http.Client
}

// Open checks s and returns what Post needs. Its errors show no credentials.
func (s Service) Open() (c *Client, address string, header http.Header, err error) {
	if s.Model == "" {
		return nil, "", nil, errors.New(s.Name + ": no model given")
	}
	address, password, err := s.address()
	if err != nil {
		return nil, "", nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	header = http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"text/event-stream"},
		"User-Agent":   {"kagent"},
	}
	key := strings.TrimSpace(s.APIKey)
	secrets := []string{key, password}
	switch {
	case key == "":
	case s.KeyHeader != "":
		header.Set(s.KeyHeader, key)
	default:
		header.Set("Authorization", "Bearer "+key)
	}
	for name, value := range s.Header {
		header.Set(name, value)
		secrets = append(secrets, strings.TrimPrefix(value, "Bearer "))
	}
	for name, values := range header {
		if strings.ContainsFunc(values[0], func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, "", nil, fmt.Errorf("%s: the value of header %s holds a control character", s.Name, name)
		}
	}
	if s.HTTPClient == nil {
		s.HTTPClient = DefaultHTTP()
	}
	c = &Client{HTTP: s.HTTPClient, Idle: s.IdleTimeout, Provider: s.Name, Model: s.Model, Secrets: secrets}
	return c, address, header, nil
}

// address returns where to post to and the password in it, if any.
func (s Service) address() (address, password string, err error) {
	u, err := url.Parse(strings.TrimSpace(s.BaseURL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", "", errors.New("the base URL is not an http:// or https:// address")
	}
	if trimmed := strings.TrimRight(u.Path, "/"); !strings.HasSuffix(trimmed, s.Path) {
		u = u.JoinPath(s.Path)
	}
	u.Fragment = ""
	password, _ = u.User.Password()
	return u.String(), password, nil
}
