package tool

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// secretName reports whether the name of a variable says that it holds a
// secret; sure is false if it may well hold the secret's kind or place instead.
// A name is taken word by word, so that KEYBOARD, TOKENIZERS and AUTHOR are none.
func secretName(name string) (looks, sure bool) {
	words := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) })
	for i, word := range words {
		words[i] = strings.TrimRight(word, "0123456789")
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) == 0 || slices.Equal(words, []string{"PWD"}) {
		return false, false
	}
	last := words[len(words)-1]
	if last == "ID" && len(words) > 1 && words[len(words)-2] == "SECRET" {
		return true, true
	}
	if slices.Contains(harmlessWords(), last) {
		return false, false
	}
	if isSecretWord(last) {
		return true, true
	}
	return slices.ContainsFunc(words, func(w string) bool { return isSecretWord(w) || isHintWord(w) }), false
}

// harmlessWords, at the end of a name, say that the value tells about a secret.
func harmlessWords() []string {
	return []string{
		"SOCK", "SOCKET", "FILE", "FILENAME", "PATH", "DIR", "DIRECTORY", "HOME", "HOST", "HOSTNAME", "PORT", "URL", "URI",
		"ENDPOINT", "ADDRESS", "NAME", "USER", "USERNAME", "EMAIL", "ID", "TYPE", "METHOD", "MODE", "TTL", "EXPIRY", "EXPIRES",
		"EXPIRATION", "AGE", "TIMEOUT", "ENABLED", "DISABLED", "ALGORITHM", "ALG", "SIZE", "LENGTH", "COUNT", "LIMIT", "LIMITS",
		"VERSION", "REGION", "ISSUER", "AUDIENCE", "SCOPE", "SCOPES", "PREFIX", "FORMAT", "MANAGER", "PROVIDER", "BACKEND",
		"DRIVER", "CLASS", "HASHER", "ASKPASS", "FINGERPRINT", "DESKTOP", "LAYOUT",
	}
}

func isSecretWord(word string) bool {
	switch word {
	case "PASS", "PWD", "PAT", "SSHPASS":
		return true
	}
	return slices.ContainsFunc([]string{
		"KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE",
		"PASSCODE", "CREDENTIAL", "CREDENTIALS", "CREDS", "JWT",
	}, func(end string) bool { return strings.HasSuffix(word, end) })
}

func isHintWord(word string) bool {
	return slices.Contains([]string{"AUTH", "OAUTH", "AUTHORIZATION", "PRIVATE", "SESSION", "COOKIE", "COOKIES"}, word)
}

// LooksSecret reports whether a value can be a secret, if it is meant to be one.
func LooksSecret(value string) bool { return secretValue(value, true) }

// secretValue reports whether a value can be a secret. What is a word, a
// number, a path or an address is none, whatever its name: to mask it would
// destroy ordinary text. If the name is not sure it must look random.
func secretValue(value string, sure bool) bool {
	value = strings.TrimSpace(value)
	small := strings.ToLower(value)
	switch {
	case utf8.RuneCountInString(value) < minSecret || variety(value) < 4:
		return false
	case strings.Contains(value, "://") || isReference(value):
		return false
	case slices.ContainsFunc([]string{"your-", "your_", "your ", "changeme", "change-", "change_", "example", "placeholder", "dummy"},
		func(s string) bool { return strings.HasPrefix(small, s) }):
		return false
	case isPathLike(value):
		return 3*turns(value) >= len(value)
	case !sure:
		return len(value) >= 16 && turns(value) >= 4
	case span(value, func(c byte) bool { return isDigit(c) || strings.IndexByte(".:,-+/ TZ", c) >= 0 }) == len(value):
		return len(value) >= 16
	case span(value, func(c byte) bool { return isLower(c) || isUpper(c) || strings.IndexByte("-_./:, ", c) >= 0 }) == len(value):
		return len(value) >= 20 || turns(value) >= 2 || strings.Count(value, " ") >= 2
	}
	return true
}

// isReference reports whether something else was meant to be put in place of s.
func isReference(s string) bool {
	name, ok := strings.CutPrefix(s, "$")
	return ok && span(name, func(c byte) bool { return isUpper(c) || c == '_' }) == len(name) ||
		strings.HasPrefix(s, "${") && strings.HasSuffix(s, "}") || strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") ||
		strings.HasPrefix(s, "{{") && strings.HasSuffix(s, "}}")
}

// variety counts different characters, up to four.
func variety(s string) int {
	var seen []rune
	for _, r := range s {
		if !slices.Contains(seen, r) {
			if seen = append(seen, r); len(seen) == 4 {
				break
			}
		}
	}
	return len(seen)
}

func isPathLike(s string) bool {
	return slices.ContainsFunc([]string{"/", "./", "../", "~", `\\`, "unix:"}, func(p string) bool { return strings.HasPrefix(s, p) }) ||
		len(s) > 3 && isAlnum(s[0]) && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}
