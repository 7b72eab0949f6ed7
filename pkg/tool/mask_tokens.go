package tool

import (
	"slices"
	"strings"
)

const (
	kindSendgrid    = "sendgrid-key"
	kindJWT         = "jwt"
	kindURLPassword = "url-password"
)

// How far each looks ahead, in bytes.
const (
	maxJWTHeader = 2 << 10
	maxJWTInner  = 1 << 8 // of one that begins within a word: there may be many
	maxUserinfo  = 320
)

// sendgridKey matches "SG." with 22 and 43 characters, joined by a dot.
func sendgridKey(before, rest string, final bool) sighting {
	const dot, all = 25, 25 + 1 + 43
	if !atBoundary(before) {
		return sighting{}
	}
	window := rest[:min(len(rest), all)]
	for i := len("SG."); i < len(window); i++ {
		if isURLBase64(window[i]) == (i == dot) || i == dot && window[i] != '.' {
			return sighting{}
		}
	}
	if len(window) < all {
		return sighting{more: !final}
	}
	return sighting{kind: kindSendgrid, to: all, tail: classTail(isURLBase64, false)}
}

// webToken matches two parts of base64 that are JSON objects, joined by a dot,
// and what is joined to them.
func webToken(before, rest string, final bool) sighting {
	if !atBoundary(before) {
		return sighting{}
	}
	const second, least = ".eyJ", 4
	limit := maxJWTHeader
	if strings.HasSuffix(before, "-") || strings.HasSuffix(before, "_") {
		limit = maxJWTInner
	}
	n := span(rest[:min(len(rest), limit)], isURLBase64)
	after := rest[n:min(len(rest), n+len(second)+least)]
	open := !final && n+len(after) == len(rest) && n < limit
	if len(after) < len(second) {
		return sighting{more: open && strings.HasPrefix(second, after)}
	}
	if after[:len(second)] != second || n < 16 {
		return sighting{}
	}
	if got := span(after[len(second):], isURLBase64); got < least {
		return sighting{more: open && len(second)+got == len(after)}
	}
	return sighting{kind: kindJWT, to: n + len(after), tail: classTail(isURLBase64, true)}
}

// urlPassword matches "://user:password@" and masks the password. One that is
// the user's name, or a well-known word, or stands for a variable, is no secret.
// In "://TOKEN:x-oauth-basic@" the user is the secret.
func urlPassword(_, rest string, final bool) sighting {
	const scheme = len("://")
	window := rest[scheme:min(len(rest), scheme+maxUserinfo)]
	colon, at, i := -1, -1, 0
	for ; i < len(window) && !endsUserinfo(window[i]); i++ {
		switch {
		case window[i] == ':' && colon < 0:
			colon = i
		case window[i] == '@':
			at = i
		}
		if at >= 0 && colon < 0 {
			return sighting{}
		}
	}
	if i == len(window) && i < maxUserinfo && !final {
		return sighting{more: true}
	}
	if colon < 0 || at < 0 {
		return sighting{}
	}
	from, to := colon+1, at
	if window[from:to] == "x-oauth-basic" {
		from, to = 0, colon
	}
	secret := window[from:to]
	if len(secret) < 4 || window[colon+1:at] == window[:colon] || isStandIn(secret) {
		return sighting{}
	}
	return sighting{kind: kindURLPassword, from: scheme + from, to: scheme + to}
}

func endsUserinfo(c byte) bool {
	return c <= ' ' || c >= 0x7f || strings.IndexByte("/?#\"'`<>\\", c) >= 0
}

// isStandIn reports whether a password is a name for one, or the one of every
// example.
func isStandIn(password string) bool {
	switch password[0] {
	case '$', '%', '{', '[', '(', '*':
		if span(password, func(c byte) bool { return isWordByte(c) || strings.IndexByte("${}%[]()*.:-", c) >= 0 }) == len(password) {
			return true
		}
	}
	return slices.Contains([]string{
		"pass", "password", "passwd", "secret", "token", "test", "testing", "admin", "root", "guest", "user",
		"postgres", "mysql", "example", "changeme", "xxxx", "xxxxx", "xxxxxx", "xxxxxxxx", "....", "your-password",
		"yourpassword", "your_password", "mypassword", "my-password", "redacted",
	}, strings.ToLower(password))
}
