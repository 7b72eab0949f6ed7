package secret

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// InAddress returns what of an address lets somebody in: the password, or the
// user's name where it stands alone, and those parameters that say so by name.
func InAddress(u *url.URL) []string {
	var found []string
	if u.User != nil {
		password, ok := u.User.Password()
		if !ok {
			password = u.User.Username()
		}
		found = append(found, password)
	}
	for name, values := range u.Query() {
		if IsParameter(name) {
			found = append(found, values...)
		}
	}
	return found
}

// ProxyVariables are those whose addresses a request may go through.
func ProxyVariables() []string {
	return []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"}
}

// InProxy returns what of a proxy's address, as a variable holds it, lets somebody
// in: the password, as it is and as it is written there, and what is sent of it.
func InProxy(value string) []string {
	value = strings.TrimSpace(value)
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return nil
	}
	password, ok := u.User.Password()
	if _, written, _ := strings.Cut(u.User.String(), ":"); ok && password != "" {
		sent := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
		return []string{password, written, strings.TrimRight(sent, "=")}
	}
	return InAddress(&url.URL{User: u.User})
}

// InHeader returns what of a header's value may be a secret: the whole, what
// follows the name of a scheme, and the password in that of Basic.
func InHeader(value string) []string {
	found := []string{value}
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok {
		return found
	}
	rest = strings.TrimSpace(rest)
	found = append(found, rest)
	if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
		if _, password, ok := strings.Cut(string(plain), ":"); ok {
			found = append(found, password)
		}
	}
	return found
}

// IsVariable reports whether a text can be the name of a variable. What can't may
// be the key itself, put in the wrong place.
func IsVariable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// IsBroken reports whether a key holds what no header may: a line break in it, or
// another control character. That at its ends does not count.
func IsBroken(key string) bool {
	return strings.ContainsFunc(strings.TrimSpace(key), func(r rune) bool { return r < ' ' || r == 0x7f })
}

// Around says what stands around a key that is no part of it: quotes that a shell
// would have taken away, or the word before it in a header. Services read over them
// and tell of the key alone, which would not be known again.
func Around(key string) string {
	key = strings.TrimSpace(key)
	if n := len(key); n > 1 && strings.IndexByte("\"'`", key[0]) >= 0 && key[n-1] == key[0] {
		return "quotes around the key"
	}
	scheme, rest, ok := strings.Cut(key, " ")
	if ok && rest != "" && slices.ContainsFunc([]string{"bearer", "basic", "token", "authorization:"}, func(s string) bool { return strings.EqualFold(s, scheme) }) {
		return "the name of a scheme before the key"
	}
	return ""
}
