package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"kagent/pkg/session"
)

// logOf makes the lines of a log, one for each dur.
func logOf(t tb, durs ...int64) ([][]byte, []uint32) {
	t.Helper()
	var lines [][]byte
	var crcs []uint32
	var prev uint32
	for i, dur := range durs {
		text := fmt.Sprintf("text %d", i+1)
		line := encode(t, record{Event: event(int64(i+1), &session.UserMessage{Text: text}), prev: prev, dur: dur})
		r, err := decodeLine(line)
		check(t, err)
		prev = r.crc
		lines, crcs = append(lines, line), append(crcs, prev)
	}
	return lines, crcs
}

// A log with syncs after the events 2 and 4; 5 to 7 were never synced, as far
// as it knows.
var synced = []int64{0, 0, 2, 2, 4, 4, 4}

const wholeLog = 7

func scanBytes(b []byte, p promise) (scan, []int64, error) {
	var seqs []int64
	sc, err := scanLog(bytes.NewReader(b), p, func(e session.Event) { seqs = append(seqs, e.Seq) })
	return sc, seqs, err
}

// flip, drop and the like change line i (from 1) of a log.
type change func(lines [][]byte, i int) [][]byte

func flipAt(where func(line []byte) int) change {
	return func(lines [][]byte, i int) [][]byte {
		line := bytes.Clone(lines[i-1])
		line[where(line)] ^= 4
		lines[i-1] = line
		return lines
	}
}

func zero(from, to float64) change {
	return func(lines [][]byte, i int) [][]byte {
		line := bytes.Clone(lines[i-1])
		clear(line[int(from*float64(len(line))):int(math.Ceil(to*float64(len(line))))])
		lines[i-1] = line
		return lines
	}
}

var (
	flipFirst   = flipAt(func([]byte) int { return 0 })
	flipCRC     = flipAt(func([]byte) int { return len(crcOpen) + 3 })
	flipMiddle  = flipAt(func(l []byte) int { return len(l) / 2 })
	flipNewline = flipAt(func(l []byte) int { return len(l) - 1 })
	zeroMiddle  = zero(0.3, 0.6)
	zeroWhole   = zero(0, 1)
)

func drop(lines [][]byte, i int) [][]byte   { return slices.Delete(lines, i-1, i) }
func double(lines [][]byte, i int) [][]byte { return slices.Insert(lines, i, lines[i-1]) }
func swap(lines [][]byte, i int) [][]byte {
	lines[i-1], lines[i] = lines[i], lines[i-1]
	return lines
}

// foreign is a good line of that number from another history.
func foreign(lines [][]byte, i int) [][]byte {
	r, err := decodeLine(lines[i-1])
	var buf bytes.Buffer
	if r.prev ^= 1; err == nil {
		_, err = appendLine(&buf, r)
	}
	if err != nil {
		panic(err)
	}
	lines[i-1] = buf.Bytes()
	return lines
}

func garbage(lines [][]byte, i int) [][]byte {
	return slices.Insert(lines, i-1, []byte(`{"type":"meta","x":`+"\n"))
}

// F002, F005: what had been promised is damage wherever it goes bad; what had
// not is torn, also with good lines after it. Nothing is dropped silently.
func TestTornOrDamagedIsSaidByDur(t *testing.T) {
	const torn, damaged = false, true
	for _, c := range []struct {
		name   string
		change change
		line   int
		want   bool
		good   int64 // events before the bad line
	}{
		{"bit in the first line", flipMiddle, 1, damaged, 0},
		{"bit in a line promised by the next sync", flipMiddle, 2, damaged, 1},
		{"bit in the last promised line", flipMiddle, 4, damaged, 3},
		{"bit in the first line of no promise", flipMiddle, 5, torn, 4},
		{"bit in the last line", flipMiddle, 7, torn, 6},
		{"first byte", flipFirst, 3, damaged, 2},
		{"crc", flipCRC, 3, damaged, 2},
		{"newline", flipNewline, 3, damaged, 2},
		{"newline before the first line that promises it", flipNewline, 4, damaged, 3},
		{"newline of no promise", flipNewline, 5, torn, 4},
		{"newline at the end", flipNewline, 7, torn, 6},
		{"dropped and promised", drop, 2, damaged, 1},
		{"dropped first", drop, 1, damaged, 0},
		{"dropped and not promised", drop, 5, torn, 4},
		{"doubled and promised", double, 3, damaged, 3},
		{"doubled before what was not promised", double, 4, torn, 4},
		{"doubled last", double, 7, torn, 7},
		{"swapped and promised", swap, 3, damaged, 2},
		{"swapped and not promised", swap, 5, torn, 4},
		{"swapped over the border", swap, 4, damaged, 3},
		{"NULs in a promised line", zeroMiddle, 3, damaged, 2},
		{"NULs for a promised line", zeroWhole, 3, damaged, 2},
		{"NULs up to the line that promises it", zeroWhole, 4, damaged, 3},
		{"NULs for a line of no promise, good ones after it", zeroWhole, 6, torn, 5},
		{"garbage among promised ones", garbage, 3, damaged, 2},
		{"garbage after them", garbage, 6, torn, 5},
		{"a line of another history, promised", foreign, 3, damaged, 2},
		{"a line of another history, not promised", foreign, 6, torn, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, _ := logOf(t, synced...)
			good := bytes.Join(lines[:c.good], nil)
			b := bytes.Join(c.change(lines, c.line), nil)
			sc, seqs, err := scanBytes(b, promise{})
			var d *damage
			if errors.As(err, &d) != c.want {
				t.Fatalf("damaged: %v (%v), want %v", !c.want, err, c.want)
			}
			if d != nil {
				if d.offset != int64(len(good)) {
					t.Errorf("damage at byte %d, want %d", d.offset, len(good))
				}
				return
			}
			if sc.end != int64(len(good)) || sc.size != int64(len(b)) || sc.seq != c.good || len(seqs) != int(c.good) {
				t.Errorf("end %d seq %d size %d, want %d %d %d", sc.end, sc.seq, sc.size, len(good), c.good, len(b))
			}
		})
	}
}

