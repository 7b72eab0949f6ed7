package tool

import (
	"cmp"
	"slices"
	"strings"
)

// beginnings are the secrets that begin with the same three bytes.
type beginnings struct {
	forms  []secretForm // the longest first
	shapes []shape      // the most special first
}

// A secretForm is one spelling of a value.
type secretForm struct{ text, name string }

// addForm adds a form, unless some other value has it already.
func (m *Masker) addForm(form secretForm) {
	b := m.addBeginning(form.text)
	i, known := slices.BinarySearchFunc(b.forms, form, func(f, g secretForm) int {
		return cmp.Or(cmp.Compare(len(g.text), len(f.text)), cmp.Compare(f.text, g.text))
	})
	if !known {
		b.forms = slices.Insert(b.forms, i, form)
	}
}

func (m *Masker) addShape(start, kind string, match shape) {
	m.names[kind] = true
	b := m.addBeginning(start)
	b.shapes = append(b.shapes, match)
}

// addBeginning returns what begins with the same three bytes as text.
func (m *Masker) addBeginning(text string) *beginnings {
	key := uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16
	bit := beginningHash(key)
	m.near[bit>>6] |= 1 << (bit & 63)
	if m.starts[key] == nil {
		m.starts[key] = &beginnings{}
	}
	return m.starts[key]
}

// beginningHash returns 15 bits.
func beginningHash(key uint32) uint32 { return key * 0x9E3779B1 >> 17 }

// next returns the first place from p on where a secret may begin, or limit,
// which leaves at least two bytes of text.
func (m *Masker) next(text string, p, limit int) int {
	if p >= limit {
		return limit
	}
	key := uint32(text[p])<<8 | uint32(text[p+1])<<16
	last := text[p+2 : limit+2]
	for i := range len(last) {
		key = key>>8 | uint32(last[i])<<16
		if bit := beginningHash(key); m.near[bit>>6]>>(bit&63)&1 != 0 {
			return p + i
		}
	}
	return limit
}

// longest returns the longest form that rest begins with.
func longest(forms []secretForm, rest string, final bool) (form secretForm, more bool) {
	for _, f := range forms {
		if strings.HasPrefix(rest, f.text) {
			return f, false
		}
		if !final && strings.HasPrefix(f.text, rest) {
			return secretForm{}, true
		}
	}
	return secretForm{}, false
}
