package secret

import (
	"slices"
	"strings"
	"unicode"
)

// IsParameter reports whether a parameter of an address, or a header, holds a
// secret by its name.
func IsParameter(name string) bool { return slices.ContainsFunc(words(name), isSecretWord) }

// IsLogin reports whether a header lets somebody in by its name.
func IsLogin(name string) bool { return slices.ContainsFunc(words(name), isLoginWord) }

func isSecretWord(word string) bool {
	switch word {
	case "sig", "sigs", "sign", "pwd":
		return true
	case "monkey", "donkey", "turkey", "hockey", "jockey", "whiskey", "hotkey", "hotkeys":
		return false
	}
	ends := func(end string) bool { return strings.HasSuffix(word, end) }
	return ends("key") || ends("keys") || strings.Contains(word, "apikey") ||
		ends("token") || ends("secret") || ends("secrets") || ends("signature") ||
		strings.Contains(word, "password") || strings.Contains(word, "passwd") || strings.Contains(word, "passphrase")
}

func isLoginWord(word string) bool {
	author := strings.HasPrefix(word, "author") && !strings.HasPrefix(word, "authori") || strings.HasPrefix(word, "authorit")
	return strings.HasPrefix(word, "auth") && !author || strings.HasSuffix(word, "auth") || strings.Contains(word, "cookie")
}

// words splits a name as people write them, X-Api-Key or xApiKey, and makes its
// words lower case. Numbers after a word don't count.
func words(name string) []string {
	var all []string
	begin := func(word string) {
		if word = strings.TrimRight(strings.ToLower(word), "0123456789"); word != "" {
			all = append(all, word)
		}
	}
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		at, last := 0, rune(0)
		for i, r := range part {
			if unicode.IsUpper(r) && unicode.IsLower(last) {
				begin(part[at:i])
				at = i
			}
			last = r
		}
		begin(part[at:])
	}
	return all
}
