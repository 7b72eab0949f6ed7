package session

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNodeID is the length of a node's id in characters.
const maxNodeID = 64

// LegalNodeID reports whether an id can name a node of a task graph, and so a
// child: 1 to 64 letters and digits of any script, dots, - and _.
func LegalNodeID(id string) bool {
	return id != "" && utf8.ValidString(id) && utf8.RuneCountInString(id) <= maxNodeID && strings.IndexFunc(id, illegalInID) < 0
}

func illegalInID(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_.-", r)
}

// NodeIDOf makes an id legal but for its length: what does not belong there
// becomes a dash.
func NodeIDOf(id string) string {
	return strings.Trim(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(id, "\uFFFD"), illegalInID), "-"), "-.")
}
