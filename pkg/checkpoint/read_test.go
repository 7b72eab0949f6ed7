package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kagent/pkg/session"
)

func ids(list []Summary) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.SessionID)
	}
	return out
}

func list(t testing.TB, s *Store) []Summary {
	t.Helper()
	l, err := s.List()
	check(t, err)
	return l
}

// F024: order is that of the events, ties by id; times of files count nothing,
// and a time in the future breaks nothing.
func TestListIsNewestFirst(t *testing.T) {
	dir := t.TempDir()
	at := func(year int) *Store {
		return NewStore(dir, Options{Now: func() time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }})
	}
	for _, id := range []string{"b", "c", "a"} {
		finished(t, at(2025), id)
	}
	finished(t, at(2026), "new")
	finished(t, at(2024), "old")
	finished(t, at(2099), "future")
	want := []string{"future", "new", "a", "b", "c", "old"}
	for n := range 10 {
		if got := ids(list(t, at(2026))); !slices.Equal(got, want) {
			t.Fatalf("list %v, want %v", got, want)
		}
		when := time.Unix(int64(n)*1e8, 0)
		check(t, os.Chtimes(filepath.Join(dir, want[n%6]+".json"), when, when))
	}
}

func TestListOfNothing(t *testing.T) {
	s, fsys := newTestStore(filepath.Join(t.TempDir(), "missing"))
	if l, err := s.List(); err != nil || l == nil || len(l) != 0 {
		t.Errorf("%v %v", l, err)
	}
	if fsys.count("mkdir") != 0 {
		t.Error("a reader made the directory")
	}
	fsys.failOn("readdir", 1, syscall.EACCES)
	_, err := s.List()
	wantError[*StorageError](t, err)
}

// F010: only heads are read. A conversation of a megabyte costs what a short
// one costs.
func TestListReadsOnlyHeads(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "long")
	for range 20 {
		toolStep(t, j, "I look.", strings.Repeat("读", 20_000), 1)
	}
	wide := session.Failure{Kind: "server", Message: strings.Repeat("\x00", 50_000), Status: 500}
	wideEnd := session.TurnEnd{Turn: 1, Status: session.Interrupted, Reason: session.ReasonServer, Error: &wide}
	check(t, j.Append("", &wideEnd))
	check(t, j.Commit())
	check(t, j.Append("", &session.TurnStart{Turn: 1, Continues: 1}))
	for _, owner := range []string{"live", "none"} {
		if owner == "none" {
			check(t, j.Append("", &wideEnd))
			check(t, j.Commit())
			check(t, j.Close())
		}
		fsys.reset()
		if l := list(t, s); len(l) != 1 || l[0].Iterations != 20 || l[0].Reason != session.ReasonServer || (l[0].Owner != nil) != (owner == "live") || l[0].SizeBytes < 2<<20 {
			t.Errorf("list %+v", l)
		}
		if n := fsys.read["long.json"]; n > headSize {
			t.Errorf("owner %s: %d bytes of the checkpoint read", owner, n)
		}
		if n := fsys.read["events.jsonl"]; n > tailSize {
			t.Errorf("owner %s: %d bytes of the log read", owner, n)
		}
		if n := fsys.read["lock"]; n > 4096 {
			t.Errorf("%d bytes of the lock read", n)
		}
	}
	if n := fsys.count("write") + fsys.count("sync") + fsys.count("truncate"); n != 0 {
		t.Errorf("a reader wrote: %v", fsys.trace)
	}
}

func TestListTellsWhatBecameOfEach(t *testing.T) {
	dir := t.TempDir()
	s, _ := newTestStore(dir)
	finished(t, s, "completed")
	live := create(t, s, "live")
	defer live.Close()
	crashed := create(t, s, "crashed")
	toolStep(t, crashed, "I look.", "a", 2)
	check(t, crashed.Close())
	// It died between the last sync and the checkpoint: the log counts.
	between := create(t, s, "between")
	ask(t, between, "Done.", 0)
	check(t, between.Append("", &session.StepEnd{Step: 1}, &session.TurnEnd{Turn: 1, Status: session.Completed}))
	check(t, between.Sync())
	check(t, between.Close())
	unsaved, err := s.Create("unsaved", task)
	check(t, err)
	check(t, unsaved.Close())
	finished(t, s, "damaged")
	b := slurp(t, pathsOf(dir, "damaged").log)
	b[100] ^= 1
	write(t, pathsOf(dir, "damaged").log, b)
	write(t, pathsOf(dir, "damaged").checkpoint, []byte("{"))
	write(t, filepath.Join(dir, "lost.json"), []byte("{}"))
	write(t, filepath.Join(dir, "x.json.tmp"), []byte("{}"))
	write(t, filepath.Join(dir, "notes.txt"), nil)

	type row struct {
		status session.Status
		reason session.Reason
		live   bool
		calls  int
	}
	got := map[string]row{}
	for _, l := range list(t, s) {
		got[l.SessionID] = row{l.Status, l.Reason, l.Owner != nil, l.ToolCalls}
		if (l.Status == Damaged) != (l.Error != "") || l.Status != Damaged && (l.Input != task.Task || l.AgentType != "react") {
			t.Errorf("%+v", l)
		}
	}
	want := map[string]row{
		"completed": {session.Completed, "", false, 1}, "live": {session.Active, "", true, 0},
		"crashed": {session.Interrupted, session.ReasonCrash, false, 2}, "between": {session.Completed, "", false, 0},
		"unsaved": {session.Interrupted, session.ReasonCrash, false, 0},
		"damaged": {Damaged, "", false, 0}, "lost": {Damaged, "", false, 0},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("list %v\nwant %v", got, want)
	}
}

