package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"kagent/pkg/session"
)

// history is a log as a Journal wrote it, and what was promised of it.
type history struct {
	store   *Store
	paths   paths
	lines   [][]byte
	durs    []int64
	events  []session.Event
	durable int   // lines that a sync covered
	shown   int64 // seq of the checkpoint
}

func (h *history) bytes(from, to int) []byte { return bytes.Join(h.lines[from:to], nil) }

// played drives a Journal by random appends, syncs, commits and reopenings.
func played(t *rapid.T, dir string) *history {
	s, _ := newTestStore(dir)
	h := &history{store: s, paths: pathsOf(dir, "s")}
	j, err := s.Create("s", task)
	check(t, err)
	h.durable = 2
	for range rapid.IntRange(1, 12).Draw(t, "operations") {
		switch rapid.IntRange(0, 6).Draw(t, "operation") {
		case 0, 1, 2, 3:
			for range rapid.IntRange(1, 3).Draw(t, "events") {
				text := rapid.OneOf(rapid.String(), rapid.StringN(50, 300, -1)).Draw(t, "text")
				check(t, j.Append("", &session.UserMessage{Source: session.FromUser, Text: text}))
			}
		case 4:
			check(t, j.Sync())
			h.durable = int(j.State().Seq)
		case 5:
			check(t, j.Commit())
			h.durable, h.shown = int(j.State().Seq), j.State().Seq
		case 6:
			check(t, j.Close())
			j, _ = reopen(t, s, "s")
			h.durable = int(j.State().Seq)
		}
	}
	check(t, j.Close())
	h.lines = bytes.SplitAfter(slurp(t, h.paths.log), []byte("\n"))
	h.lines = h.lines[:len(h.lines)-1]
	for _, l := range h.lines {
		r, err := decodeLine(l)
		check(t, err)
		h.durs, h.events = append(h.durs, r.dur), append(h.events, r.Event)
	}
	return h
}

// eachWithDir runs a property with a fresh directory for each case.
func eachWithDir(t *testing.T, property func(t *rapid.T, dir string)) {
	root, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(root, strconv.Itoa(n))
		defer os.RemoveAll(dir)
		property(rt, dir)
	})
}

// lossy is what a power loss may leave of lines that were not synced: each
// there, a hole, missing, or torn, and the file of any length.
func lossy(t *rapid.T, lines [][]byte) []byte {
	var out []byte
	for _, l := range lines {
		at := rapid.IntRange(0, len(l)-1).Draw(t, "at")
		switch rapid.IntRange(0, 5).Draw(t, "fate") {
		case 0:
			out = append(out, make([]byte, len(l))...)
		case 1: // its block was not even allocated
		case 2:
			out = append(append(out, l[:at]...), make([]byte, len(l)-at)...)
		case 3:
			out = append(append(out, make([]byte, at)...), l[at:]...)
		default:
			out = append(out, l...)
		}
	}
	if rapid.Bool().Draw(t, "short") {
		out = out[:rapid.IntRange(0, len(out)).Draw(t, "length")]
	}
	return append(out, make([]byte, rapid.SampledFrom([]int{0, 0, 1, 512}).Draw(t, "zeros"))...)
}

// F002, F006: whatever a power loss does to unsynced lines, the session opens
// with all that was synced and with nothing that was not said, and what was cut
// off is kept.
func TestPowerLossIsNeverDamage(t *testing.T) {
	eachWithDir(t, func(t *rapid.T, dir string) {
		h := played(t, dir)
		left := append(h.bytes(0, h.durable), lossy(t, h.lines[h.durable:])...)
		write(t, h.paths.log, left)

		var read []session.Event
		check(t, h.store.Events(context.Background(), "s", false, func(e session.Event) { read = append(read, e) }))
		v, err := h.store.Read("s")
		check(t, err)
		if len(read) < h.durable || !reflect.DeepEqual(read, h.events[:len(read)]) {
			t.Fatalf("%d events read, %d synced", len(read), h.durable)
		}
		j, rec := reopen(t, h.store, "s")
		defer j.Close()
		good := left[:len(left)-int(v.Torn)]
		if got := slurp(t, h.paths.log); !bytes.HasPrefix(got, good) {
			t.Fatalf("a good line was changed")
		}
		if (rec.Torn != nil) != (v.Torn > 0) {
			t.Fatalf("torn %+v, a reader saw %d bytes", rec.Torn, v.Torn)
		}
		if rec.Torn != nil && !bytes.Equal(slurp(t, filepath.Join(h.paths.dir, rec.Torn.File)), left[len(good):]) {
			t.Fatalf("what was cut off is not what was kept")
		}
		toolStep(t, j, "on", "ok", 1)
		if again, err := h.store.Read("s"); err != nil || again.Torn != 0 {
			t.Fatalf("after going on: torn %d, %v", again.Torn, err)
		}
	})
}

