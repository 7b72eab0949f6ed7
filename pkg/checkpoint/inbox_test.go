package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestLettersAreTakenInTheOrderTheyWereSentAndStayUntilDone(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	texts := []string{"first", "第二 🚀", "ثالث", strings.Repeat("x", 1<<20)}
	for _, text := range texts {
		in, err := s.Inbox("s")
		check(t, err)
		_, err = in.Send(text)
		check(t, err)
	}
	in, err := s.Inbox("s")
	check(t, err)
	for range 2 {
		letters, err := in.Take()
		check(t, err)
		if len(letters) != len(texts) {
			t.Fatalf("%d letters", len(letters))
		}
		for i, l := range letters {
			if l.Text != texts[i] || l.ID == "" || l.Time.IsZero() {
				t.Errorf("letter %d: %.40q %+v", i, l.Text, l.ID)
			}
		}
	}
	letters, _ := in.Take()
	check(t, in.Done([]string{letters[0].ID, letters[1].ID}))
	check(t, in.Done([]string{letters[0].ID})) // a second time
	if left, err := in.Take(); err != nil || len(left) != 2 || left[0].Text != texts[2] || in.Empty() {
		t.Errorf("left %d, %v", len(left), err)
	}
	if r, err := s.Verify("s"); err != nil || !r.OK || len(r.Problems) > 0 {
		t.Errorf("%+v %v", r, err)
	}
	check(t, s.Remove("s", false))
	if _, err := s.Inbox("s"); err == nil {
		t.Error("a removed session has an inbox")
	}
	if _, err := in.Send("too late"); err == nil {
		t.Error("a letter to a removed session was taken")
	}
	if _, err := os.Lstat(filepath.Join(s.Dir(), "s")); err == nil {
		t.Error("a letter brought a removed session's directory back")
	}
}

// What a cut sender, or somebody else, left in an inbox stops nobody.
func TestAnInboxIgnoresWhatIsNoLetter(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	finished(t, s, "s")
	in, err := s.Inbox("s")
	check(t, err)
	if letters, err := in.Take(); err != nil || len(letters) != 0 || !in.Empty() {
		t.Errorf("%v %v", letters, err)
	}
	id, err := in.Send("real")
	check(t, err)
	dir := filepath.Join(s.Dir(), "s", "inbox")
	for name, text := range map[string]string{
		"tmp-1": `{"id":"1"}`, "bad.json": "{", "empty.json": "", "other.json": `{"id":"not its name","text":"x"}`, "note": "hi",
	} {
		write(t, filepath.Join(dir, name), []byte(text))
	}
	check(t, syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600))
	check(t, os.Symlink("/etc/hostname", filepath.Join(dir, "link.json")))
	check(t, os.Mkdir(filepath.Join(dir, "dir.json"), 0o700))
	letters, err := in.Take()
	if err != nil || len(letters) != 1 || letters[0].ID != id {
		t.Errorf("%v %v", letters, err)
	}
}

// A send that fails at any call leaves no letter and says so.
func TestASendThatFailsLeavesNoLetter(t *testing.T) {
	s, fsys := newTestStore(t.TempDir())
	finished(t, s, "s")
	for n := 1; ; n++ {
		in, err := s.Inbox("s")
		check(t, err)
		calls := 0
		fsys.fail = func(call string) error {
			if calls++; calls == n {
				return syscall.ENOSPC
			}
			return nil
		}
		_, err = in.Send("text")
		fsys.heal()
		if calls < n {
			check(t, err)
			break
		}
		letters, terr := in.Take()
		check(t, terr)
		if want := map[bool]int{true: 1}[err == nil]; len(letters) != want {
			t.Fatalf("call %d: %v, and %d letters", n, err, len(letters))
		}
		for _, l := range letters { // a clean-up that failed changed nothing
			check(t, in.Done([]string{l.ID}))
		}
	}
}

// Only the process that has the session is asked to stop, not the next one.
func TestTheNextOwnerIsNotAskedToStop(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	other, err := s.Inbox("s")
	check(t, err)
	if j.Inbox().Asked() {
		t.Error("asked by nobody")
	}
	check(t, other.AskToStop())
	check(t, other.AskToStop())
	if !j.Inbox().Asked() {
		t.Error("not asked")
	}
	check(t, j.Close())
	j, _ = reopen(t, s, "s")
	if j.Inbox().Asked() {
		t.Error("the next owner is asked")
	}
	check(t, j.Close())
}
