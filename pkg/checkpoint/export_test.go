package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kagent/pkg/session"
)

// exported is a session in the middle of a call, with an artifact and a letter,
// and its export.
func exported(t *testing.T) (s *Store, file string) {
	t.Helper()
	s, _ = newTestStore(t.TempDir())
	j := create(t, s, "s")
	toolStep(t, j, "I look 看.", "a.go\nb.go", 1)
	kept, err := j.Artifacts().Create()
	check(t, err)
	_, err = kept.Write([]byte(strings.Repeat("a long output\n", 1000)))
	check(t, err)
	m, err := kept.Keep()
	check(t, err)
	ask(t, j, "And on.", 2)
	begin(t, j)
	call := j.State().Main().Pending()[0].ID
	check(t, j.Append("", &session.ToolResult{Call: call, Outcome: session.OutcomeOK, Text: "see there", Artifact: &m}))
	check(t, j.Commit())
	check(t, j.Close())
	in, err := s.Inbox("s")
	check(t, err)
	_, err = in.Send("mind the gap")
	check(t, err)
	return s, export(t, s, "s")
}

func export(t *testing.T, s *Store, id string) string {
	t.Helper()
	var b bytes.Buffer
	x, err := s.Export(id, &b)
	check(t, err)
	if x.Bytes != int64(b.Len()) || len(x.Missing) > 0 {
		t.Errorf("%+v of %d bytes", x, b.Len())
	}
	file := filepath.Join(t.TempDir(), "s.kagent")
	write(t, file, b.Bytes())
	return file
}

// What is imported elsewhere is the session: the same state, calls in doubt with
// their keys, artifacts, and what nobody had taken yet.
func TestAnExportIsTheSessionElsewhere(t *testing.T) {
	s, file := exported(t)
	before := whole(t, s, "s")
	if !IsExport(slurp(t, file)) || IsExport(slurp(t, s.Path("s"))) || IsExport(nil) {
		t.Error("an export is not known as one")
	}
	there, _ := newTestStore(t.TempDir())
	settings := func(known session.Settings, own bool) (session.Settings, error) {
		known.Workdir = "/elsewhere"
		return known, nil
	}
	i, err := there.Restore(file, ImportOptions{Settings: settings})
	check(t, err)
	if i.Format != ExportSchema || i.Origin != "s" || i.State.ID != "s" {
		t.Errorf("%+v", i)
	}
	old, err := s.Read("s")
	check(t, err)
	v, err := there.Read("s")
	check(t, err)
	if status, reason := v.Status(); status != session.Interrupted || reason != session.ReasonCrash || v.State.Settings.Workdir != "/elsewhere" {
		t.Errorf("%s %s in %s", status, reason, v.State.Settings.Workdir)
	}
	a, b := old.State.Main(), v.State.Main()
	if !reflect.DeepEqual(a.Messages(), b.Messages()) || len(b.Pending()) != 1 || b.Pending()[0].Key != a.Pending()[0].Key || b.Pending()[0].ID != a.Pending()[0].ID {
		t.Errorf("it is another conversation: %+v", b.Pending())
	}
	if r, err := there.Verify("s"); err != nil || !r.OK || len(r.Problems) > 0 {
		t.Errorf("%+v %v", r, err)
	}
	in, err := there.Inbox("s")
	check(t, err)
	if letters, err := in.Take(); err != nil || len(letters) != 1 || letters[0].Text != "mind the gap" {
		t.Errorf("%v %v", letters, err)
	}
	if whole(t, s, "s") != before {
		t.Error("the old session was changed")
	}
	j, _ := reopen(t, there, "s")
	answer(t, j, "done")
	check(t, j.Close())

	again, err := there.Restore(file, ImportOptions{})
	if err != nil || again.State.ID != "s-imported" {
		t.Errorf("a second time: %+v %v", again.State, err)
	}
	if _, err := there.Restore(file, ImportOptions{As: "s"}); !errors.Is(err, ErrExists) {
		t.Errorf("over another: %v", err)
	}
	// A session that came by an export can be exported itself.
	third, _ := newTestStore(t.TempDir())
	_, err = third.Restore(export(t, there, "s-imported"), ImportOptions{As: "other"})
	check(t, err)
	if r, err := third.Verify("other"); err != nil || !r.OK {
		t.Errorf("%+v %v", r, err)
	}
}

// A file that is cut or changed anywhere makes no session.
func TestADamagedExportMakesNoSession(t *testing.T) {
	_, file := exported(t)
	b := slurp(t, file)
	refused := func(what string, n int, b []byte) {
		t.Helper()
		bad := filepath.Join(t.TempDir(), "bad")
		write(t, bad, b)
		there, _ := newTestStore(t.TempDir())
		_, err := there.Restore(bad, ImportOptions{})
		var damaged *DamagedError
		var version *VersionError
		if !errors.As(err, &damaged) && !errors.As(err, &version) {
			t.Fatalf("%s at %d: %v", what, n, err)
		}
		if ids, err := there.IDs(); err != nil || len(ids) > 0 {
			t.Fatalf("%s at %d: made %v %v", what, n, ids, err)
		}
	}
	end := bytes.LastIndexByte(bytes.TrimRight(b, "\x00"), '\n') + 1 // what follows is padding
	for n := 0; n < end-1; n += 97 {
		refused("cut", n, b[:n])
	}
	flipped := 0
	for n := 0; n < end; n += 131 {
		bad := bytes.Clone(b)
		bad[n] ^= 1
		there, _ := newTestStore(t.TempDir())
		write(t, filepath.Join(t.TempDir(), "x"), nil)
		name := filepath.Join(t.TempDir(), "bad")
		write(t, name, bad)
		i, err := there.Restore(name, ImportOptions{})
		if err == nil { // a bit of padding, or of a header's time or owner
			if r, verr := there.Verify(i.State.ID); verr != nil || !r.OK || i.State.ID != "s" {
				t.Fatalf("bit at %d: %+v %v", n, r, verr)
			}
			continue
		}
		flipped++
	}
	if flipped < end/131/2 {
		t.Errorf("only %d flipped bits were seen", flipped)
	}
	refused("nothing", 0, nil)
	refused("something else", 0, []byte(strings.Repeat("x", 2000)))
}

// Names in an export that lead out of the session are refused.
func TestAnExportWritesNothingElsewhere(t *testing.T) {
	u := &unpacking{dir: "/d", m: manifest{SessionID: "s"}}
	hash := strings.Repeat("a", 64)
	for name, want := range map[string]string{
		"events.jsonl": "/d/s/events.jsonl", "checkpoint.json": "/d/s.json", "artifacts/" + hash: "/d/s/artifacts/" + hash, "inbox/1-a.json": "/d/s/inbox/1-a.json",
		"artifacts/../../x": "", "artifacts/../" + hash: "", "/etc/passwd": "", "inbox/../../x.json": "", "inbox/.json": "", "lock": "", "": "", "artifacts/short": "",
	} {
		if got := u.place(name); got != want {
			t.Errorf("%q goes to %q, want %q", name, got, want)
		}
	}
}

// A session that is being written is exported up to an event.
func TestARunningSessionCanBeExported(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	done := make(chan error, 1)
	go func() {
		for range 50 {
			if err := errors.Join(j.Append("", said("more")), j.Commit()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 10 {
		there, _ := newTestStore(t.TempDir())
		_, err := there.Restore(export(t, s, "s"), ImportOptions{})
		check(t, err)
	}
	check(t, <-done)
	check(t, j.Close())
	if _, err := s.Export("nosuch", os.Stderr); err == nil {
		t.Error("nothing was exported")
	}
}
