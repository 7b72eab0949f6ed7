package secret

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// MinEncoded is the least length of a key whose base64 is looked for: that of a
// shorter one is found everywhere.
const MinEncoded = 8

// Keys are keys to be found. The nil and the zero one find none; any number of
// goroutines may use them.
type Keys struct{ forms []form }

// A form is one spelling of a key.
type form struct {
	text, name string
	word       bool // found as a whole word alone
}

// Add makes a key known by a name, which is what its mask can say.
func (k *Keys) Add(name, key string) { k.add(name, key, false) }

// AddWord does so with one that may be a part of other words, which are to stay:
// "test" is not found in "latest".
func (k *Keys) AddWord(name, key string) { k.add(name, key, true) }

func (k *Keys) add(name, key string, word bool) {
	if key == "" {
		return
	}
	texts := []string{key, url.QueryEscape(key)}
	if len(key) >= MinEncoded {
		texts = append(texts, Base64Forms(key, base64.StdEncoding)...)
		texts = append(texts, Base64Forms(key, base64.URLEncoding)...)
	}
	slices.Sort(texts)
	for _, text := range slices.Compact(texts) {
		k.forms = append(k.forms, form{text, name, word && strings.Contains(text, key)})
	}
}

// Hide returns s with masks in the place of keys. In a JSON text it changes
// strings alone, unless a key stood bare in it, and leaves them whole.
func (k *Keys) Hide(s string, mask func(name string) string) string {
	return k.HideAcross([]string{s}, mask)[0]
}

// HideAcross does so with a text that is in several pieces. A mask stands where a
// key began, and what of the key is in later pieces is gone.
func (k *Keys) HideAcross(pieces []string, mask func(name string) string) []string {
	out := slices.Clone(pieces)
	found := k.find(strings.Join(pieces, ""))
	for i, at := 0, 0; len(found) > 0 && i < len(pieces); i++ {
		out[i] = hidden(pieces[i], at, found, mask)
		at += len(pieces[i])
		for len(found) > 0 && found[0].to <= at {
			found = found[1:]
		}
	}
	return out
}

// HideEnd does so with a beginning of a key at the end of a text that was cut: one
// of MinEncoded bytes is no chance.
func (k *Keys) HideEnd(s string, mask func(name string) string) string {
	if k == nil {
		return s
	}
	for _, f := range k.forms {
		for n := min(len(f.text)-1, len(s)); n >= MinEncoded; n-- {
			if strings.HasSuffix(s, f.text[:n]) {
				return s[:len(s)-n] + mask(f.name)
			}
		}
	}
	return s
}

// hidden returns a piece, which begins at a place of the whole, without what was
// found in it.
func hidden(piece string, at int, found []finding, mask func(name string) string) string {
	var b strings.Builder
	done := 0 // of piece
	for _, f := range found {
		from, to := max(f.from-at, 0), min(f.to-at, len(piece))
		if from >= len(piece) {
			break
		}
		b.WriteString(piece[done:from])
		if f.from >= at {
			b.WriteString(mask(f.name))
		}
		done = to
	}
	return b.String() + piece[done:]
}

// In reports whether a key is in s.
func (k *Keys) In(s string) bool { return len(k.find(s)) > 0 }

// A finding is a place in a text where one or several keys are.
type finding struct {
	from, to int
	name     string
}

// find returns the places in order; no two overlap.
func (k *Keys) find(s string) []finding {
	if k == nil || len(k.forms) == 0 {
		return nil
	}
	var all []finding
	for _, r := range readings(s) {
		for _, f := range k.forms {
			all = r.find(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b finding) int { return a.from - b.from })
	joined := all[:0]
	for _, f := range all {
		if n := len(joined) - 1; n >= 0 && f.from < joined[n].to {
			joined[n].to = max(joined[n].to, f.to)
			continue
		}
		joined = append(joined, f)
	}
	return notInMasks(s, joined)
}

// notInMasks leaves out what is found in a mask, which may have a key's name in it.
func notInMasks(s string, found []finding) []finding {
	from, to := nextMask(s, 0)
	return slices.DeleteFunc(found, func(f finding) bool {
		for to <= f.from && from < len(s) {
			from, to = nextMask(s, to)
		}
		return from < f.from && f.to < to
	})
}

// nextMask returns where the next mask from a place on begins and ends; the end of
// s if there is none.
func nextMask(s string, at int) (from, to int) {
	i := strings.Index(s[at:], "[masked ")
	if i < 0 {
		return len(s), len(s)
	}
	n := strings.IndexByte(s[at+i:], ']')
	if n < 0 {
		return len(s), len(s)
	}
	return at + i, at + i + n + 1
}

// Base64Forms returns the base64 of value, and what is always in the base64 of a
// text with value in it: three forms, for the three places where a group of
// bytes may begin.
func Base64Forms(value string, enc *base64.Encoding) []string {
	forms := []string{enc.EncodeToString([]byte(value))}
	for shift := range 3 {
		all := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + value))
		forms = append(forms, all[(8*shift+5)/6:8*(shift+len(value))/6])
	}
	return forms
}
