package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"kagent/pkg/session"
)

// foreignStore has a file of kagent-ts in the place of the session "old".
func foreignStore(t tb, name string) (*Store, *seam, []byte) {
	t.Helper()
	s, fsys := newTestStore(filepath.Join(mkdir(t), "sessions"))
	check(t, os.Mkdir(s.dir, dirMode))
	b := slurp(t, filepath.Join(tsFiles, name+".json"))
	write(t, s.Path("old"), b)
	check(t, os.Chmod(s.Path("old"), 0o644)) // as kagent-ts makes them
	return s, fsys, b
}

func TestAForeignFileIsShownAsTheSessionThatItWouldBecome(t *testing.T) {
	s, _, _ := foreignStore(t, "plan-solve-interrupted")
	finished(t, s, "other")
	before := snapshot(t, s.dir)
	list, err := s.List()
	check(t, err)
	if len(list) != 2 || list[0].SessionID != "old" || list[0].Status != session.Interrupted || list[0].Iterations != 3 || list[0].Input != "Read both files and write summary.txt." || list[0].Error != "" {
		t.Errorf("listed are %+v", list)
	}
	v, err := s.Read("old")
	check(t, err)
	n := 0
	check(t, s.Events(t.Context(), "old", true, func(e session.Event) { n++ }))
	if n != int(v.State.Seq) || outlineOf(v.State.Main()) != "u a1 t a1 t" {
		t.Errorf("%d events, %s", n, outlineOf(v.State.Main()))
	}
	b, err := v.Image()
	check(t, err)
	if f := fields(t, b); !bytes.Contains(f["agentState"], []byte(`"currentPlan":["Read config.yaml"`)) {
		t.Errorf("%s", f["agentState"])
	}
	report, err := s.Verify("old")
	check(t, err)
	if len(report.Problems) != 2 || report.Problems[0].Kind != KindNote || !strings.Contains(report.Problems[0].Message, "not imported yet") || report.Problems[1].Kind != KindPermissions {
		t.Errorf("%+v", report)
	}
	for _, err := range []error{
		func() error { _, _, err := s.Open("old"); return err }(),
		func() error { _, err := s.Fork("old", "new", ForkOptions{}); return err }(),
	} {
		if !as[*ForeignError](err) {
			t.Errorf("error %T %v", err, err)
		}
	}
	for _, err := range []error{
		func() error { _, err := s.Create("old", task); return err }(),
		func() error { _, err := s.Fork("other", "old", ForkOptions{}); return err }(),
	} {
		if !errors.Is(err, ErrExists) {
			t.Errorf("error %T %v", err, err)
		}
	}
	if snapshot(t, s.dir) != before {
		t.Error("something was changed")
	}
}

func TestAForeignFileBecomesTheSessionInItsPlace(t *testing.T) {
	for name, adopt := range map[string]func(s *Store) error{
		"adopted": func(s *Store) error { _, err := s.Adopt("old", ImportOptions{}); return err },
		"imported": func(s *Store) error {
			i, err := s.Import(s.Path("old"), ImportOptions{})
			if err == nil && i.State.ID != "old" {
				err = errors.New("it is " + i.State.ID)
			}
			return err
		},
	} {
		s, _, b := foreignStore(t, "react-interrupted")
		shown, err := s.Read("old")
		check(t, err)
		check(t, adopt(s))
		st := sane(t, s, "old")
		if !reflect.DeepEqual(st.Main().Messages(), shown.State.Main().Messages()) {
			t.Errorf("%s: %v", name, st.Main().Messages())
		}
		if !bytes.Equal(slurp(t, filepath.Join(pathsOf(s.dir, "old").dir, importedName)), b) {
			t.Errorf("%s: the original is not kept", name)
		}
		if err := adopt(s); err == nil {
			t.Errorf("%s: it can be done twice", name)
		}
		j, rec := reopen(t, s, "old")
		if len(rec.Warnings) > 0 || rec.Crashed {
			t.Errorf("%s: opening it recovers %+v", name, rec)
		}
		check(t, j.Append("", &session.TurnStart{Turn: 1, Continues: 1}))
		answer(t, j, "done")
		check(t, j.Close())
		sane(t, s, "old")
	}
}

