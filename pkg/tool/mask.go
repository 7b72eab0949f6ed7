package tool

import (
	"slices"
	"strings"

	"kagent/pkg/secret"
)

// A Masker replaces secrets in a text by masks, "[masked NAME]": the values of
// variables, each under the variable's name, and what has the shape of a
// well-known kind of key, under the kind's. It is for text that enters: the
// results of tools, the words of a user. What a vendor wants back unchanged
// must not go through it.
//
// A secret is found in one pass from left to right. Everything that belongs to
// some value, or to the leftmost of overlapping shapes, is masked; what
// overlaps becomes one mask. A mask that is already there is passed over, so
// that masking twice changes nothing.
//
// Values are found as they are, as JSON and HTML escape them, percent-encoded and
// within base64. Not found are values that something has split (wrapped lines, a
// colour in the middle) or encoded otherwise, and the rest of a private key
// whose first line is missing.
//
// The nil Masker and the zero one mask nothing. A Masker doesn't change once
// it is made: any number of goroutines may use it.
type Masker struct {
	near   [1 << 9]uint64         // one bit for each hash of a beginning
	starts map[uint32]*beginnings // by the first three bytes
	names  map[string]bool        // in masks
	keys   secret.Keys            // that services are sent
}

// NewMasker learns the values of the variables called keyNames, unless they are
// plainly no secret (secret.LooksKey), of those in environ ("NAME=value") whose name and value look like a
// secret's, and the passwords in addresses of any variable. Values of fewer
// than eight characters are not learned: they would be found everywhere. With
// neither, shapes are all that is masked.
func NewMasker(environ []string, keyNames ...string) *Masker {
	m := &Masker{starts: map[uint32]*beginnings{}, names: map[string]bool{}}
	for _, s := range tokenShapes() {
		for _, start := range s.starts() {
			m.addShape(start, s.kind, s.match)
		}
	}
	m.addShape("SG.", kindSendgrid, sendgridKey)
	m.addShape("eyJ", kindJWT, webToken)
	m.addShape(keyBegin[:3], kindPrivateKey, privateKey)
	m.addShape("://", kindURLPassword, urlPassword)
	m.addBeginning(maskOpen)
	for _, name := range keyNames {
		m.names[inMask(name)] = true // also where the key is not set any more
		for _, variable := range environ {
			if n, value, ok := strings.Cut(variable, "="); ok && n == name {
				m.learnKey(name, value)
			}
		}
	}
	for _, variable := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(variable, "=")
		if looks, sure := secretName(name); looks && secret.Looks(value, sure) {
			m.learn(name, value)
		}
		for _, password := range urlPasswords(value) {
			m.learn(name, password)
		}
	}
	return m
}

// Mask returns s with masks in place of secrets. The result is valid UTF-8:
// each run of invalid bytes becomes one U+FFFD.
func (m *Masker) Mask(s string) string {
	c := maskScan{masker: m.orNone(), text: strings.ToValidUTF8(s, "\uFFFD")}
	c.run(true)
	return c.take()
}

// MaskKeys masks nothing but the keys that services are sent, the values of
// keyNames, and those in every spelling that package secret knows. It is for what
// a service says that is not there to be read: to mask what merely looks like a
// secret in the arguments of a call would make another call of it.
func (m *Masker) MaskKeys(s string) string { return m.MaskKeysAcross([]string{s})[0] }

// MaskKeysAcross masks the keys of a text that is in several pieces.
func (m *Masker) MaskKeysAcross(pieces []string) []string {
	return m.orNone().keys.HideAcross(pieces, maskOf)
}

// MaskCutKey masks the beginning of a key at the end of a text that was cut.
func (m *Masker) MaskCutKey(s string) string { return m.orNone().keys.HideEnd(s, maskOf) }

func maskOf(name string) string { return maskOpen + name + "]" }

// MaskReply masks a text that a service said: what Mask masks, and keys in every
// spelling.
func (m *Masker) MaskReply(s string) string { return m.Mask(m.MaskKeys(s)) }

// HoldsKey reports whether MaskKeys would change s.
func (m *Masker) HoldsKey(s string) bool { return m.orNone().keys.In(s) }

// Holds reports whether s holds a mask: a call of a tool with such arguments
// would put the mask where the secret was. A mask counts if this Masker or one
// that learned of other variables could have made it; other words in brackets,
// "[masked]" or "[masked NAME]" among them, don't. It may be escaped, also twice,
// as JSON, addresses and HTML do: what is written with "\u005bmasked …" is a mask.
func (m *Masker) Holds(s string) bool {
	return slices.ContainsFunc(secret.Readings(s), m.orNone().holds)
}

func (m *Masker) holds(s string) bool { return len(m.Masks(s)) > 0 }

// Masks returns the names in the masks of s, in order.
func (m *Masker) Masks(s string) (names []string) {
	for {
		i := strings.Index(s, maskOpen)
		if i < 0 {
			return names
		}
		s = s[i:]
		n, _ := m.orNone().maskAt(s)
		if n > 0 {
			names = append(names, s[len(maskOpen):n-1])
		}
		s = s[max(n, len(maskOpen)):]
	}
}

func (m *Masker) orNone() *Masker {
	if m == nil {
		return &Masker{}
	}
	return m
}

// maskOpen is how every mask begins. No shape and no learned form of a value
// has it inside or a part of it at its end, so that none reaches into a mask.
const maskOpen = "[masked "

// maxMaskName bounds the name in a mask.
const maxMaskName = 64

// maskAt returns the length of the mask that s begins with, 0 if there is none;
// more reports that s ends before that can be told.
func (m *Masker) maskAt(s string) (n int, more bool) {
	if m.names == nil {
		return 0, false
	}
	if !strings.HasPrefix(s, maskOpen) {
		return 0, strings.HasPrefix(maskOpen, s)
	}
	name := s[len(maskOpen):min(len(s), len(maskOpen)+maxMaskName)]
	name = name[:span(name, isNameByte)]
	n = len(maskOpen) + len(name)
	if n == len(s) {
		return 0, true
	}
	if s[n] != ']' || !m.isMaskName(name) {
		return 0, false
	}
	return n + 1, false
}

// isMaskName reports whether a mask may bear the name.
func (m *Masker) isMaskName(name string) bool {
	if m.names[name] {
		return true
	}
	looks, _ := secretName(name)
	return looks && name == strings.ToUpper(name)
}

func isNameByte(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '.' }

// learnKey adds a key that is sent to services.
func (m *Masker) learnKey(name, value string) {
	if secret.LooksKey(value) {
		m.learn(name, value)
		m.keys.Add(inMask(name), strings.TrimSpace(value))
	}
}

// inMask returns a name as it stands in a mask.
func inMask(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && isNameByte(byte(r)) {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), maxMaskName)]
}

// learn adds a value in all its forms.
func (m *Masker) learn(name, value string) {
	name = inMask(name)
	m.names[name] = true
	for _, text := range secretForms(value) {
		m.addForm(secretForm{text, name})
	}
}
