package tool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"kagent/pkg/secret"
)

// minSecret is the least length of a value, in characters, and of a form.
const minSecret = 8

// minLine is the least length of one line of a value that is looked for alone.
const minLine = 24

// maxEncoded is the length of a value, in bytes, up to which its encodings are
// learned too.
const maxEncoded = 8 << 10

// secretForms returns the spellings under which a value is looked for, none if
// it is too short or no text.
func secretForms(value string) []string {
	value = strings.TrimSpace(value)
	if utf8.RuneCountInString(value) < minSecret || !utf8.ValidString(value) || strings.ContainsRune(value, utf8.RuneError) {
		return nil
	}
	forms := []string{value, jsonForm(value, false), jsonForm(value, true)}
	for line := range strings.Lines(value) { // of a key that is shown in part
		if line = strings.TrimSpace(line); len(line) >= minLine && line != value {
			forms = append(forms, line)
		}
	}
	if len(value) <= maxEncoded {
		for _, form := range []string{url.QueryEscape(value), url.PathEscape(value)} {
			forms = append(forms, form, smallPercents(form))
		}
		forms = append(forms, escapedForms(value)...)
		forms = append(forms, secret.Base64Forms(value, base64.StdEncoding)...)
		forms = append(forms, secret.Base64Forms(value, base64.URLEncoding)...)
	}
	for i, form := range forms {
		forms[i] = beforeMask(form)
	}
	slices.Sort(forms)
	return slices.DeleteFunc(slices.Compact(forms), func(form string) bool { return len(form) < minSecret })
}

// escapedForms returns what value is where more is escaped than must be: pages
// have "+" as a number, PHP escapes "/", .NET "+", and some escape every character.
func escapedForms(value string) []string {
	page, quoted, every := html.EscapeString(value), jsonForm(value, true), ""
	for _, c := range utf16.Encode([]rune(value)) {
		every += fmt.Sprintf(`\u%04x`, c)
	}
	return []string{
		page, strings.ReplaceAll(page, "+", "&#43;"),
		strings.ReplaceAll(quoted, "+", `\u002B`), strings.ReplaceAll(quoted, "+", `\u002b`),
		strings.ReplaceAll(jsonForm(value, false), "/", `\/`), every, strings.ReplaceAll(strings.ToUpper(every), `\U`, `\u`),
	}
}

// smallPercents writes the digits of percent-encoded bytes small.
func smallPercents(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:i+3], bytes.ToLower(b[i:i+3]))
			i += 2
		}
	}
	return string(b)
}

// jsonForm returns value as it is inside a JSON string.
func jsonForm(value string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	_ = e.Encode(value) // can't fail
	return strings.Trim(strings.TrimSpace(b.String()), `"`)
}

// beforeMask returns the part of a form that can't reach into a mask.
func beforeMask(form string) string {
	if i := strings.Index(form, maskOpen); i >= 0 {
		form = form[:i]
	}
	for n := len(maskOpen) - 1; n > 0; n-- {
		form = strings.TrimSuffix(form, maskOpen[:n])
	}
	return form
}

// urlPasswords returns the passwords in addresses, as written and decoded.
func urlPasswords(value string) []string {
	var found []string
	for {
		i := strings.Index(value, "://")
		if i < 0 {
			return found
		}
		value = value[i:]
		if hit := urlPassword("", value, true); hit.kind != "" {
			password := value[hit.from:hit.to]
			decoded, err := url.PathUnescape(password)
			if err == nil && secret.Looks(decoded, true) {
				found = append(found, password, decoded)
			}
		}
		value = value[len("://"):]
	}
}
