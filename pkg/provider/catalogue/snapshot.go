package catalogue

import (
	"bytes"
	"slices"
	"strings"
)

// snapshot finds the one dated model that a name without a date stands for:
// services let claude-sonnet-4-5 be asked for where the catalogue has
// claude-sonnet-4-5-20250929. Of several nobody knows which it is.
func (c *Catalogue) snapshot(name string) (string, bool) {
	var found []string
	for said := range c.user {
		if isSnapshot(said, name) {
			found = append(found, said)
		}
	}
	_, rest, more := bytes.Cut(modelData, []byte("\n[\""+name+"-"))
	for ; more; _, rest, more = bytes.Cut(rest, []byte("\n[\""+name+"-")) {
		date, _, _ := bytes.Cut(rest, []byte("\""))
		if dated := name + "-" + string(date); isDate(string(date)) && !slices.Contains(found, dated) {
			found = append(found, dated)
		}
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// isSnapshot reports whether a name is another one with a date behind it.
func isSnapshot(name, undated string) bool {
	date, ok := strings.CutPrefix(name, undated+"-")
	return ok && isDate(date)
}

// isDate reports whether a text is a date as names of models have it: 20250929
// or 2025-09-29.
func isDate(text string) bool {
	digits := strings.ReplaceAll(text, "-", "")
	if len(digits) != 8 || strings.Trim(digits, "0123456789") != "" || digits < "2020" || digits >= "21" {
		return false
	}
	return text == digits || text == digits[:4]+"-"+digits[4:6]+"-"+digits[6:]
}
