package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kagent/pkg/session"
)

func TestOneOwner(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	other, _ := newTestStore(s.Dir())
	for what, err := range map[string]error{
		"open":   func() error { _, _, err := other.Open("s"); return err }(),
		"create": func() error { _, err := other.Create("s", task); return err }(),
		"remove": other.Remove("s", true),
	} {
		e := wantError[*InUseError](t, err)
		if e.Tools || e.Holder.PID != os.Getpid() || e.Holder.BootID != "boot" || !strings.Contains(e.Error(), fmt.Sprint(os.Getpid())) {
			t.Errorf("%s: %+v", what, e)
		}
	}
	toolStep(t, j, "I look.", "a", 1) // and nobody disturbed it
	check(t, j.Close())
	j, _ = reopen(t, other, "s")
	check(t, j.Close())
}

// Between the opening of the lock file and its locking, the session was removed
// and perhaps made anew: the lock is nobody's any more.
func TestLockOfARemovedSessionIsNotTaken(t *testing.T) {
	for _, again := range []bool{false, true} {
		s, fsys := newTestStore(t.TempDir())
		finished(t, s, "s")
		other, _ := newTestStore(s.Dir())
		fsys.fail = func(call string) error {
			if call == "stat lock" {
				check(t, os.Rename(pathsOf(s.Dir(), "s").dir, filepath.Join(s.Dir(), ".removed-s-0")))
				check(t, os.Remove(pathsOf(s.Dir(), "s").checkpoint))
				if again {
					finished(t, other, "s")
				}
			}
			return nil
		}
		_, _, err := s.Open("s")
		if again {
			// It is there, only not the one that was asked for; damage it is not.
			fsys.heal()
			j, _ := reopen(t, s, "s")
			check(t, j.Close())
		} else {
			wantError[*NotFoundError](t, err)
		}
		if err == nil {
			t.Error("a lock without a name was taken")
		}
	}
}

// What the lock file says is for people: nonsense in it stops nobody.
func TestStaleLockFileStopsNobody(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	for _, text := range []string{"", "garbage", `{"pid":1,"host":"elsewhere"}`, strings.Repeat("x", 5000)} {
		id := fmt.Sprintf("s%d", len(text))
		finished(t, s, id)
		write(t, pathsOf(s.Dir(), id).lock, []byte(text))
		v, err := s.Read(id)
		if err != nil || v.Owner != nil {
			t.Errorf("%.20q: owner %v, %v", text, v.Owner, err)
		}
		j, _ := reopen(t, s, id)
		if v, err := s.Read(id); err != nil || v.Owner == nil || v.Owner.PID != os.Getpid() {
			t.Errorf("%.20q: owner %v, %v", text, v.Owner, err)
		}
		write(t, pathsOf(s.Dir(), id).lock, []byte(text))
		if v, err := s.Read(id); err != nil || v.Owner == nil {
			t.Errorf("%.20q: a live owner is not seen (%v)", text, err)
		}
		check(t, j.Close())
	}
}

func TestThisProcessSaysWhoItIs(t *testing.T) {
	o := ThisProcess("v1")
	if o.PID != os.Getpid() || o.Host == "" || o.Version != "v1" {
		t.Errorf("%+v", o)
	}
	for h, want := range map[Holder]string{
		{}: "another process", {PID: 7, Host: "here", StartedAt: time.Unix(0, 0).UTC()}: "process 7 on here, since 1970-01-01T00:00:00Z",
	} {
		if h.String() != want {
			t.Errorf("%q, want %q", h, want)
		}
	}
}

