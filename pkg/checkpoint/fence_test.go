package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// An owner that was stopped for long may have lost its files; it writes into
// nobody else's.
func TestFenceStopsAnOwnerThatLostItsFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, p paths)
	}{
		{"log replaced", func(t *testing.T, p paths) {
			write(t, p.log+".new", slurp(t, p.log))
			check(t, os.Rename(p.log+".new", p.log))
		}},
		{"log deleted", func(t *testing.T, p paths) { check(t, os.Remove(p.log)) }},
		{"log grown", func(t *testing.T, p paths) {
			write(t, p.log, append(slurp(t, p.log), "{\"foreign\":1}\n"...))
		}},
		{"log shrunk", func(t *testing.T, p paths) { check(t, os.Truncate(p.log, 10)) }},
		{"lock deleted", func(t *testing.T, p paths) { check(t, os.Remove(p.lock)) }},
		{"lock replaced", func(t *testing.T, p paths) {
			check(t, os.Remove(p.lock))
			write(t, p.lock, nil)
		}},
		{"directory renamed", func(t *testing.T, p paths) { check(t, os.Rename(p.dir, p.dir+"-old")) }},
		{"directory replaced", func(t *testing.T, p paths) {
			check(t, os.Rename(p.dir, p.dir+"-old"))
			check(t, os.Mkdir(p.dir, dirMode))
			write(t, p.log, slurp(t, filepath.Join(p.dir+"-old", "events.jsonl")))
			write(t, p.lock, nil)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := newTestStore(dir)
			j := create(t, s, "s")
			defer j.Close()
			check(t, j.Append("", said("durable, not committed")))
			c.harm(t, j.paths)
			before := snapshot(t, dir)
			if err := j.Commit(); !errors.Is(err, errFenced) {
				t.Errorf("commit: %v", err)
			}
			err := j.Append("", said("x"))
			if e := wantError[*StorageError](t, err); !errors.Is(e, errFenced) {
				t.Errorf("append: %v", e)
			}
			if snapshot(t, dir) != before {
				t.Error("it wrote all the same")
			}
		})
	}
}
