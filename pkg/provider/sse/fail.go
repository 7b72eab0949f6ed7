package sse

import (
	"regexp"
	"strings"
	"unicode"

	"kagent/pkg/secret"
)

// maxLine is the length, in runes, to which error texts are cut.
const maxLine = 500

// userinfo matches credentials in an address, greedily: rather too much of an
// error text is lost than one character of a password shown.
var userinfo = regexp.MustCompile(`://[^\s"]*@`)

// minSecret is the least length of what is masked: less would mask half the alphabet.
const minSecret = 4

// hide masks secrets. What is cut comes after it: half a key is still told. One
// that may be a word of any text is masked where it stands alone: else the key
// "test" would leave nothing of "the latest".
func (c *Client) hide(s string) string {
	var keys secret.Keys
	for _, key := range c.Secrets {
		switch {
		case secret.LooksKey(key):
			keys.Add("", key)
		case len(key) >= minSecret:
			keys.AddWord("", key)
		}
	}
	return keys.Hide(s, func(string) string { return "***" })
}

// line makes s fit for an error: secrets masked, one line, no control
// characters, bounded.
func (c *Client) line(s string) string {
	s = c.hide(s)
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
	kind := "an HTML page"
	if strings.Contains(string(body[:min(len(body), 64)]), "<?xml") {
		kind = "an XML document"
	}
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
	return kind + " (" + s + ")"
}
