//go:build bench

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/provider/openai"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// The bounds are ratios within one run, so that they hold on any machine.
const (
	steps        = 100
	maxStorage   = 2.5 // times the loop without storage, plus the raw syncs
	maxStart     = 2.5 // times a bare cobra program
	maxSizeMB    = 15
	maxMemoryMiB = 35
)

// TestStorageCost runs 100 tool calls of 2 KB against a local model, with and
// without a disk.
func TestStorageCost(t *testing.T) {
	url := fakeModel(t)
	var with, without, raw []time.Duration
	for range 5 {
		without = append(without, timed(func() { loop(t, url, &memory{}) }))
		dir := t.TempDir()
		with = append(with, timed(func() {
			j, err := checkpoint.NewStore(dir, checkpoint.Options{}).Create("bench", created())
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			loop(t, url, j)
		}))
		raw = append(raw, timed(func() { syncs(t, t.TempDir()) }))
	}
	w, wo, r := median(with), median(without), median(raw)
	ratio := float64(w-r) / float64(wo)
	t.Logf("with storage %v, without %v, raw syncs %v: (with - syncs) / without = %.2f, at most %.1f", w, wo, r, ratio, maxStorage)
	if ratio > maxStorage {
		t.Errorf("storage costs %.2f times the loop without it, want at most %.1f", ratio, maxStorage)
	}
}

// TestStartSizeAndMemory measures the built binary.
func TestStartSizeAndMemory(t *testing.T) {
	dir := t.TempDir()
	kagent, bare := build(t, dir, "kagent", "."), build(t, dir, "bare", "./testdata/bare")
	var a, b []time.Duration
	for range 100 {
		a = append(a, timed(func() { run(t, dir, kagent, "version") }))
		b = append(b, timed(func() { run(t, dir, bare, "version") }))
	}
	ratio := float64(median(a)) / float64(median(b))
	t.Logf("kagent version %v, bare cobra %v: ratio %.2f, at most %.1f", median(a), median(b), ratio, maxStart)
	if ratio > maxStart {
		t.Errorf("start takes %.2f times a bare cobra program, want at most %.1f", ratio, maxStart)
	}
	info, err := os.Stat(kagent)
	if err != nil {
		t.Fatal(err)
	}
	size := float64(info.Size()) / 1e6
	memory := run(t, dir, kagent, "run", "--model", "demo", "--quiet", "what is here?").Maxrss
	t.Logf("binary %.1f MB, at most %d; peak memory of a run %d MiB, at most %d", size, maxSizeMB, memory/1024, maxMemoryMiB)
	if size > maxSizeMB || memory/1024 > maxMemoryMiB {
		t.Errorf("binary %.1f MB or memory %d MiB over the bound", size, memory/1024)
	}
}

func created() session.Created {
	return session.Created{Task: "go", Settings: session.Settings{Agent: "react", Model: "openai/m", Tools: []string{"blob"}}}
}

func loop(t *testing.T, url string, j agent.Journal) {
	p, err := openai.New(openai.Options{Model: "m", BaseURL: url, APIKey: "test"})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := tool.NewSet(blob{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	r := agent.Runner{Journal: j, Provider: p, Tools: tools, Strategy: agent.React, NewKey: func() string { n++; return fmt.Sprint(n) }}
	end, err := r.Run(context.Background(), "")
	if err != nil || end.Status != session.Completed {
		t.Fatal(end, err)
	}
	if got := j.State().ToolCalls; got != steps {
		t.Fatalf("%d tool calls, want %d", got, steps)
	}
}

// syncs does what the disk is asked for, and nothing else: two syncs of a log,
// one of a checkpoint and one of its directory a step.
func syncs(t *testing.T, dir string) {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	check := func(errs ...error) {
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for range steps {
		for range 2 {
			_, err := log.Write(make([]byte, 1500))
			check(err, log.Sync())
		}
		f, err := os.Create(filepath.Join(dir, "temp"))
		check(err)
		_, err = f.Write(make([]byte, 1000))
		check(err, f.Sync(), f.Close(), os.Rename(filepath.Join(dir, "temp"), filepath.Join(dir, "file")), checkpoint.OS{}.SyncDir(dir))
	}
}

// memory is a journal without a disk.
type memory struct {
	state session.State
	began bool
}

func (m *memory) State() *session.State { return &m.state }
func (m *memory) Sync() error           { return nil }
func (m *memory) Commit() error         { return nil }
func (m *memory) Append(scope string, data ...session.Data) error {
	if !m.began {
		m.began = true
		c := created()
		m.apply("", &c)
	}
	for _, d := range data {
		m.apply(scope, d)
	}
	return nil
}

func (m *memory) apply(scope string, d session.Data) {
	m.state.Apply(session.Event{Seq: m.state.Seq + 1, Time: time.Now(), Scope: scope, Type: d.Type(), Data: d})
}

// blob is a tool that returns 2 KB; its class makes it one with an effect.
type blob struct{}

func (blob) Spec() message.ToolSpec {
	return message.ToolSpec{Name: "blob", Description: "2 KB", Schema: []byte(`{"type":"object"}`)}
}
func (blob) Traits() tool.Traits { return tool.Traits{Class: tool.Execute} }
func (blob) Run(context.Context, tool.Call) tool.Result {
	return tool.Success(strings.Repeat("0123456789abcde\n", 128))
}

// fakeModel calls blob until there are enough results.
func fakeModel(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		n := strings.Count(string(body), `"role":"tool"`)
		w.Header().Set("Content-Type", "text/event-stream")
		if n < steps {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"c%d\",\"type\":\"function\",\"function\":{\"name\":\"blob\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n", n)
			return
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"done\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func build(t *testing.T, dir, name, pkg string) string {
	out := filepath.Join(dir, name)
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, b)
	}
	return out
}

func run(t *testing.T, dir string, args ...string) *syscall.Rusage {
	c := exec.Command(args[0], args[1:]...)
	c.Dir = dir
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, b)
	}
	return c.ProcessState.SysUsage().(*syscall.Rusage)
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}
