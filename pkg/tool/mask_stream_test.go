package tool

import (
	"encoding/base64"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// maskFragments are beginnings, ends and wholes of what a Masker looks for.
func maskFragments() []string {
	key := keyBlock("RSA PRIVATE KEY")
	return []string{
		"a1b2a1b2", "a1b2", "1b2", "hunter2é好🙂x", "hunter2é", "sk-secret1", "secret", "pw%2F12345", "pw/12345", "cHcvMTIzNDU",
		"sk-", "sk-ant-", "sk-proj-", "ghp_", "AKIA", "Q3EGR7T5WX2ZLMNB", random, random[:20], random[20:33], "eyJ", ".eyJ", aToken(), aToken()[:50],
		"Bearer ", "bearer ", "Authorization: Basic ", "aws_secret_access_key=", "https://hooks.slack.com/services/", "SG.",
		"://", "://u:", "://u:pw12@h", "@", ":", "/", ".", "-", "_", "=", "+", "\\n", "\\", "%3D", "\x1b[31m", "m", "n",
		key, key[:len(key)-20], key[:130], key[40:], "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END ", "-----END PRIVATE KEY-----", "-----", "Proc-Type: 4,ENCRYPTED\n",
		"[masked ", "[masked A_TOKEN]", "[masked jwt]", "[masked x]", "[mas", "[", "]", "masked", "A_TOKEN",
		" ", "\n", "\r\n", "word", "好", "🙂", "é", "\xe5", "\xa5", "\xbd", "\xff", "\uFFFD", "\x00", strings.Repeat("x", 200), strings.Repeat(random, 30),
	}
}

// awkward learns values that overlap themselves, shapes, each other and masks.
func awkward() *Masker {
	return NewMasker([]string{
		"A_TOKEN=a1b2a1b2", "B_TOKEN=hunter2é好🙂x", "C_TOKEN=sk-secret1", "D_TOKEN=secret1kJ8sQ2mX", "E_TOKEN=pw/12345",
		"F_TOKEN=2a1b2a1b2[mas", "G_TOKEN=]a1b2a1b2", "H_TOKEN=[masked A_TOKEN] x1", "I_TOKEN=masked A_TOKEN", "J_TOKEN=Bearer k9", "K_TOKEN=\n-----BEGIN P1",
		"L_URL=x://u:pw12pw12@h", "M_TOKEN=x1x1x1x1y", "N_TOKEN=C0yA8eU2i", "O_TOKEN=eyJhbGciOiJ",
		"P_TOKEN=earer " + random + "!!",
	})
}

func splitAndMask(m *Masker, text string, cut func(left int) int) string {
	s := m.Stream()
	var b strings.Builder
	for text != "" {
		n := cut(len(text))
		b.WriteString(s.Write(text[:n]))
		text = text[n:]
	}
	b.WriteString(s.Flush())
	return b.String()
}

// checkMask tells what must hold of any text.
func checkMask(m *Masker, text string) string {
	whole := m.Mask(text)
	if !utf8.ValidString(whole) {
		return "the result is no valid text"
	}
	if m.Mask(whole) != whole {
		return "masking again changes " + whole + " to " + m.Mask(whole)
	}
	if byByte := splitAndMask(m, text, func(int) int { return 1 }); byByte != whole {
		return "byte by byte it is " + byByte + ", not " + whole
	}
	clear := whole
	for i := 0; i < len(clear); i++ { // a line for each mask
		if n, _ := m.maskAt(clear[i:]); n > 0 {
			clear = clear[:i] + "\x00" + clear[i+n:]
		}
	}
	for _, b := range m.starts {
		for _, form := range b.forms {
			if strings.Contains(clear, form.text) {
				return form.name + " is still in " + whole
			}
		}
	}
	return ""
}

func TestMaskPropertiesHoldForAnyTextAndSplit(t *testing.T) {
	m, fragments := awkward(), maskFragments()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 12).Draw(t, "text"), "")
		if wrong := checkMask(m, text); wrong != "" {
			t.Fatalf("%q: %q", text, wrong)
		}
		got := splitAndMask(m, text, func(left int) int { return min(left, rapid.IntRange(1, 70).Draw(t, "piece")) })
		if want := m.Mask(text); got != want {
			t.Fatalf("%q: in pieces %q, whole %q", text, got, want)
		}
	})
}

func TestStreamsAreNotConfusedBy(t *testing.T) {
	for name, text := range map[string]string{
		"what is due after a wait and some forgetting": strings.Repeat("好 ", 30) + "Bearer " + random + " end",
		"a key right after a value":                    "a1b2a1b2sk-proj-" + random + "a1b2a1b2AKIA" + "Q3EGR7T5WX2ZLMNB",
		"invalid bytes, split":                         "a\xff\xff\xe5\xa5\xe5\xa5好\xf0\x9f\x99",
	} {
		if wrong := checkMask(awkward(), text); wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
	}
}

