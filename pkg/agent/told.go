package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// A section of a brief. What leads, such as the task, is cut last. Kept names
// where the whole of it can be read, "" for nowhere.
type section struct {
	title, text string
	leads       bool
	kept        string
}

// brief is what a child is told: headed sections, whole. How much of them fits
// is known only when the child begins, and may differ from one process to the
// next; what a child was asked is therefore known by its mark, not by its words.
type brief struct{ sections []section }

// lead adds what a child can do least without. Empty sections are left out.
func (b *brief) lead(title, text string) *brief {
	return b.add(section{title: title, text: text, leads: true})
}

// section adds what the child is told beside it.
func (b *brief) section(title, text string) *brief { return b.add(section{title: title, text: text}) }

func (b *brief) add(s section) *brief {
	if s.text = strings.TrimSpace(s.text); s.text != "" {
		b.sections = append(b.sections, s)
	}
	return b
}

// String is the brief as a whole.
func (b *brief) String() string { return b.within(b.size()) }

// size is that of the whole, in characters.
func (b *brief) size() (n int) {
	for _, s := range b.sections {
		n += s.frame() + utf8.RuneCountInString(s.text)
	}
	return n
}

// frame is what a section takes beside its text.
func (s section) frame() int { return utf8.RuneCountInString(s.title) + len("\n\n# \n\n") }

// within is the brief in at most limit characters, as far as that is more than
// its titles with a note for each section.
func (b *brief) within(limit int) string {
	var out strings.Builder
	for i, share := range b.shares(limit) {
		s := b.sections[i]
		if i > 0 {
			out.WriteString("\n\n")
		}
		out.WriteString("# " + s.title + "\n\n" + s.cut(share))
	}
	return message.Clean(out.String())
}

// cut takes from the middle what is more than n characters and says how much
// that is. What is as short as the note stays.
func (s section) cut(n int) string {
	all := utf8.RuneCountInString(s.text)
	if all <= max(n, s.least()) {
		return s.text
	}
	room := n - s.least() - 2
	if room < 2 {
		return s.note(all)
	}
	head := room * 2 / 3
	runes := []rune(s.text)
	return string(runes[:head]) + " " + s.note(all-room) + " " + string(runes[all-room+head:])
}

// note says how much of the text is missing.
func (s section) note(left int) string {
	text := fmt.Sprintf("[… %d of %d characters left out", left, utf8.RuneCountInString(s.text))
	if s.kept != "" {
		text += fmt.Sprintf("; read_file with path %q tells the whole", s.kept)
	}
	return text + " …]"
}

// least is what is said of the text at least: all of it, or what is missing.
func (s section) least() int {
	all := utf8.RuneCountInString(s.text)
	return min(all, utf8.RuneCountInString(s.note(all)))
}

// shares says how many characters of each section are told. What leads may take
// half of the room before the others do, and more than that where they leave it;
// among those of a kind the short ones stay whole, and the long ones share.
func (b *brief) shares(limit int) []int {
	var lead, rest []int
	for _, s := range b.sections {
		limit -= s.frame() + s.least()
		if more := utf8.RuneCountInString(s.text) - s.least(); s.leads {
			lead = append(lead, more)
		} else {
			rest = append(rest, more)
		}
	}
	limit = max(limit, 0)
	forLead := min(sum(lead), max(limit/2, limit-sum(rest)))
	lead, rest = level(lead, forLead), level(rest, limit-forLead)
	out := make([]int, len(b.sections))
	for i, s := range b.sections {
		from := &rest
		if s.leads {
			from = &lead
		}
		out[i], *from = s.least()+(*from)[0], (*from)[1:]
	}
	return out
}

// level gives each of sizes the same, as far as it needs it, so that all have
// limit together.
func level(sizes []int, limit int) []int {
	out := make([]int, len(sizes))
	each := session.Waterline(sizes, limit)
	for i, n := range sizes {
		out[i] = min(n, each)
	}
	return out
}

func sum(sizes []int) (n int) {
	for _, s := range sizes {
		n += s
	}
	return n
}

// mark tells a brief from others.
func (b *brief) mark() string {
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:8])
}

// asked reports whether a child was asked just this, however much it was told.
func (b *brief) asked(child *session.ChildCreated) bool {
	return child.Task == b.String() || child.Asked == b.mark()
}
