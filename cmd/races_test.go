package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func quickScript(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	script := "replies:\n  - when: {tool_results: 0}\n    tool_calls: [{name: list_files, arguments: {path: .}}]\n  - text: \"answer to {{last_user}}\"\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What is sent around the end of a run is heard once: by that run, or by the
// next one.
func TestWhatIsSentAroundTheEndIsHeardOnce(t *testing.T) {
	dir := quickScript(t)
	for _, id := range strings.Fields("a b c d e f g h") {
		c, _ := kagentIn(t, dir, "run", "-s", id, "-m", "script:s.yaml", "go")
		rest := said(t, c, "session "+id)
		send, out := kagentIn(t, dir, "send", id, "one more")
		if err := send.Run(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		rest()
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		resume, out := kagentIn(t, dir, "resume", "-q", id)
		if err := resume.Run(); err != nil || !strings.Contains(out.String(), "answer to one more\n") {
			t.Errorf("%s: %v\n%s", id, err, out)
		}
		show, out := kagentIn(t, dir, "show", id, "--events")
		if err := show.Run(); err != nil || strings.Count(out.String(), `"text":"one more"`) != 1 {
			t.Errorf("%s: it was heard %d times (%v)", id, strings.Count(out.String(), `"text":"one more"`), err)
		}
	}
}

// A cancel around the end of a run comes too late or in time, and all agree on
// which.
func TestACancelAroundTheEndIsInTimeOrNot(t *testing.T) {
	dir := quickScript(t)
	for _, id := range strings.Fields("a b c d e f g h") {
		c, out := kagentIn(t, dir, "run", "-q", "-s", id, "-m", "script:s.yaml", "go")
		c.Stderr = nil
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		cancel, told := kagentIn(t, dir, "cancel", id)
		for cancel.Run(); cancel.ProcessState.ExitCode() == exitNotFound; { // it was not there yet
			cancel, told = kagentIn(t, dir, "cancel", id)
			cancel.Run()
		}
		c.Wait()
		list, stands := kagentIn(t, dir, "list", "-o", "json")
		if err := list.Run(); err != nil {
			t.Fatal(err)
		}
		completed := c.ProcessState.ExitCode() == exitOK && out.String() == "answer to go\n"
		cancelled := c.ProcessState.ExitCode() == exitSigint && out.Len() == 0
		status := map[bool]string{true: "completed", false: "cancelled"}[completed]
		if completed == cancelled || !strings.Contains(told.String(), "session "+id+" is "+status) ||
			!strings.Contains(stands.String(), `"sessionId":"`+id+`","agentType":"react","status":"`+status+`"`) {
			t.Errorf("%s: exit %d, printed %q, cancel said %q", id, c.ProcessState.ExitCode(), out, told)
		}
	}
}

// A session is removed or resumed, and never half of both.
func TestARemovalAgainstAResume(t *testing.T) {
	dir := quickScript(t)
	for _, id := range strings.Fields("a b c d e f") {
		limited, out := kagentIn(t, dir, "run", "-q", "-s", id, "--max-steps", "1", "-m", "script:s.yaml", "go")
		limited.Run()
		if code := limited.ProcessState.ExitCode(); code != exitLimit {
			t.Fatalf("exit %d\n%s", code, out)
		}
		resume, _ := kagentIn(t, dir, "resume", "-q", id, "--max-steps", "9")
		remove, _ := kagentIn(t, dir, "rm", id)
		var both sync.WaitGroup
		both.Go(func() { resume.Run() })
		both.Go(func() { remove.Run() })
		both.Wait()
		resumed, removed := resume.ProcessState.ExitCode(), remove.ProcessState.ExitCode()
		_, err := os.Stat(filepath.Join(dir, ".kagent-sessions", id))
		switch gone := os.IsNotExist(err); {
		case removed == exitOK && gone && (resumed == exitOK || resumed == exitNotFound || resumed == exitLocked):
		case removed == exitLocked && !gone && resumed == exitOK:
		default:
			t.Errorf("%s: resume %d, rm %d, gone %v", id, resumed, removed, gone)
		}
	}
}

// What a resumer of everything finds is removed or resumed, and never half of
// both; what is gone is no failure of the resumer's.
func TestARemovalAgainstAResumerOfEverything(t *testing.T) {
	dir, ids := interrupted(t, 6)
	resume, out := kagentIn(t, dir, "resume", "-q", "--interrupted", "--jobs", "2")
	if err := resume.Start(); err != nil {
		t.Fatal(err)
	}
	removed := map[string]int{}
	for i := range ids {
		id := ids[len(ids)-1-i]
		remove, _ := kagentIn(t, dir, "rm", "--force", id)
		remove.Run()
		removed[id] = remove.ProcessState.ExitCode()
	}
	if err := resume.Wait(); err != nil {
		t.Errorf("the resumer: %v\n%s", err, out)
	}
	for id, code := range removed {
		_, err := os.Stat(filepath.Join(dir, ".kagent-sessions", id))
		gone := os.IsNotExist(err)
		resumed := strings.Contains(out.String(), id+" completed\n")
		if code == exitOK && !gone || code == exitLocked && !resumed || code != exitOK && code != exitLocked {
			t.Errorf("%s: rm exits %d, gone %v, resumed %v", id, code, gone, resumed)
		}
	}
	once, err := os.ReadFile(filepath.Join(dir, "once"))
	for _, id := range ids {
		if n := strings.Count(string(once), id); n > 1 {
			t.Errorf("%s was done %d times (%v)", id, n, err)
		}
	}
}
