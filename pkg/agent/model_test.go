package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// F048: a model that fails ends the turn, never the session.
func TestHowATurnEndsWhenTheModelFails(t *testing.T) {
	for kind, want := range map[provider.Kind]struct {
		status session.Status
		reason session.Reason
	}{
		provider.Network:        {session.Interrupted, session.ReasonNetwork},
		provider.Timeout:        {session.Interrupted, session.ReasonTimeout},
		provider.Overloaded:     {session.Interrupted, session.ReasonOverloaded},
		provider.RateLimit:      {session.Interrupted, session.ReasonRateLimit},
		provider.Server:         {session.Interrupted, session.ReasonServer},
		provider.Auth:           {session.Failed, session.ReasonAuth},
		provider.Permission:     {session.Failed, session.ReasonPermission},
		provider.Quota:          {session.Failed, session.ReasonQuota},
		provider.InvalidRequest: {session.Failed, session.ReasonInvalidRequest},
		provider.NotFound:       {session.Failed, session.ReasonNotFound},
		provider.ContentFilter:  {session.Failed, session.ReasonContentFilter},
		provider.ContextLength:  {session.Paused, session.ReasonContextLength},
		provider.Cancelled:      {session.Cancelled, ""},
		"something new":         {session.Failed, session.ReasonInternal},
	} {
		failing := true
		r := newRig(t, model(func(_ context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
			if len(req.Messages) == 1 {
				return twice(message.ToolCall{ID: "c", Name: "look", Arguments: `{"v":"a"}`})(nil, req, emit)
			}
			if failing {
				return provider.Reply{}, &provider.Error{Kind: kind, Status: 599, RetryAfter: time.Hour, Message: "bad \xff", Provider: "p"}
			}
			return says("at last"), nil
		}), read("look"))
		end := r.run("", want.status, want.reason)
		e := end.End.Error
		if e == nil || e.Kind != string(kind) || e.Status != 599 || !strings.Contains(e.Message, "bad \uFFFD") {
			t.Errorf("%s: the error is %+v", kind, e)
		}
		later := epoch.Add(time.Hour)
		if kind == provider.ContextLength { // waiting does not help
			later = time.Time{}
		}
		check(t, string(kind)+": retryAt", end.End.RetryAt, later)
		check(t, string(kind)+": retryAt in the log", r.log.state.Main().Turn.RetryAt, later)
		checkList(t, "what was done before", results(r.log), "0 ok")
		failing = false
		r.run("", session.Completed, "")
		r.answer("at last")
	}
}

func TestAnErrorOfAnUnknownTypeFailsTheTurn(t *testing.T) {
	r := newRig(t, model(func(context.Context, provider.Request, func(provider.Event)) (provider.Reply, error) {
		return provider.Reply{}, errors.New("odd")
	}))
	end := r.run("", session.Failed, session.ReasonInternal)
	if !end.End.RetryAt.IsZero() || !strings.Contains(end.End.Error.Message, "odd") {
		t.Errorf("the end is %+v", end.End)
	}
}

// streaming plays steps of a stream on a clock that they move.
type streaming struct {
	now   time.Time
	rig   *rig
	steps []step
	reply provider.Reply
	err   error
}

type step struct {
	after time.Duration
	event provider.Event
	want  int // chunks in the log afterwards
}

func (s *streaming) Stream(_ context.Context, _ provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	for i, st := range s.steps {
		s.now = s.now.Add(st.after)
		emit(st.event)
		check(s.rig, "chunks after piece "+string(rune('0'+i)), len(data[*session.AssistantChunk](s.rig.log)), st.want)
	}
	return s.reply, s.err
}

func newStreaming(t *testing.T, reply provider.Reply, err error, steps ...step) *rig {
	s := &streaming{now: epoch, steps: steps, reply: reply, err: err}
	s.rig = newRig(t, model(s.Stream))
	s.rig.Now = func() time.Time { return s.now }
	return s.rig
}

func text(n int) provider.Event { return provider.Event{Text: strings.Repeat("x", n)} }

func cutOff() error {
	return &provider.Error{Kind: provider.Network, Message: "the stream ended early", Provider: "p"}
}

func TestStreamedTextIsWrittenDownNowAndThen(t *testing.T) {
	r := newStreaming(t, provider.Reply{}, cutOff(),
		step{0, text(10), 0},
		step{249 * time.Millisecond, text(10), 0},
		step{time.Millisecond, text(10), 1}, // a quarter of a second since the beginning
		step{249 * time.Millisecond, text(10), 1},
		step{0, text(4085), 1},
		step{0, text(1), 2}, // 4 KiB since the last
		step{time.Second, provider.Event{Reasoning: "hm"}, 2},
		step{0, text(5000), 3},
		step{0, text(7), 3},
	)
	r.run("", session.Interrupted, session.ReasonNetwork)
	var sizes []int
	for _, c := range data[*session.AssistantChunk](r.log) {
		sizes = append(sizes, len(c.Text))
	}
	checkList(t, "chunks", sizes, 30, 4096, 5000, 7) // the rest is kept when the stream is cut
	check(t, "the partial text", len(r.log.state.Main().Partial()), 30+4096+5000+7)
}

