package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/script"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

var epoch = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

// fake is a tool that takes a text v. Each run is noted by its key.
type fake struct {
	name   string
	traits tool.Traits
	do     func(ctx context.Context, c tool.Call) tool.Result

	mu   sync.Mutex
	keys []string
}

func (f *fake) Spec() message.ToolSpec {
	return message.ToolSpec{Name: f.name, Schema: json.RawMessage(`{"type":"object","properties":{"v":{"type":"string"}},"required":["v"]}`)}
}

func (f *fake) Traits() tool.Traits { return f.traits }

func (f *fake) Run(ctx context.Context, c tool.Call) tool.Result {
	f.mu.Lock()
	f.keys = append(f.keys, c.Key)
	f.mu.Unlock()
	if f.do == nil {
		return tool.Success(f.name + " says " + arg(c.Args))
	}
	return f.do(ctx, c)
}

// file is a fake that changes one file.
type file struct {
	fake
	mu      sync.Mutex
	content map[string]string
	hashErr error
}

func (f *file) Change(args json.RawMessage) (*message.FileChange, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, after := "f", arg(args)
	if after == "refuse" {
		return nil, errors.New("this can't be written")
	}
	if after == "unrecognisable" {
		return nil, nil
	}
	return &message.FileChange{Path: path, Before: f.content[path], After: after}, nil
}

func (f *file) Hash(path string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.content[path], f.hashErr
}

func (f *file) Run(ctx context.Context, c tool.Call) tool.Result {
	f.mu.Lock()
	f.content["f"] = arg(c.Args)
	f.mu.Unlock()
	return f.fake.Run(ctx, c)
}

func newFile() *file {
	return &file{fake: fake{name: "put", traits: tool.Traits{Class: tool.Write}}, content: map[string]string{}}
}

func arg(args json.RawMessage) string {
	var a struct {
		V string `json:"v"`
	}
	_ = json.Unmarshal(args, &a)
	return a.V
}

func read(name string) *fake { return &fake{name: name, traits: tool.Traits{Class: tool.Read}} }
func execute(name string) *fake {
	return &fake{name: name, traits: tool.Traits{Class: tool.Execute}}
}

// model is a provider made of a function.
type model func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error)

func (m model) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	return m(ctx, req, emit)
}

func says(text string) provider.Reply {
	return provider.Reply{Parts: []message.Part{message.Text(text)}, Stop: message.StopEnd}
}

func parse(t testing.TB, yaml string) provider.Provider {
	t.Helper()
	s, err := script.Parse("test.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rig is a runner with all that it needs.
type rig struct {
	testing.TB
	*agent.Runner
	log      *ledger
	mu       sync.Mutex
	asked    []provider.Request
	observed []session.Data
}

// newRig takes a script, or a model; all tools are offered.
func newRig(t testing.TB, plays any, tools ...tool.Tool) *rig {
	t.Helper()
	set, err := tool.NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{TB: t, log: newLedger(session.Settings{Agent: "react", Model: "p/m", System: "be good", Tools: set.Names(), OnUnknown: "tell"})}
	var next provider.Provider
	switch p := plays.(type) {
	case string:
		next = parse(t, p)
	case model:
		next = p
	}
	keys := 0
	r.Runner = &agent.Runner{
		Journal: r.log, Tools: set, Strategy: agent.React,
		Provider: model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
			r.mu.Lock()
			r.asked = append(r.asked, req)
			r.mu.Unlock()
			return next.Stream(ctx, req, emit)
		}),
		NewKey:  func() string { keys++; return fmt.Sprintf("key-%d", keys) },
		Now:     func() time.Time { return epoch },
		Observe: func(_ string, d session.Data) { r.observed = append(r.observed, d) },
	}
	return r
}

// set changes the session's settings.
func (r *rig) set(change func(*session.Settings)) {
	s := r.log.state.Settings
	change(&s)
	_ = r.log.Append("", &session.SettingsChanged{Settings: s})
}

// reopen goes on with the log's first n events, as another process.
func (r *rig) reopen(n int) {
	r.log = r.log.reopened(n)
	r.Journal, r.asked = r.log, nil
}

// run runs and checks how the turn was closed and that it was.
func (r *rig) run(prompt string, status session.Status, reason session.Reason) agent.Finish {
	r.Helper()
	return r.runIn(r.Context(), prompt, status, reason)
}

func (r *rig) runIn(ctx context.Context, prompt string, status session.Status, reason session.Reason) agent.Finish {
	r.Helper()
	end, err := r.Run(ctx, prompt)
	if err != nil || end.Status != status || end.Reason != reason {
		r.Fatalf("the run ended %s %s (%+v), %v; want %s %s", end.Status, end.Reason, end.End.Error, err, status, reason)
	}
	if s, why := r.log.state.Status(); s != status || why != reason {
		r.Errorf("the log says %s %s, the run %s %s", s, why, status, reason)
	}
	if r.log.state.Main().Turn.Open || r.log.committed != len(r.log.events) {
		r.Errorf("the turn is not closed durably")
	}
	r.log.replays(r)
	return end
}

func (r *rig) answer(want string) {
	r.Helper()
	check(r, "the answer", r.log.state.Main().Answer(), want)
}

func check[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func checkList[T any](t testing.TB, what string, got []T, want ...T) {
	t.Helper()
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// twice replies with a call, then with an answer.
func twice(calls ...message.ToolCall) model {
	return func(_ context.Context, req provider.Request, _ func(provider.Event)) (provider.Reply, error) {
		if len(req.Messages) > 1 {
			return says("done"), nil
		}
		reply := provider.Reply{Stop: message.StopCalls}
		for _, c := range calls {
			reply.Parts = append(reply.Parts, message.Call(c))
		}
		return reply, nil
	}
}

// retrying asks again without a wait.
func retrying(next provider.Provider) provider.Provider {
	return provider.Retry(next, provider.RetryOptions{Retries: 2, Sleep: func(context.Context, time.Duration) error { return nil }})
}
