package checkpoint

import (
	"os"
	"testing"
)

// As root, who could: what another user wrote is not run as root.
func TestAnotherUsersSessionIsNotGoneOnWith(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const other = 12345
	for name, give := range map[string]func(p paths) error{
		"its directory": func(p paths) error { return os.Chown(p.dir, other, -1) },
		"its log":       func(p paths) error { return os.Chown(p.log, other, -1) },
	} {
		s, fsys := newTestStore(t.TempDir())
		finished(t, s, "s")
		check(t, give(pathsOf(s.dir, "s")))
		before := snapshot(t, s.dir)
		fsys.reset()
		_, _, err := s.Open("s")
		if e := wantError[*UserError](t, err); e.UID != other || e.ID != "s" {
			t.Errorf("%s: %v", name, err)
		}
		if snapshot(t, s.dir) != before || fsys.count("write") > 0 {
			t.Errorf("%s: it was changed: %v", name, fsys.trace)
		}
		if l := list(t, s); len(l) != 1 || l[0].Status == Damaged {
			t.Errorf("%s: list %+v", name, l)
		}
		report, err := s.Verify("s")
		if check(t, err); report.OK || report.Damaged() {
			t.Errorf("%s: verified %+v", name, report)
		}
		trusting, _ := newTestStore(s.dir)
		trusting.trusted = []int{other}
		j, _, err := trusting.Open("s")
		check(t, err)
		check(t, j.Close())
		check(t, s.Remove("s", false))
	}
}
