package cmd

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// monitor is a server that keeps what it was told.
func monitor(t *testing.T, status int) (address string, told func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		all = append(all, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+string(body)))
		mu.Unlock()
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/secret-id?create=1", func() []string {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func TestAMonitorIsToldOfStartAndEnd(t *testing.T) {
	dir := t.TempDir()
	script := "replies:\n  - when: {last_user_is: fail}\n    error: {kind: network, message: gone}\n  - text: done\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	start, good, bad := "POST /secret-id/start?create=1", "POST /secret-id?create=1", "POST /secret-id/fail?create=1 exit code "
	for _, c := range []struct {
		args []string
		last string
	}{
		{[]string{"run", "-s", "a", "-m", "script:s.yaml", "ok"}, good},
		{[]string{"run", "-s", "a", "-m", "script:s.yaml", "ok"}, bad + "2"},
		{[]string{"run", "-s", "a", "--if-exists", "skip", "ok"}, good}, // nothing to do is no failure
		{[]string{"run", "-s", "b", "--retries", "0", "-m", "script:s.yaml", "fail"}, bad + "75"},
		{[]string{"resume", "--interrupted"}, bad + "75"},
		{[]string{"resume", "a"}, good},
	} {
		address, told := monitor(t, 200)
		cmd, out := kagentIn(t, dir, append(c.args, "-q", "--heartbeat-url", address)...)
		cmd.Run()
		if got := strings.Join(told(), "\n"); got != start+"\n"+c.last {
			t.Errorf("%v: the monitor was told %q\n%s", c.args, got, out)
		}
		if strings.Contains(out.String(), "secret-id") {
			t.Errorf("%v: its address was said\n%s", c.args, out)
		}
	}
}

// Whatever a monitor does, the run counts.
func TestAMonitorThatFailsHarmsNoRun(t *testing.T) {
	dir := t.TempDir()
	address, _ := monitor(t, 500)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, address := range []string{address, gone.URL + "/secret-id"} {
		cmd, out := kagentIn(t, dir, "run", "-m", "demo", "--tools", "none", "--heartbeat-url", address, "hi")
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "warning: the heartbeat was not") || strings.Contains(out.String(), "secret-id") {
			t.Errorf("%v\n%s", err, out)
		}
	}
	cmd, out := kagentIn(t, dir, "run", "-m", "demo", "--heartbeat-url", "ftp://secret-id/", "hi")
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exitUsage || strings.Contains(out.String(), "secret-id") {
		t.Errorf("exit %d\n%s", code, out)
	}
}
