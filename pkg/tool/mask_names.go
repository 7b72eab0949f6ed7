package tool

import (
	"slices"
	"strings"
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
