package checkpoint

import (
	"errors"
	"syscall"
	"testing"
)

// A read of the first line that fails says nothing about it: what stands there
// is no damage and is left as it is.
func TestAReadThatFailsIsNoDamage(t *testing.T) {
	s, disk := newTestStore(t.TempDir())
	check(t, create(t, s, "s").Close())
	before := snapshot(t, pathsOf(s.Dir(), "s").dir)
	disk.failOn("read events.jsonl", 1, syscall.EIO)
	_, err := s.Create("s", task)
	if wantError[*StorageError](t, err); !errors.Is(err, syscall.EIO) {
		t.Errorf("Create: %v", err)
	}
	disk.heal()
	if after := snapshot(t, pathsOf(s.Dir(), "s").dir); after != before {
		t.Errorf("it was changed to\n%s\nfrom\n%s", after, before)
	}
}