// corrupted changes one synced line i (from 0). It returns the log and the
// first line that is bad then.
func corrupted(t *rapid.T, h *history, i int) (log []byte, bad int) {
	l := bytes.Clone(h.lines[i])
	at := rapid.IntRange(0, len(l)-1).Draw(t, "at")
	before, after := h.bytes(0, i), h.bytes(i+1, len(h.lines))
	kinds := []string{"flip", "zero", "cut", "insert", "double"}
	if i+1 < len(h.lines) {
		kinds = append(kinds, "drop", "swap")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "flip":
		l[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
	case "zero":
		clear(l[at:])
	case "cut":
		l = append(l[:at], l[at+rapid.IntRange(1, len(l)-at).Draw(t, "bytes"):]...)
		if len(l) == 0 && i+1 == len(h.lines) {
			l = []byte("{") // all of the last line, that is a log that ended earlier
		}
	case "insert":
		b := rapid.SampledFrom([]byte("x{\n\r\x00\xff")).Draw(t, "byte")
		if b == '\n' && at == len(l)-1 {
			bad = 1 // the line stays, an empty one follows
		}
		l = append(l[:at:at], append([]byte{b}, l[at:]...)...)
	case "double":
		return append(append(append(before, l...), l...), after...), i + 1
	case "drop":
		l = nil
	case "swap":
		return append(append(append(before, h.lines[i+1]...), l...), h.bytes(i+2, len(h.lines))...), i
	}
	return append(append(before, l...), after...), bad + i
}

// Promise 5: a synced line that goes bad is damage, and nothing is touched. Only
// where nothing in the log and no checkpoint says that it was synced it looks
// torn; then its bytes are set aside, and the user is told.
func TestCorruptionIsNeverSilent(t *testing.T) {
	eachWithDir(t, func(t *rapid.T, dir string) {
		h := played(t, dir)
		i := rapid.IntRange(0, h.durable-1).Draw(t, "line")
		log, bad := corrupted(t, h, i)
		write(t, h.paths.log, log)
		x := int64(bad + 1)
		witnessed := h.shown >= x
		for k, dur := range h.durs {
			witnessed = witnessed || k > i && dur >= x
		}

		before := snapshot(t, dir)
		j, rec, err := h.store.Open("s")
		if err == nil {
			j.Close()
		}
		var damaged *DamagedError
		var missing *NotFoundError
		switch {
		case witnessed && !errors.As(err, &damaged):
			t.Fatalf("line %d was promised; error %v, torn %+v", x, err, rec.Torn)
		case witnessed:
			if _, err := h.store.Read("s"); !errors.As(err, &damaged) {
				t.Fatalf("a reader finds %v", err)
			}
			if snapshot(t, dir) != before {
				t.Fatalf("something was changed")
			}
		case bad == 0 && errors.As(err, &missing): // no whole first line: no session
		case err != nil:
			t.Fatalf("line %d was not promised: %v", x, err)
		case rec.Torn == nil:
			t.Fatalf("line %d is gone without a word", x)
		case !bytes.Equal(slurp(t, filepath.Join(h.paths.dir, rec.Torn.File)), log[rec.Torn.Offset:]):
			t.Fatalf("what was cut off is not what was kept")
		}
	})
}
