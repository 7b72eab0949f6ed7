//go:build soak

package soak

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// world is what all sessions share.
type world struct {
	t       *testing.T
	seed    uint64
	time    time.Duration
	began   time.Time
	quota   int64 // steps that have to be done, however long it takes
	steps   atomic.Int64
	binary  string
	dir     string // that kagent runs in
	store   string // the sessions, on a small disk of their own where that can be
	effects string // what tools did to the outside world; never full
	url     string
	model   *model
	disk    *disk
	slots   chan struct{} // processes at once
	over    chan struct{} // closed when all sessions have ended

	mu       sync.Mutex
	problems []string
	counts   map[string]int
	codes    map[string]int
	peak     int64             // KiB
	notes    map[string]string // what was sent, to which session
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, seed: seedOf(t), time: timeOf(t), over: make(chan struct{}), slots: make(chan struct{}, 3*runtime.NumCPU()),
		counts: map[string]int{}, codes: map[string]int{}, notes: map[string]string{},
	}
	t.Logf("SOAK_SEED=%d SOAK_TIME=%v", w.seed, w.time)
	w.quota = int64(fullSteps * w.time.Seconds() / fullTime.Seconds())
	w.dir = t.TempDir()
	if keep := os.Getenv("SOAK_KEEP"); keep != "" {
		w.dir = keep
	}
	w.store, w.effects = filepath.Join(w.dir, "sessions"), filepath.Join(w.dir, "effects")
	for _, dir := range []string{w.store, w.effects, filepath.Join(w.dir, "work", "out")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(w.dir, "work", "notes.txt"), []byte("the notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.disk = newDisk(t, w.store)
	w.build()
	w.model = &model{world: w, random: rand.New(rand.NewPCG(w.seed, 1))}
	server := httptest.NewServer(w.model)
	t.Cleanup(server.Close)
	w.url = server.URL + "/v1"
	w.began = time.Now()
	return w
}

func (w *world) build() {
	w.t.Helper()
	w.binary = filepath.Join(w.t.TempDir(), "kagent")
	c := exec.Command("go", "build", "-o", w.binary, "../..")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("go build: %v\n%s", err, out)
	}
}

// disturbing reports whether there is still trouble to come.
func (w *world) disturbing() bool { return time.Since(w.began) < w.time }

// problem takes down what must not be.
func (w *world) problem(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.problems) < 50 {
		w.problems = append(w.problems, fmt.Sprintf(format, args...))
		w.t.Errorf("after %v: "+format, append([]any{time.Since(w.began).Round(time.Millisecond)}, args...)...)
	}
}

func (w *world) count(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[what]++
}

// process is a command of kagent's.
type process struct {
	*exec.Cmd
	out, said bytes.Buffer
}

func (w *world) command(args ...string) *process {
	p := &process{Cmd: exec.Command(w.binary, append(args, "--dir", w.store)...)}
	p.Dir = filepath.Join(w.dir, "work")
	p.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "EFFECTS=" + w.effects}
	p.Stdout, p.Stderr = &p.out, &p.said
	return p
}

// limited has the files of a process end at so many bytes.
func (p *process) limited(bytes int64) {
	p.Path, p.Args = "/bin/sh", append([]string{"sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, bytes/512+1)}, p.Args...)
}

// wait waits for its end, and looks at what no end may have.
func (w *world) wait(p *process) ended {
	late := time.AfterFunc(3*time.Minute, func() { p.Process.Kill() })
	p.Wait()
	if !late.Stop() {
		w.problem("%q hangs: %s", p.Args, p.said.String())
	}
	e := ended{p.ProcessState.ExitCode(), p.out.String(), p.said.String(), 0}
	if s := p.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		e.signal = s.Signal()
	}
	if strings.Contains(e.said, "goroutine ") {
		w.problem("%q shows its stacks: %s", p.Args, e.said)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.codes[e.how()]++
	w.peak = max(w.peak, p.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	return e
}

// ended is how a process did.
type ended struct {
	code      int
	out, said string
	signal    syscall.Signal
}

func (e ended) how() string {
	if e.signal != 0 {
		return e.signal.String()
	}
	return fmt.Sprint(e.code)
}

// run runs a command of the operator's to its end.
func (w *world) run(args ...string) ended {
	p := w.command(args...)
	if err := p.Start(); err != nil {
		w.problem("%v", err)
		return ended{code: -1}
	}
	return w.wait(p)
}