func FuzzMask(f *testing.F) {
	for _, fragment := range maskFragments() {
		f.Add(fragment, 3)
	}
	f.Add("Bearer sk-secret1"+random+aToken(), 5)
	m := awkward()
	f.Fuzz(func(t *testing.T, text string, piece int) {
		if len(text) > 4<<10 {
			return
		}
		if wrong := checkMask(m, text); wrong != "" {
			t.Fatal(wrong)
		}
		piece = 1 + max(0, piece)%100
		if got := splitAndMask(m, text, func(left int) int { return min(left, piece) }); got != m.Mask(text) {
			t.Fatalf("in pieces of %d: %q", piece, got)
		}
	})
}

func TestStreamShowsWhatItCan(t *testing.T) {
	s := NewMasker([]string{"A_TOKEN=hunter2hunter2"}).Stream()
	for i, step := range [][2]string{
		{"hello ", "hell"}, {"hunt", "o "}, {"er3 ", "hunter"}, {"hunter2hun", "3 "}, {"ter2", "[masked A_TOKEN]"}, // two bytes tell nothing
		{"好a\xe5", ""}, {"\xa5", ""}, {"\xbd sk-proj-", "好a好 "}, {random, "[masked openai-key]"}, {random, ""}, {" end.", " en"},
	} {
		got := s.Write(step[0])
		if got != step[1] {
			t.Errorf("%d: %q brings %q, want %q", i, step[0], got, step[1])
		}
	}
	if got := s.Flush(); got != "d." {
		t.Errorf("the end brings %q", got)
	}
	if got := s.Write(random+"  ") + s.Flush(); got != random+"  " {
		t.Errorf("a new text begins with %q", got)
	}
}

func TestStreamHoldsBackLittle(t *testing.T) {
	m := awkward()
	key := keyBlock("RSA PRIVATE KEY")
	for _, text := range []string{
		strings.Repeat("eyJ", 5000), strings.Repeat("eyJ.eyJ-eyJ", 2000), "sk-" + strings.Repeat(random, 500), "ghp_" + strings.Repeat(random+".", 300),
		key[:len(key)-70] + strings.Repeat("\n"+random, 500), strings.Repeat(key[:33], 300), "-----BEGIN PRIVATE KEY-----" + strings.Repeat("\n", 9000),
		strings.Repeat("://u:p", 3000), "://u:" + strings.Repeat("p", 9000), strings.Repeat("a1b2", 3000), strings.Repeat("[masked ", 2000), strings.Repeat("好", 5000),
	} {
		s, most := m.Stream(), 0
		for i := 0; i < len(text); i += 7 {
			s.Write(text[i:min(len(text), i+7)])
			most = max(most, len(s.scan.text)-s.scan.sent)
		}
		if most > 2<<10+64 {
			t.Errorf("%.40q…: %d bytes were held back", text, most)
		}
	}
}

// Eight times as much takes about eight times as long, however hostile; were it
// the square, it would take 64 times as long.
func TestMaskTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	m := awkward()
	const size = 1 << 20
	for _, unit := range []string{
		"eyJ", "eyJ-", "sk-", "sk-ant-", "a1b2", "://u:p", "://", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "Bearer ", "[masked ", "[masked A_TOKEN]", "AKIA", "x1x1x1x1", "-----END ",
		random, random[:30] + "\n", "\xff", "好",
	} {
		for _, head := range []string{"", keyBlock("PRIVATE KEY")[:200]} {
			part, whole := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for runs := 0; runs < 10 && (runs == 0 || whole > 24*part); runs++ {
				part = min(part, timed(func() { m.Mask(head + strings.Repeat(unit, size/8/len(unit))) }))
				whole = min(whole, timed(func() { m.Mask(head + strings.Repeat(unit, size/len(unit))) }))
			}
			if whole > 24*part {
				t.Errorf("%q: %v for a mebibyte, %v for an eighth of it", unit, whole, part)
			}
		}
	}
}

// timed is the processor's time for something: a busy machine changes it little.
func timed(do func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := used()
	do()
	return used() - began
}

// base64Text has no secrets in it, but for accidents.
func base64Text(size int) string {
	data := make([]byte, size*3/4)
	rand.NewChaCha8([32]byte{}).Read(data)
	return base64.StdEncoding.EncodeToString(data)
}

func BenchmarkMask(b *testing.B) {
	environ := []string{"L_URL=postgres://u:pw12pw12@h"}
	for i := range 30 {
		environ = append(environ, string(rune('A'+i))+"_TOKEN="+random[i:i+20])
	}
	m := NewMasker(environ)
	prose := strings.Repeat("func (m *Masker) Mask(s string) string { return https://example.com/a/b } // the task of a risk\n", 11000)
	for name, text := range map[string]string{"code": prose, "chinese": strings.Repeat("密钥在哪里？我不知道，", 32000), "base64": base64Text(1 << 20)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m.Mask(text)
			}
		})
	}
	b.Run("learning", func(b *testing.B) {
		for b.Loop() {
			NewMasker(environ)
		}
	})
	b.Run("stream", func(b *testing.B) {
		b.SetBytes(int64(len(prose)))
		for b.Loop() {
			splitAndMask(m, prose, func(left int) int { return min(left, 20) })
		}
	})
}