// A log of the size that its checkpoint knows may still have another end.
func TestListNoticesAnotherEndOfTheSameSize(t *testing.T) {
	for name, bad := range map[string]func(b []byte) []byte{
		"a changed byte": func(b []byte) []byte { b[len(b)-20] ^= 1; return b },
		"no newline":     func(b []byte) []byte { b[len(b)-1] = ' '; return b },
		"zeroes":         func(b []byte) []byte { clear(b[len(b)-300:]); return b },
		"another line, as sound": func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			last := lines[len(lines)-2]
			i := bytes.Index(last, []byte("completed"))
			copy(last[i:], "cancelled")
			copy(last[len(crcOpen):], crcText(checksum(last[crcLen:len(last)-1])))
			return b
		},
	} {
		s, _ := newTestStore(t.TempDir())
		finished(t, s, "s")
		finished(t, s, "other")
		log := pathsOf(s.dir, "s").log
		write(t, log, bad(slurp(t, log)))
		for _, l := range list(t, s) {
			if (l.Status == Damaged) != (l.SessionID == "s") {
				t.Errorf("%s: %+v", name, l)
			}
		}
		if _, ok := s.Glance("s"); ok {
			t.Errorf("%s: a glance is enough", name)
		}
	}
}

// What the last line holds may be longer than a list reads.
func TestListTakesALongLastLineForWhatItEndsWith(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	j := create(t, s, "s")
	check(t, j.Append("", said(strings.Repeat("长", 1000))))
	check(t, j.Commit())
	check(t, j.Close())
	fsys.reset()
	if l := list(t, s); len(l) != 1 || l[0].Status != session.Interrupted || fsys.read["events.jsonl"] != tailSize {
		t.Errorf("%+v, %d bytes of the log read", l, fsys.read["events.jsonl"])
	}
}

// One that can't be read hides no other, whatever the disk says.
func TestFailingReadHidesNoOther(t *testing.T) {
	for _, at := range []string{"open b.json", "read b.json", "stat b.json"} {
		s, fsys := newTestStore(t.TempDir())
		for _, id := range []string{"a", "b", "c"} {
			finished(t, s, id)
		}
		fsys.fail = func(call string) error {
			if call == at {
				return syscall.EIO
			}
			return nil
		}
		l := list(t, s)
		if len(l) != 3 || l[2].SessionID != "b" || l[2].Status != Damaged || !strings.Contains(l[2].Error, "b.json") {
			t.Errorf("%s: %+v", at, l)
		}
	}
}

// The reader saw the checkpoint, and then the session was removed.
func TestSessionRemovedWhileItIsReadIsNotDamaged(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	finished(t, s, "s")
	other, _ := newTestStore(s.Dir())
	fsys.fail = func(call string) error {
		if call == "open events.jsonl" {
			check(t, other.Remove("s", false))
		}
		return nil
	}
	_, err := s.Read("s")
	wantError[*NotFoundError](t, err)
}

func TestReadShowsAnOpenEndWithoutRepairingIt(t *testing.T) {
	dir := t.TempDir()
	s, fsys, good, end := torn(t, dir)
	before := snapshot(t, dir)
	fsys.reset()
	n := 0
	check(t, s.Events(t.Context(), "s", false, func(session.Event) { n++ }))
	v, err := s.Read("s")
	check(t, err)
	if v.Torn != int64(len(end)) || n != bytes.Count(good, []byte("\n")) || v.State.Seq != int64(n) {
		t.Errorf("torn %d, %d events, seq %d", v.Torn, n, v.State.Seq)
	}
	if snapshot(t, dir) != before || fsys.count("write")+fsys.count("truncate")+fsys.count("rename") != 0 {
		t.Error("a reader changed something")
	}
	status, reason := v.Status()
	image, err := v.Image()
	check(t, err)
	var c struct {
		Status session.Status
		Reason session.Reason
		Owner  Owner
	}
	check(t, json.Unmarshal(image, &c))
	if status != session.Interrupted || reason != session.ReasonCrash || c.Status != status || c.Reason != reason || c.Owner != (Owner{}) {
		t.Errorf("status %s %s, in the image %+v", status, reason, c)
	}
}
