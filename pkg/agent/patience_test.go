package agent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

// A tool that hangs on a disk that does not answer ends neither never nor the run.
func TestAToolThatNeverEndsIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look, stuck := read("look"), make(chan int)
		defer close(stuck)
		look.do = func(context.Context, tool.Call) tool.Result { <-stuck; return tool.Success("") }
		r := newRig(t, plays("look a"), look)
		r.run("", session.Completed, "")
		if got := r.lastResult(); got.Outcome != session.OutcomeTimeout || !strings.Contains(got.Text, "left behind") {
			t.Errorf("%+v", got)
		}
	})
}

// The same, when a signal comes: the run ends soon after it was saved.
func TestAToolThatNeverEndsKeepsNoSignalWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look, stuck, begun := read("look"), make(chan int), make(chan int)
		defer close(stuck)
		look.do = func(context.Context, tool.Call) tool.Result { close(begun); <-stuck; return tool.Success("") }
		r := newRig(t, plays("look a"), look)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-begun; cancel() }()
		end, err := r.Run(ctx, "")
		if err != nil || end.Reason != session.ReasonSignal {
			t.Errorf("%+v %v", end, err)
		}
	})
}

// Text after which no more comes is written down all the same.
func TestTextThatStopsInTheMiddleIsWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		r = newRig(t, model(func(_ context.Context, _ provider.Request, emit func(provider.Event)) (provider.Reply, error) {
			emit(provider.Event{Text: "half an"})
			time.Sleep(time.Second) // of the bubble's clock
			synctest.Wait()
			check(t, "the log's text after a silence", r.log.state.Main().Partial(), "half an")
			emit(provider.Event{Text: " answer"})
			return says("half an answer"), nil
		}))
		r.run("", session.Completed, "")
		check(t, "chunks", len(data[*session.AssistantChunk](r.log)), 1)
	})
}

// A command that was given long to end is not left behind before that is over.
func TestACommandIsNotLeftBehindInItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, begun, cleaned := execute("slow"), make(chan int), false
		slow.do = func(ctx context.Context, _ tool.Call) tool.Result {
			close(begun)
			<-ctx.Done()
			time.Sleep(time.Minute) // of the bubble's clock
			cleaned = true
			return tool.Result{Outcome: tool.Stopped}
		}
		r := newRig(t, plays("slow a"), slow)
		r.Grace = time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-begun; cancel() }()
		if _, err := r.Run(ctx, ""); err != nil {
			t.Fatal(err)
		}
		if !cleaned {
			t.Error("the run went before the command had ended")
		}
	})
}