func TestACopyOfAForeignFileCanBeImportedUnderAnotherID(t *testing.T) {
	s, _, b := foreignStore(t, "react-interrupted")
	_, err := s.Import(s.Path("old"), ImportOptions{As: "new"})
	check(t, err)
	sane(t, s, "new")
	if !bytes.Equal(slurp(t, s.Path("old")), b) {
		t.Error("the file was changed")
	}
}

func TestAForeignFileIsRemoved(t *testing.T) {
	s, _, _ := foreignStore(t, "react-interrupted")
	check(t, s.Remove("old", false))
	if names := in(t, s.dir); len(names) > 0 {
		t.Errorf("left are %q", names)
	}
}

// A file that kagent-ts left damaged is told as that, and stays as it is.
func TestADamagedForeignFileIsLeftAlone(t *testing.T) {
	for _, name := range []string{"corrupt-empty", "corrupt-truncated"} {
		s, _, _ := foreignStore(t, name)
		before := snapshot(t, s.dir)
		for what, err := range map[string]error{
			"open":   func() error { _, _, err := s.Open("old"); return err }(),
			"read":   func() error { _, err := s.Read("old"); return err }(),
			"adopt":  func() error { _, err := s.Adopt("old", ImportOptions{}); return err }(),
			"import": func() error { _, err := s.Import(s.Path("old"), ImportOptions{}); return err }(),
			"create": func() error { _, err := s.Create("old", task); return err }(),
			"remove": s.Remove("old", false),
		} {
			if !as[*DamagedError](err) {
				t.Errorf("%s, %s: error %T %v", name, what, err, err)
			}
		}
		list, err := s.List()
		check(t, err)
		if len(list) != 1 || list[0].Status != Damaged {
			t.Errorf("%s: listed are %+v", name, list)
		}
		if snapshot(t, s.dir) != before {
			t.Errorf("%s: something was changed", name)
		}
	}
}

