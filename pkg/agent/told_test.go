package agent

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// aBrief draws sections of any script and size.
func aBrief(t *rapid.T) *brief {
	var b brief
	for i := range rapid.IntRange(0, 12).Draw(t, "sections") {
		word := rapid.SampledFrom([]string{"a", "word ", "大", "👨‍👩‍👧", "مرحبا ", "a\xff\xfe"}).Draw(t, "word")
		text := strings.Repeat(word, rapid.IntRange(0, 900).Draw(t, "length"))
		s := section{title: fmt.Sprint("part ", i), text: text, leads: rapid.Bool().Draw(t, "leads")}
		if rapid.Bool().Draw(t, "kept") {
			s.kept = "artifact:0123456789abcdef"
		}
		b.add(s)
	}
	return &b
}

// However little room there is, a brief keeps to it, as far as its titles and
// the notes of what is missing do.
func TestABriefKeepsToItsRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := aBrief(t)
		limit := rapid.IntRange(0, 12_000).Draw(t, "limit")
		least := 0
		for _, s := range b.sections {
			least += s.frame() + s.least()
		}
		said := b.within(limit)
		if n := utf8.RuneCountInString(said); n > max(limit, least) {
			t.Fatalf("%d characters are said, %d are allowed, %d are needed", n, limit, least)
		}
		if !utf8.ValidString(said) {
			t.Fatal("it is no text")
		}
		for _, s := range b.sections {
			if !strings.Contains(said, "# "+s.title+"\n\n") {
				t.Fatalf("%q is missing", s.title)
			}
		}
	})
}

// What fits is whole; what is cut says how much is missing, and where it is.
func TestABriefSaysWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := aBrief(t)
		limit := rapid.IntRange(0, 12_000).Draw(t, "limit")
		shares, told := b.shares(limit), 0
		for i, s := range b.sections {
			all := utf8.RuneCountInString(s.text)
			said := s.cut(shares[i])
			told += s.frame() + shares[i]
			switch {
			case shares[i] > all:
				t.Fatalf("%d of %d characters are set aside for it", shares[i], all)
			case shares[i] == all && said != s.text:
				t.Fatal("what fits is cut")
			case shares[i] < all && (!strings.Contains(said, fmt.Sprintf(" of %d characters left out", all)) || !strings.Contains(said, s.kept)):
				t.Fatalf("nothing is said of what is missing: %q", said)
			}
		}
		if b.size() <= limit && told != b.size() {
			t.Fatalf("%d of %d characters are told, though %d are allowed", told, b.size(), limit)
		}
		if b.size() > limit && limit-told > len(b.sections) && told > 0 && limit > b.size()/2 {
			t.Fatalf("%d characters of %d stay unused", limit-told, limit)
		}
	})
}

// More room never tells less of anything; what leads is told first.
func TestMoreRoomTellsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := aBrief(t)
		limit := rapid.IntRange(0, 12_000).Draw(t, "limit")
		less, more := b.shares(limit), b.shares(limit+rapid.IntRange(0, 3000).Draw(t, "more"))
		for i := range less {
			if less[i] > more[i] {
				t.Fatalf("section %d has %d characters of more room, %d of less", i, more[i], less[i])
			}
		}
	})
	b := (&brief{}).lead("Task", strings.Repeat("t", 1000))
	for i := range 9 {
		b.section(fmt.Sprint("Result of ", i), strings.Repeat("r", 1000))
	}
	if shares := b.shares(3000); shares[0] != 1000 {
		t.Errorf("the task is cut to %d characters", shares[0])
	}
}

// A child is known by all that it was asked, told or not.
func TestAQuestionIsKnownHoweverMuchWasTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := aBrief(t), aBrief(t)
		if same := a.String() == b.String(); (a.mark() == b.mark()) != same {
			t.Fatalf("the same: %v, marks %s and %s", same, a.mark(), b.mark())
		}
	})
}