func TestAFinishedReplyLeavesNoPartialText(t *testing.T) {
	r := newStreaming(t, says("hello"), nil, step{time.Second, provider.Event{Text: "hel"}, 1}, step{0, provider.Event{Text: "lo"}, 1})
	var shown strings.Builder
	r.Delta = func(_ string, d agent.Delta) { shown.WriteString(d.Text) }
	r.run("", session.Completed, "")
	check(t, "what was shown", shown.String(), "hello")
	check(t, "the partial text", r.log.state.Main().Partial(), "")
	r.answer("hello")
}

func TestChunksAreNotSynced(t *testing.T) {
	r := newStreaming(t, says("x"), nil, step{time.Second, text(1), 1}, step{time.Second, text(1), 2})
	syncs := 0
	r.log.fail = func(op string, _ int) error {
		if !strings.HasPrefix(op, "append") {
			syncs++
		}
		return nil
	}
	r.run("", session.Completed, "")
	check(t, "syncs and commits: the turn's beginning and its end", syncs, 2)
}

func TestWhatAFailedAttemptStreamedIsVoid(t *testing.T) {
	retry := provider.Event{Retry: &provider.Retrying{Attempt: 1, Delay: 250 * time.Millisecond, Err: cutOff().(*provider.Error)}}
	r := newStreaming(t, provider.Reply{}, cutOff(),
		step{time.Second, provider.Event{Text: "old "}, 1},
		step{0, provider.Event{Text: "older "}, 1}, // not written yet, and now never
		step{0, retry, 1},
		step{0, provider.Event{Text: "new"}, 1},
	)
	r.run("", session.Interrupted, session.ReasonNetwork)
	check(t, "the partial text", r.log.state.Main().Partial(), "new")
	retried := data[*session.RequestRetried](r.log)
	if len(retried) != 1 || retried[0].Attempt != 1 || retried[0].DelayMs != 250 || retried[0].Error.Kind != "network" {
		t.Errorf("retries: %+v", retried)
	}
}

func TestAttemptsAreCountedOverRetriesAndResumes(t *testing.T) {
	r := newRig(t, `
replies:
  - when: {attempt: {max: 6}}
    error: {kind: overloaded}
  - text: "at attempt {{attempt}}"
`)
	r.Provider = retrying(r.Provider)
	r.run("", session.Interrupted, session.ReasonOverloaded) // 1 to 3
	r.run("", session.Interrupted, session.ReasonOverloaded) // 4 to 6
	r.run("", session.Completed, "")
	r.answer("at attempt 7")
}

// A resume must see what the run saw.
func TestWhatCannotBeStoredIsReplacedBeforeItIsUsed(t *testing.T) {
	look := read("look")
	r := newRig(t, model(func(_ context.Context, req provider.Request, _ func(provider.Event)) (provider.Reply, error) {
		if len(req.Messages) > 1 {
			reply := says("bad \xed\xa0\xbd\x00") // F021
			reply.Parts[0].Opaque = []byte(`{"s":`)
			return reply, nil
		}
		return provider.Reply{Parts: []message.Part{
			{Type: message.TypeReasoning, Text: "hm", Opaque: []byte(`{"s":"="}`)},
			{Type: message.TypeReasoning, Text: "deep", Opaque: []byte(strings.Repeat("[", 9_990) + strings.Repeat("]", 9_990))},
			{Type: message.TypeReasoning, Text: "quoted", Opaque: []byte(`"` + strings.Repeat(`[\"`, 9_990) + `"`)},
			message.Call(message.ToolCall{ID: "a\xff", Name: "look", Arguments: "{\"v\":\"\xff\"}"}),
		}}, nil
	}), look)
	r.run("", session.Completed, "") // checks that the log leads to the same state
	r.answer("bad \uFFFD\uFFFD")
	checkList(t, "results", results(r.log), "0 ok")
	check(t, "vendor's data that are sound", string(r.asked[1].Messages[1].Parts[0].Opaque), `{"s":"="}`)
	check(t, "those that are nested too deep to be read again", len(r.asked[1].Messages[1].Parts[1].Opaque), 0)
	check(t, "brackets in a string", len(r.asked[1].Messages[1].Parts[2].Opaque), 3*9_990+2)
}

func TestAPanicOfAProviderEndsTheTurnNotTheProcess(t *testing.T) {
	r := newRig(t, model(func(context.Context, provider.Request, func(provider.Event)) (provider.Reply, error) {
		panic("at \xff the disco")
	}))
	if end := r.run("", session.Failed, session.ReasonInternal); !strings.Contains(end.End.Error.Message, "at \uFFFD the disco") {
		t.Errorf("it says %q", end.End.Error.Message)
	}
}
