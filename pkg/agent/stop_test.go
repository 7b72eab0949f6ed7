package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"kagent/pkg/agent"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

func TestTheCauseOfAStopSaysHowTheTurnIsClosed(t *testing.T) {
	for cause, want := range map[error]agent.Stop{
		&agent.Stop{Status: session.Cancelled}:                                                {Status: session.Cancelled},
		&agent.Stop{Status: session.Interrupted, Reason: session.ReasonSignal}:                {Status: session.Interrupted, Reason: session.ReasonSignal},
		errors.Join(errors.New("x"), &agent.Stop{Status: session.Failed, Reason: "attempts"}): {Status: session.Failed, Reason: "attempts"},
		errors.New("somebody else's"):                                                         {Status: session.Interrupted, Reason: session.ReasonSignal},
		nil:                                                                                   {Status: session.Interrupted, Reason: session.ReasonSignal},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		r := newRig(t, `replies: [{text: done}]`)
		r.runIn(ctx, "", want.Status, want.Reason)
		check(t, "model calls of a run that was over before it began", len(r.asked), 0)
		r.run("", session.Completed, "")
		if cause != nil && cause.Error() == "" {
			t.Error("a stop says nothing")
		}
	}
}

func TestAStopDuringAModelCallKeepsThePartialText(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := newRig(t, model(func(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		if req.Label.Attempt > 1 {
			return says("whole"), nil
		}
		emit(provider.Event{Text: "hal"})
		cancel(&agent.Stop{Status: session.Interrupted, Reason: session.ReasonSignal})
		<-ctx.Done()
		return provider.Reply{}, context.Cause(ctx)
	}))
	end := r.runIn(ctx, "", session.Interrupted, session.ReasonSignal)
	check(t, "the partial text", r.log.state.Main().Partial(), "hal")
	check(t, "an error beside the signal", end.End.Error, nil)
	r.run("", session.Completed, "")
	r.answer("whole")
}

// It has been paid for: it must not be asked for again.
func TestAReplyThatCameDespiteTheStopIsKept(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(t, model(func(context.Context, provider.Request, func(provider.Event)) (provider.Reply, error) {
		cancel()
		return says("just in time"), nil
	}))
	r.runIn(ctx, "", session.Interrupted, session.ReasonSignal)
	r.run("", session.Completed, "")
	r.answer("just in time")
	check(t, "model calls", len(r.asked), 1)
}

func TestAStopBetweenStepsTakesEffectBeforeTheNext(t *testing.T) {
	for kind, want := range map[session.Type]struct{ asked, ran int }{
		"assistant/message": {1, 0}, "step/end": {1, 1},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		look := read("look")
		r := newRig(t, lookThenAnswer, look)
		r.Observe = func(_ string, d session.Data) {
			if d.Type() == kind {
				cancel()
			}
		}
		r.runIn(ctx, "", session.Interrupted, session.ReasonSignal)
		check(t, "model calls", len(r.asked), want.asked)
		check(t, "tools run", len(look.keys), want.ran)
		r.run("", session.Completed, "")
		check(t, "tools run in all", len(look.keys), 1)
	}
}

// While tools run: first the turn is closed and saved, then the tools see
// that it is over. What has finished is kept, in whatever order it came.
func TestAStopDuringToolsSavesFirstAndKeepsWhatHasFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		saved := make(chan bool, 2)
		wait := execute("wait")
		wait.do = func(ctx context.Context, _ tool.Call) tool.Result {
			<-ctx.Done()
			saved <- r.log.saved()
			return tool.Result{Outcome: tool.Stopped, Text: "stopped"}
		}
		quick := execute("quick")
		r = newRig(t, plays("quick 0", "wait 1", "quick 2", "ghost 3", "wait 4"), wait, quick)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			synctest.Wait() // both quick ones are done, the others wait
			cancel(&agent.Stop{Status: session.Cancelled})
		}()
		r.runIn(ctx, "", session.Cancelled, "")
		check(t, "saved before the first tool saw the end", <-saved, true)
		check(t, "saved before the second tool saw the end", <-saved, true)
		checkList(t, "results", results(r.log), "0 ok", "2 ok", "3 invalid")
		for _, c := range r.log.state.Main().Pending() {
			check(t, "being in doubt", c.InDoubt(), true)
		}

		r.run("", session.Completed, "")
		checkList(t, "results", results(r.log), "0 ok", "2 ok", "3 invalid", "1 unknown", "4 unknown")
		check(t, "runs of the quick tool", len(quick.keys), 2)
		check(t, "runs of the waiting one", len(wait.keys), 2)
	})
}

// A tool that has ended when the stop comes is not in doubt, even if nobody
// had looked yet.
func TestAResultThatCameTogetherWithTheStopIsKept(t *testing.T) {
	for range 20 { // which of both is seen first is a matter of chance
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			release := make(chan int)
			first, second := execute("first"), execute("second")
			second.do = func(context.Context, tool.Call) tool.Result { <-release; return tool.Success("") }
			r := newRig(t, plays("first 0", "second 1"), first, second)
			r.log.fail = func(string, int) error { // called while the first result is appended
				if len(first.keys) > 0 && ctx.Err() == nil {
					close(release)
					synctest.Wait()
					cancel()
				}
				return nil
			}
			r.runIn(ctx, "", session.Interrupted, session.ReasonSignal)
			checkList(t, "results", results(r.log), "0 ok", "1 ok")
		})
	}
}

func TestCallsThatWaitForTheirTurnDoNotStartAfterTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := execute("wait")
		wait.do = func(ctx context.Context, _ tool.Call) tool.Result {
			<-ctx.Done()
			return tool.Result{Outcome: tool.Stopped}
		}
		r := newRig(t, plays("wait 0", "wait 1", "wait 2"), wait)
		r.Parallel = 1
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		r.runIn(ctx, "", session.Interrupted, session.ReasonSignal)
		check(t, "runs", len(wait.keys), 1)
	})
}

// The tools' context keeps what it carries and loses only its end.
func TestToolsSeeTheCauseOfTheStop(t *testing.T) {
	type name struct{}
	ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), name{}, "kept"))
	wait := execute("wait")
	var cause error
	wait.do = func(toolCtx context.Context, _ tool.Call) tool.Result {
		check(t, "a value", toolCtx.Value(name{}), any("kept"))
		cancel(&agent.Stop{Status: session.Cancelled})
		<-toolCtx.Done()
		cause = context.Cause(toolCtx)
		return tool.Result{Outcome: tool.Stopped}
	}
	r := newRig(t, plays("wait 0"), wait)
	r.runIn(ctx, "", session.Cancelled, "")
	if cause == nil || !strings.Contains(cause.Error(), "cancelled") {
		t.Errorf("the cause is %v", cause)
	}
}
