package tool

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maskLookback is how much of what comes before a place counts, in bytes.
const maskLookback = 16

// A maskScan goes through a text that may be still growing at its end. A place
// is passed only when nothing that follows can change what is known of it, so
// that the result doesn't depend on how the text came.
//
// Masking twice changes nothing because of three rules. Every place outside a
// mask is looked at, for values and for shapes. Whether a shape begins at a
// place is told by what follows up to some bound and never unsaid by more text:
// a text that is cut where a mask begins has no shapes that the whole had not.
// And the end of a mask counts as the beginning of the text in both passes.
type maskScan struct {
	masker *Masker
	text   string // what is not forgotten of it
	out    strings.Builder

	pos    int       // before it everything is known
	sent   int       // before it everything is in out, as it is or masked
	masked int       // the end of the last mask
	shape  int       // the end of the last shape, within which no others are looked for
	tail   shapeTail // how that goes on; nil when it has ended
	later  []later   // shapes that are masked only from a place after pos, in order
}

type later struct {
	at  int
	hit sighting
}

// run goes as far as can be told, or to the end of a text that is complete.
func (c *maskScan) run(final bool) {
	c.follow(final)
	for {
		limit := c.limit()
		p := c.masker.next(c.text, c.pos, limit)
		if len(c.later) > 0 {
			p = min(p, c.later[0].at)
		}
		c.pos = max(c.pos, p)
		if p >= limit || !c.look(final) {
			break
		}
		c.follow(final)
	}
	if final {
		c.pos = len(c.text)
	}
	end := c.pos
	for end > c.sent && end < len(c.text) && !utf8.RuneStart(c.text[end]) {
		end--
	}
	c.send(end)
}

// limit returns where looking must stop: nothing is told by two bytes, and
// where an unfinished shape will end isn't known.
func (c *maskScan) limit() int {
	limit := len(c.text) - 2
	if c.tail != nil {
		limit = min(limit, c.shape)
	}
	return limit
}

// look passes the place pos, or returns false if more text is needed for that.
func (c *maskScan) look(final bool) bool {
	p, rest := c.pos, c.text[c.pos:]
	if n, more := c.masker.maskAt(rest); n > 0 {
		c.pos, c.masked = p+n, p+n
		return true
	} else if more && !final {
		return false
	}
	key := uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16
	var form secretForm
	var hit sighting
	if b := c.masker.starts[key]; b != nil {
		var more bool
		if form, more = longest(b.forms, rest, final); more {
			return false
		}
		if p >= c.shape {
			if hit = c.shapeAt(b.shapes, final); hit.more {
				return false
			}
		}
	}
	c.pos++
	if form.name != "" {
		c.cover(p, p+len(form.text), form.name)
	}
	c.enter(p, c.due(p, hit))
	return true
}

// shapeAt returns the shape that begins at pos.
func (c *maskScan) shapeAt(shapes []shape, final bool) sighting {
	from := max(0, c.pos-maskLookback)
	if c.masked <= c.pos {
		from = max(from, c.masked)
	}
	for _, match := range shapes {
		if hit := match(c.text[from:c.pos], c.text[c.pos:], final); hit.more || hit.kind != "" {
			return hit
		}
	}
	return sighting{}
}

// due joins what was found at p with what was due there: the latter knows how
// far it goes, the former what it is.
func (c *maskScan) due(p int, hit sighting) sighting {
	for len(c.later) > 0 && c.later[0].at == p {
		due := c.later[0].hit
		c.later = c.later[1:]
		switch {
		case p < c.shape: // within another one
		case hit.kind == "":
			hit = due
		case hit.from == 0:
			hit.to, hit.tail = max(hit.to, due.to), due.tail
		}
	}
	return hit
}

// enter masks a shape that begins at p, or makes a note of it.
func (c *maskScan) enter(p int, hit sighting) {
	switch {
	case hit.kind == "":
	case hit.from > 0:
		at := p + hit.from
		hit.from, hit.to = 0, hit.to-hit.from
		i, _ := slices.BinarySearchFunc(c.later, at, func(l later, at int) int { return l.at - at })
		c.later = slices.Insert(c.later, i, later{at, hit})
	default:
		c.shape, c.tail = p+hit.to, hit.tail
		c.cover(p, c.shape, hit.kind)
	}
}

// follow lets the last shape grow as far as it goes.
func (c *maskScan) follow(final bool) {
	if c.tail == nil {
		return
	}
	n, open := c.tail(c.text[c.shape:], final)
	c.shape += n
	c.masked = max(c.masked, c.shape)
	c.sent = max(c.sent, c.masked)
	if !open {
		c.tail = nil
	}
}

// cover puts a mask in place of a part of the text, or makes the last one
// larger.
func (c *maskScan) cover(from, to int, name string) {
	if from >= c.masked {
		c.send(from)
		c.out.WriteString(maskOpen + name + "]")
	}
	c.masked = max(c.masked, to)
	c.sent = max(c.sent, c.masked)
}

func (c *maskScan) send(to int) {
	if to > c.sent {
		c.out.WriteString(c.text[c.sent:to])
		c.sent = to
	}
}

// take returns what has been sent.
func (c *maskScan) take() string {
	s := c.out.String()
	c.out.Reset()
	return s
}

// forget lets go of the text that no longer counts.
func (c *maskScan) forget() {
	n := min(c.pos, c.sent) - maskLookback
	if n <= 0 {
		return
	}
	c.text = strings.Clone(c.text[n:])
	c.pos, c.sent, c.masked, c.shape = c.pos-n, c.sent-n, c.masked-n, c.shape-n
	for i := range c.later {
		c.later[i].at -= n
	}
}
