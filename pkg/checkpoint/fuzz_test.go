package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
)

// FuzzParseHead: whatever stands in the place of a checkpoint, its reader
// returns; what it takes for one says so itself.
func FuzzParseHead(f *testing.F) {
	dir := f.TempDir()
	s, _ := newTestStore(dir)
	finished(f, s, "s")
	good, err := os.ReadFile(s.Path("s"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(bytes.Replace(good, []byte(`"status"`), []byte(`"Status"`), 1))
	f.Add([]byte(`{"schema":"kagent/checkpoint/v1","metadata":{}}`))
	f.Add(bytes.Repeat([]byte(`{"a":[`), 1000))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHead(bytes.Clone(b))
		if err != nil {
			if !errors.Is(err, errBadCheckpoint) {
				t.Fatalf("not the reader's error: %v", err)
			}
			return
		}
		if h.Schema != Schema {
			t.Fatalf("a checkpoint of schema %q was taken", h.Schema)
		}
	})
}

// FuzzOpenLog: whatever stands in the place of a log, reading, verifying and
// opening return, agree on whether it is damaged, and damage changes nothing.
func FuzzOpenLog(f *testing.F) {
	dir := f.TempDir()
	s, _ := newTestStore(dir)
	finished(f, s, "s")
	good, err := os.ReadFile(pathsOf(dir, "s").log)
	if err != nil {
		f.Fatal(err)
	}
	checkpoint, err := os.ReadFile(s.Path("s"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, true)
	f.Add(good[:len(good)-20], false)
	f.Add(append(bytes.Clone(good), 0, 0, 0), true)
	f.Add([]byte("\n\n"), false)
	f.Fuzz(func(t *testing.T, b []byte, saved bool) {
		dir := t.TempDir()
		s, _ := newTestStore(dir)
		p := pathsOf(dir, "s")
		check(t, os.Mkdir(p.dir, dirMode))
		check(t, os.WriteFile(p.log, b, fileMode))
		if saved {
			check(t, os.WriteFile(p.checkpoint, checkpoint, fileMode))
		}
		_, rerr := s.Read("s")
		if _, err := s.Verify("s"); err != nil && rerr == nil {
			t.Errorf("read, but not verified: %v", err)
		}
		j, _, oerr := s.Open("s")
		if oerr == nil {
			check(t, j.Close())
		}
		var newer *VersionError
		if (rerr == nil) != (oerr == nil) && !errors.As(oerr, &newer) {
			t.Errorf("read: %v, opened: %v", rerr, oerr)
		}
		var damaged *DamagedError
		if errors.As(oerr, &damaged) {
			if now, err := os.ReadFile(p.log); err != nil || !bytes.Equal(now, b) {
				t.Errorf("a damaged log was changed: %v", err)
			}
		}
		if oerr == nil && !json.Valid([]byte(mustImage(t, s))) {
			t.Error("its image is no JSON")
		}
	})
}

func mustImage(t *testing.T, s *Store) string {
	v, err := s.Read("s")
	check(t, err)
	b, err := v.Image()
	check(t, err)
	return string(b)
}