// What is whole of it can be had.
func TestWhatIsWholeOfADamagedForeignFileIsSaved(t *testing.T) {
	whole := slurp(t, filepath.Join(tsFiles, "react-interrupted.json"))
	had := map[string]bool{}
	for n := 0; n < len(whole); n += 97 {
		s, _ := newTestStore(filepath.Join(mkdir(t), "sessions"))
		check(t, os.Mkdir(s.dir, dirMode))
		write(t, s.Path("old"), whole[:n])
		out, err := s.Repair("old", "")
		if n < 80 { // it does not tell what it was
			if !errors.Is(err, ErrBeyondRepair) {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		check(t, err)
		if out.SessionID != "old-repaired" || len(out.Lost) != 1 || out.Lost[0].Offset+out.Lost[0].Bytes != int64(n) {
			t.Fatalf("cut at %d: %+v", n, out)
		}
		st := sane(t, s, "old-repaired")
		had[outlineOf(st.Main())] = true
		if string(slurp(t, s.Path("old"))) != string(whole[:n]) {
			t.Fatalf("cut at %d: the file was changed", n)
		}
	}
	for _, want := range []string{"", "u n", "u a1 t n", "u a1 t a1 t n"} {
		if !had[want] {
			t.Errorf("no cut left %q: %v", want, had)
		}
	}
	s, _, _ := foreignStore(t, "corrupt-truncated")
	i, err := s.Import(s.Path("old"), ImportOptions{Damaged: true})
	check(t, err)
	if status, reason := sane(t, s, i.State.ID).Status(); status != session.Paused || reason != session.ReasonPrompt || len(i.Lost) != 1 {
		t.Errorf("%s: %s, lost %+v", status, reason, i.Lost)
	}
}

// Killed at any call, the original is there under one of its names, and the
// session can be read and gone on with.
func TestAnAdoptionLosesNothingWhereverItIsCut(t *testing.T) {
	for _, links := range []bool{true, false} {
		for n := 0; ; n++ {
			s, fsys, original := foreignStore(t, "orchestrator-active-synth-killed")
			was, err := s.Read("old")
			check(t, err)
			fsys.half = true
			left := n
			fsys.fail = func(call string) error {
				if left--; left < 0 {
					return errKilled
				}
				if !links && strings.HasPrefix(call, "link ") {
					return syscall.EPERM
				}
				return nil
			}
			_, err = s.Adopt("old", ImportOptions{})
			fsys.heal()
			kept := func() {
				t.Helper()
				found := bytes.Equal(slurp(t, s.Path("old")), original)
				for _, name := range in(t, pathsOf(s.dir, "old").dir) {
					if b, err := os.ReadFile(filepath.Join(pathsOf(s.dir, "old").dir, name)); err == nil {
						found = found || bytes.Equal(b, original)
					}
				}
				if !found {
					t.Fatalf("killed at call %d: the original is lost", n)
				}
			}
			kept()
			if err == nil {
				if n < 30 {
					t.Fatalf("only %d calls were tried", n)
				}
				break
			}
			v, err := s.Read("old")
			check(t, err)
			if !reflect.DeepEqual(v.State.Main().Messages(), was.State.Main().Messages()) || graphState(v.State) != graphState(was.State) {
				t.Fatalf("killed at call %d: %v", n, v.State.Main().Messages())
			}
			if list, err := s.List(); err != nil || len(list) != 1 || list[0].Status != session.Interrupted {
				t.Fatalf("killed at call %d: %+v, %v", n, list, err)
			}
			if info, err := os.Stat(pathsOf(s.dir, "old").log); err == nil && info.Size() > 0 {
				r, err := s.Verify("old")
				check(t, err)
				for _, p := range r.Problems {
					if p.Kind != KindNote && p.Kind != KindPermissions { // the file is as its program had made it
						t.Fatalf("killed at call %d: verified as %+v", n, r.Problems)
					}
				}
			}
			if _, err := s.Adopt("old", ImportOptions{}); err != nil && !errors.Is(err, ErrExists) {
				t.Fatalf("killed at call %d: then %v", n, err)
			}
			j, rec := reopen(t, s, "old")
			if links && len(rec.Warnings) > 0 {
				t.Fatalf("killed at call %d: %q", n, rec.Warnings)
			}
			check(t, j.Commit())
			check(t, j.Close())
			sane(t, s, "old")
			kept()
		}
	}
}

// A disk that can't be read is none of the file's, nor of whoever named it.
func TestAFileThatTheDiskDoesNotGiveIsNoBadFile(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EMFILE} {
		s, fsys, _ := foreignStore(t, "react-interrupted")
		fsys.fail = func(call string) error {
			if strings.HasPrefix(call, "open ") {
				return errno
			}
			return nil
		}
		_, err := s.Import(s.Path("old"), ImportOptions{As: "new"})
		var failed *StorageError
		if !errors.As(err, &failed) || !errors.Is(err, errno) || !strings.Contains(err.Error(), "old.json") {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

func TestAnOriginalOfAnotherImportIsKeptToo(t *testing.T) {
	s, _, b := foreignStore(t, "react-interrupted")
	dir := pathsOf(s.dir, "old").dir
	check(t, os.Mkdir(dir, dirMode))
	write(t, filepath.Join(dir, importedName), []byte("something else"))
	_, err := s.Adopt("old", ImportOptions{})
	check(t, err)
	if !bytes.Equal(slurp(t, filepath.Join(dir, importedName)), b) || string(slurp(t, filepath.Join(dir, importedName+"-1"))) != "something else" {
		t.Errorf("there are %q", in(t, dir))
	}
	sane(t, s, "old")
}