// A tool outlives its run: until it ends, nothing runs in the session.
func TestToolOfADeadRunKeepsTheSession(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	tool := exec.Command("cat") // lives as long as its input
	tool.ExtraFiles = []*os.File{j.ToolsLock()}
	input, err := tool.StdinPipe()
	check(t, err)
	check(t, tool.Start())
	check(t, j.Close())

	_, _, err = s.Open("s")
	if e := wantError[*InUseError](t, err); !e.Tools || e.Holder.PID != os.Getpid() || !strings.Contains(e.Error(), "tool") {
		t.Errorf("%+v %v", e, e)
	}
	v, err := s.Read("s")
	check(t, err)
	if status, reason := v.Status(); status != session.Interrupted || reason != session.ReasonCrash {
		t.Errorf("readers see %s %s", status, reason)
	}
	check(t, input.Close())
	check(t, tool.Wait())
	j, _ = reopen(t, s, "s")
	check(t, j.Close())
}

func TestReadersNeverMakeAWriterFail(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	const polls, rounds = 2000, 60
	failed := make(chan error, 1)
	go func() {
		defer close(failed)
		for n := range rounds {
			j, _, err := s.Open("s")
			if err == nil {
				err = j.Append("", said(strings.Repeat("x", 1+n%7*100)))
			}
			if err == nil {
				err = j.Commit()
			}
			if err == nil {
				err = j.Close()
			}
			if err != nil {
				failed <- fmt.Errorf("round %d: %w", n, err)
				return
			}
		}
	}()
	reader := NewStore(s.Dir(), Options{})
	poll := func(n int) {
		list, err := reader.List()
		if err != nil || len(list) != 1 || list[0].Status == Damaged {
			t.Fatalf("poll %d: %+v %v", n, list, err)
		}
		if n%10 == 0 {
			if _, err := reader.Read("s"); err != nil {
				t.Fatalf("poll %d: %v", n, err)
			}
		}
	}
	for n := range polls {
		poll(n)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if v, err := reader.Read("s"); err != nil || v.State.Epoch != rounds+1 {
		t.Errorf("epoch %d, %v", v.State.Epoch, err)
	}
}

// A session that is made or removed while it is read is there or not; it is
// never damaged.
func TestReadersOfComingAndGoingSessionsSeeNoDamage(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	done := make(chan error, 1)
	go func() {
		var err error
		for n := 0; n < 60 && err == nil; n++ {
			var j *Journal
			if j, err = s.Create(fmt.Sprintf("s%d", n), task); err == nil {
				err = errors.Join(j.Commit(), j.Close(), s.Remove(fmt.Sprintf("s%d", n), false))
			}
		}
		done <- err
	}()
	reader := NewStore(s.Dir(), Options{})
	for n := 0; ; n++ {
		select {
		case err := <-done:
			check(t, err)
			return
		default:
		}
		list, err := reader.List()
		check(t, err)
		for _, sum := range list {
			if sum.Status == Damaged {
				t.Fatalf("poll %d: %+v", n, sum)
			}
		}
	}
}

// together runs f n times at once and returns the errors.
func together(n int, f func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-start
			errs[i] = f(i)
		}()
	}
	close(start)
	wg.Wait()
	return errs
}

func TestOfManyCreatesOfOneIDOneWins(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		journals := make([]*Journal, 20)
		errs := together(20, func(i int) error {
			s := NewStore(dir, Options{})
			var err error
			journals[i], err = s.Create("s", task)
			return err
		})
		won := 0
		for i, err := range errs {
			var inUse *InUseError
			switch {
			case err == nil:
				won++
				defer journals[i].Close()
			case !errors.As(err, &inUse) && !errors.Is(err, ErrExists):
				t.Errorf("%v", err)
			}
		}
		if won != 1 {
			t.Fatalf("%d of 20 won", won)
		}
	}
}

// F009: twenty runs in one new directory are twenty sessions.
func TestCreatesOfDifferentIDsDoNotDisturbEachOther(t *testing.T) {
	dir := t.TempDir() + "/new"
	errs := together(20, func(i int) error {
		s := NewStore(dir, Options{})
		j, err := s.Create(fmt.Sprintf("s%d", i), task)
		if err != nil {
			return err
		}
		return errors.Join(j.Commit(), j.Close())
	})
	check(t, errors.Join(errs...))
	list, err := NewStore(dir, Options{}).List()
	if err != nil || len(list) != 20 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}
