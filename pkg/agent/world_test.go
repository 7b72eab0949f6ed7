package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/checkpoint"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// world is what lies outside of a session and outlives every crash: effects
// by the key of their call, and files.
type world struct {
	mu    sync.Mutex
	count map[string]int
	files map[string]string
}

func newWorld() *world { return &world{count: map[string]int{}, files: map[string]string{}} }

// deed is a tool that acts on a world. It takes a text v, and a path if it is
// one that writes.
type deed struct {
	w      *world
	name   string
	traits tool.Traits
}

type deedArgs struct{ V, Path string }

func (d deed) Spec() message.ToolSpec {
	return message.ToolSpec{Name: d.name, Schema: json.RawMessage(
		`{"type":"object","properties":{"v":{"type":"string"},"path":{"type":"string"}},"required":["v"],"additionalProperties":false}`)}
}

func (d deed) Traits() tool.Traits { return d.traits }

func (d deed) Run(_ context.Context, c tool.Call) tool.Result {
	return tool.Success(d.w.happen(d.name, c.Key, c.Args))
}

// happen makes the effect of a call.
func (w *world) happen(name, key string, raw json.RawMessage) string {
	var a deedArgs
	_ = json.Unmarshal(raw, &a)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count[key]++
	if name == "put" {
		w.files[a.Path] = a.V
	}
	return name + " did " + a.V
}

// writer is a deed whose effect the file itself shows.
type writer struct{ deed }

func (p writer) Change(raw json.RawMessage) (*message.FileChange, error) {
	var a deedArgs
	_ = json.Unmarshal(raw, &a)
	before, err := p.Hash(a.Path)
	return &message.FileChange{Path: a.Path, Before: before, After: a.V}, err
}

func (p writer) Hash(path string) (string, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.files[path], nil
}

// failing is a deed that comes to nothing.
type failing struct{ deed }

func (d failing) Run(ctx context.Context, c tool.Call) tool.Result {
	d.deed.Run(ctx, c)
	code := 1
	return tool.Result{Outcome: tool.Failed, Text: "no " + arg(c.Args), ExitCode: &code}
}

