package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// builders make the session "new" in a store that prepare has filled.
func builders() map[string]struct {
	prepare func(t tb, s *Store)
	build   func(s *Store) error
} {
	type builder = struct {
		prepare func(t tb, s *Store)
		build   func(s *Store) error
	}
	return map[string]builder{
		"fork": {
			func(t tb, s *Store) { twice(t, s) },
			func(s *Store) error { _, err := s.Fork("s", "new", ForkOptions{}); return err },
		},
		"fork of nothing": {
			func(t tb, s *Store) { twice(t, s) },
			func(s *Store) error { _, err := s.Fork("s", "new", turns(0)); return err },
		},
		"import": {
			func(t tb, s *Store) { twice(t, s) },
			func(s *Store) error {
				_, err := s.Import(filepath.Join(tsFiles, "plan-solve-interrupted.json"), ImportOptions{As: "new"})
				return err
			},
		},
		"repair": {
			func(t tb, s *Store) { twice(t, s) },
			func(s *Store) error { _, err := s.Repair("s", "new"); return err },
		},
	}
}

// Killed at any call, there is no session yet or a whole one, and the old one
// is as it was. What was left is in nobody's way.
func TestASessionIsMadeWholeOrNotAtAll(t *testing.T) {
	for name, b := range builders() {
		t.Run(name, func(t *testing.T) {
			s, fsys := newTestStore(t.TempDir())
			b.prepare(t, s)
			before := whole(t, s, "s")
			for n := 0; ; n++ {
				clearNew(t, s)
				fsys.half = true
				fsys.killAt(n)
				err := b.build(s)
				fsys.heal()
				if err == nil {
					if n < 30 {
						t.Fatalf("only %d calls were tried", n)
					}
					sane(t, s, "new")
					return
				}
				if whole(t, s, "s") != before {
					t.Fatalf("killed at call %d: the source was changed", n)
				}
				v, err := s.Read("new")
				switch {
				case as[*NotFoundError](err):
					if list, err := s.List(); err != nil || len(list) != 1 {
						t.Fatalf("killed at call %d: listed are %+v, %v", n, list, err)
					}
					check(t, b.build(s))
				case err != nil:
					t.Fatalf("killed at call %d: %v", n, err)
				case !v.Saved:
					j, rec := reopen(t, s, "new")
					if rec.Crashed || rec.Torn != nil || len(rec.Warnings) > 0 {
						t.Fatalf("killed at call %d: opening it recovers %+v", n, rec)
					}
					check(t, j.Commit())
					check(t, j.Close())
				}
				sane(t, s, "new")
			}
		})
	}
}

// Where a call fails, the error is told and nothing is left of what was begun.
func TestAFailedBuildLeavesNothing(t *testing.T) {
	for name, b := range builders() {
		t.Run(name, func(t *testing.T) {
			s, fsys := newTestStore(t.TempDir())
			b.prepare(t, s)
			for n := 0; ; n++ {
				clearNew(t, s)
				left, failed := n, ""
				fsys.fail = func(call string) error {
					if left--; left == -1 {
						failed = call
						return syscall.EIO
					}
					return nil
				}
				err := b.build(s)
				fsys.heal()
				if failed == "" {
					return
				}
				_, rerr := s.Read("new")
				switch {
				case err == nil || rerr == nil: // it could do without, or had been placed
					passable(t, s, name, failed)
				case !as[*NotFoundError](rerr):
					t.Fatalf("%s fails: %v, then %v", failed, err, rerr)
				case !as[*StorageError](err) && !as[*NoImportError](err) && !strings.HasSuffix(failed, "lock"): // which looks as if somebody had removed it
					t.Fatalf("%s fails: %v", failed, err)
				default:
					if _, err := os.Lstat(pathsOf(s.dir, "new").built()); !errors.Is(err, os.ErrNotExist) {
						t.Fatalf("%s fails: what was begun is left", failed)
					}
				}
			}
		})
	}
}

func clearNew(t tb, s *Store) {
	t.Helper()
	p := pathsOf(s.dir, "new")
	check(t, os.RemoveAll(p.dir))
	check(t, os.RemoveAll(p.checkpoint))
}

// passable is what a session may be whose making met an error.
func passable(t tb, s *Store, name, failed string) {
	t.Helper()
	report, err := s.Verify("new")
	check(t, err)
	for _, p := range report.Problems {
		if p.Kind != KindNote && (p.Kind != KindArtifact || name != "repair") { // which says so
			t.Fatalf("%s fails: %+v", failed, p)
		}
	}
}