// Every prefix of a log is a session: a cut is never damage, unless the
// checkpoint has seen what is missing.
func TestEveryCutIsTorn(t *testing.T) {
	lines, crcs := logOf(t, synced...)
	whole := bytes.Join(lines, nil)
	for n := range len(whole) + 1 {
		var end, seq int64
		for _, l := range lines {
			if end+int64(len(l)) > int64(n) {
				break
			}
			end += int64(len(l))
			seq++
		}
		sc, seqs, err := scanBytes(whole[:n], promise{})
		if err != nil || sc.end != end || sc.seq != seq || sc.size != int64(n) || len(seqs) != int(seq) {
			t.Fatalf("cut at %d: %+v %v, want end %d seq %d", n, sc, err, end, seq)
		}
		for p := max(seq, 1); p <= min(seq+1, wholeLog); p++ {
			_, _, err := scanBytes(whole[:n], promise{Seq: p, CRC: crcText(crcs[p-1])})
			if (err != nil) != (p > seq) {
				t.Fatalf("cut at %d, event %d promised: %v", n, p, err)
			}
		}
	}
}

func TestCheckpointPromises(t *testing.T) {
	lines, crcs := logOf(t, synced...)
	whole := bytes.Join(lines, nil)
	for _, c := range []struct {
		name    string
		log     []byte
		promise promise
		damaged bool
	}{
		{"the end", whole, promise{Seq: 7, CRC: crcText(crcs[6])}, false},
		{"an earlier event", whole, promise{Seq: 3, CRC: crcText(crcs[2])}, false},
		{"another event of that number", whole, promise{Seq: 3, CRC: crcText(crcs[3])}, true},
		{"more than there is", whole, promise{Seq: 8, CRC: "00000000"}, true},
		{"an empty log", nil, promise{Seq: 1, CRC: crcText(crcs[0])}, true},
		{"what went bad", bytes.Join(flipMiddle(slices.Clone(lines), 6), nil), promise{Seq: 6, CRC: crcText(crcs[5])}, true},
		{"all before what went bad", bytes.Join(flipMiddle(slices.Clone(lines), 6), nil), promise{Seq: 5, CRC: crcText(crcs[4])}, false},
		{"what is a hole now", bytes.Join(zeroWhole(slices.Clone(lines), 7), nil), promise{Seq: 7, CRC: crcText(crcs[6])}, true},
	} {
		if _, _, err := scanBytes(c.log, c.promise); (err != nil) != c.damaged {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestForeignEndsAreTorn(t *testing.T) {
	lines, _ := logOf(t, synced...)
	whole := bytes.Join(lines, nil)
	for _, end := range []string{"\n", "\n\n", "{", "\x00", strings.Repeat("\x00", 4096), strings.Repeat("\x00\n", 300), "null\n", "\xff\xfe\n", crcOpen, crcOpen + "\n", string(lines[0])} {
		sc, _, err := scanBytes(append(bytes.Clone(whole), end...), promise{})
		if err != nil || sc.end != int64(len(whole)) || sc.size != int64(len(whole)+len(end)) {
			t.Errorf("%q: %+v %v", end, sc, err)
		}
	}
}

func TestFailingReadIsNeitherTornNorDamaged(t *testing.T) {
	lines, _ := logOf(t, synced...)
	r := io.MultiReader(bytes.NewReader(bytes.Join(lines[:3], nil)), iotest.ErrReader(io.ErrUnexpectedEOF))
	_, err := scanLog(r, promise{}, func(session.Event) {})
	var d *damage
	if !errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &d) {
		t.Errorf("error %v", err)
	}
}

// growing is a log that its owner writes while it is read: at the first end the
// reader sees half a line, and then the rest of it and more.
type growing struct{ parts [][]byte }

func (g *growing) Read(b []byte) (int, error) {
	if len(g.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, g.parts[0])
	g.parts = g.parts[1:]
	return n, io.EOF
}

func TestLineBeingWrittenIsNoDamage(t *testing.T) {
	lines, _ := logOf(t, 0, 1, 2, 3)
	half := len(lines[1]) / 2
	first := append(bytes.Clone(lines[0]), lines[1][:half]...)
	rest := bytes.Join([][]byte{lines[1][half:], lines[2], lines[3]}, nil)
	sc, err := scanLog(&growing{[][]byte{first, rest}}, promise{}, func(session.Event) {})
	if err != nil || sc.seq != 1 {
		t.Errorf("seq %d, %v", sc.seq, err)
	}
}

// F011: size is no damage.
func TestLongLinesAndLongLogsAreRead(t *testing.T) {
	var buf bytes.Buffer
	var prev uint32
	for i := range int64(2000) {
		text := "x"
		if i == 1000 {
			text = strings.Repeat("长", 1<<18)
		}
		var err error
		prev, err = appendLine(&buf, record{Event: event(i+1, &session.UserMessage{Text: text}), prev: prev, dur: i})
		check(t, err)
	}
	sc, seqs, err := scanBytes(buf.Bytes(), promise{Seq: 2000, CRC: crcText(prev)})
	if err != nil || len(seqs) != 2000 || sc.end != int64(buf.Len()) {
		t.Errorf("%d events, %v", len(seqs), err)
	}
}