func (w *world) tools(t testing.TB) *tool.Set {
	set, err := tool.NewSet(
		deed{w, "look", tool.Traits{Class: tool.Read}},
		deed{w, "act", tool.Traits{Class: tool.Execute}},
		deed{w, "ping", tool.Traits{Class: tool.Network, Idempotent: true}},
		writer{deed{w, "put", tool.Traits{Class: tool.Write}}},
		deed{w, "forbidden", tool.Traits{Class: tool.Execute}},
		failing{deed{w, "miss", tool.Traits{Class: tool.Read}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// quickFS is the real file system without its syncs: these tests cut logs,
// not the power.
type quickFS struct{ checkpoint.OS }

func (f quickFS) Open(name string, flag int, perm os.FileMode) (checkpoint.File, error) {
	file, err := f.OS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return quickFile{file}, nil
}

func (quickFS) SyncDir(string) error { return nil }

type quickFile struct{ checkpoint.File }

func (quickFile) Sync() error { return nil }

// dying is a journal whose process is killed once it has written so many more
// events, in the middle of an append if need be.
type dying struct {
	*checkpoint.Journal
	left int
}

func (d *dying) Append(scope string, data ...session.Data) error {
	if len(data) <= d.left {
		d.left -= len(data)
		return d.Journal.Append(scope, data...)
	}
	if d.left > 0 {
		_ = d.Journal.Append(scope, data[:d.left]...)
	}
	d.left = -1
	return errDisk
}

func (d *dying) Sync() error {
	if d.left < 0 {
		return errDisk
	}
	return d.Journal.Sync()
}

func (d *dying) Commit() error {
	if d.left < 0 {
		return errDisk
	}
	return d.Journal.Commit()
}

// play is a session that a script plays.
type play struct {
	name    string
	agent   string // default react
	script  string
	set     func(*session.Settings) // may change the settings
	prompts []string                // of further turns
	midway  string                  // a prompt that comes when the run was interrupted first
	approve bool                    // the plan, when it is shown
	end     session.Status
	retry   bool // ask again at once when the model fails
}

// stage is a directory of sessions that holds one, called s, and its world.
type stage struct {
	testing.TB
	play  play
	store *checkpoint.Store
	dir   string
	w     *world
	tools *tool.Set // default: those of w
	keys  int
	final *session.State // of a session that was not cut

	mu    sync.Mutex
	asked int // requests that brought a reply
}

// tempDir is in memory where there is such a place: these are many sessions,
// and a busy disk would be all that they wait for.
func tempDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "kagent-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func newStage(t testing.TB, p play) *stage {
	s := &stage{TB: t, play: p, dir: tempDir(t), w: newWorld()}
	var ticks atomic.Int64
	s.store = checkpoint.NewStore(s.dir, checkpoint.Options{
		FS: quickFS{}, Owner: session.Opened{Host: "h"},
		Now: func() time.Time { return epoch.Add(time.Duration(ticks.Add(1)) * time.Millisecond) },
	})
	return s
}

func (s *stage) log() string { return filepath.Join(s.dir, "s", "events.jsonl") }

func (s *stage) create(tools ...string) *checkpoint.Journal {
	s.Helper()
	settings := session.Settings{Agent: s.play.strategy(), Model: "script:x", System: "be good", Tools: tools, OnUnknown: "tell"}
	if s.play.set != nil {
		s.play.set(&settings)
	}
	j, err := s.store.Create("s", session.Created{Task: "the task", Settings: settings})
	if err != nil {
		s.Fatal(err)
	}
	return j
}

func (s *stage) open() *checkpoint.Journal {
	s.Helper()
	j, _, err := s.store.Open("s")
	if err != nil {
		s.Fatal(err)
	}
	return j
}

func (p play) strategy() string {
	if p.agent == "" {
		return "react"
	}
	return p.agent
}

// counted notes what is asked of a model.
func (s *stage) counted(next provider.Provider) provider.Provider {
	return model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		reply, err := next.Stream(ctx, req, emit)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.asked++
		}
		return reply, err
	})
}

// runner is one process's.
func (s *stage) runner(j agent.Journal) *agent.Runner {
	s.Helper()
	p := s.counted(parse(s, s.play.script))
	if s.play.retry {
		p = retrying(p)
	}
	set := s.w.tools(s)
	if s.tools != nil {
		set = s.tools
	}
	return &agent.Runner{
		Journal: j, Provider: p, Tools: set, Strategy: agent.ByName(s.play.strategy()),
		NewKey: func() string { s.keys++; return time.Duration(s.keys).String() + s.dir },
		Now:    func() time.Time { return epoch },
	}
}

// perform runs until there is nothing more to do: it goes on with a turn that
// was interrupted, consents to a plan, and says what was not said yet.
func (s *stage) perform(j agent.Journal) (agent.Finish, error) {
	s.Helper()
	r := s.runner(j)
	run := func(prompt string) (end agent.Finish, err error) {
		for range 4 {
			end, err = r.Run(s.Context(), prompt)
			prompt = ""
			switch {
			case err != nil:
				return end, err
			case end.Reason == session.ReasonPlan && s.play.approve && s.allSaid(j.State()):
				err = j.Append("", &session.ApprovalGiven{What: "plan"})
			case end.Status != session.Interrupted:
				return end, nil
			}
			if err != nil {
				return end, err
			}
		}
		return end, err
	}
	if s.play.midway != "" && !heard(j.State(), s.play.midway) {
		if end, err := r.Run(s.Context(), ""); err != nil {
			return end, err
		}
		return run(s.play.midway)
	}
	end, err := run("")
	for _, prompt := range s.play.prompts {
		if err == nil && !heard(j.State(), prompt) {
			end, err = run(prompt)
		}
	}
	return end, err
}

func (s *stage) allSaid(state *session.State) bool {
	return !slices.ContainsFunc(s.play.prompts, func(p string) bool { return !heard(state, p) })
}

func heard(s *session.State, prompt string) bool {
	for _, e := range s.Main().Entries {
		if e.User != nil && e.User.Text == prompt {
			return true
		}
	}
	return false
}
