package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/provider"
	"kagent/pkg/session"
	"kagent/pkg/tool"
)

var errDisk = errors.New("no space left on device")

// everything is a script that comes by every operation: chunks, a retry, calls
// of each kind, a call that can't run, a cut reply, a blank one.
const everything = `
replies:
  - when: {ordinal: 1, attempt: 1}
    text: half
    error: {kind: overloaded}
  - when: {ordinal: 1}
    text: Let me see.
    tool_calls:
      - {name: look, arguments: {v: a}}
      - {name: act, arguments: {v: b}}
      - {name: put, arguments: {v: one}}
      - {name: put, arguments: {v: two}}
      - {name: ghost, arguments: {v: c}}
  - {when: {ordinal: 2}, text: " "}
  - {when: {ordinal: 3}, text: "so ", stop: length}
  - text: done
`

// breakable runs everything; the n-th operation on the journal fails, and all
// after it if for ever.
type breakable struct {
	*rig
	act    *fake
	failed bool
	result bool // what failed was the line of a result, which is tried again in short
}

func newBreakable(t *testing.T, n int, forEver bool) *breakable {
	b := &breakable{act: execute("act")}
	put, look := newFile(), read("look")
	intended := func(_ context.Context, c tool.Call) tool.Result {
		if !b.log.intended(c.Key) {
			t.Errorf("operation %d failed: call %s began without a durable intent", n, c.Key)
		}
		return tool.Success("did it")
	}
	b.act.do, put.do, look.do = intended, intended, intended
	b.rig = newRig(t, everything, look, b.act, put)
	b.Provider = retrying(b.Provider)
	b.Now = nil // a clock that runs; nothing depends on it
	b.log.ops = 0
	b.log.fail = func(op string, i int) error {
		if i == n || i > n && forEver {
			b.failed, b.result = true, !forEver && op == "append tool/result"
			return fmt.Errorf("%s %d: %w", op, i, errDisk)
		}
		return nil
	}
	return b
}

func TestADiskThatFailsAnywhereEndsTheRunAndLosesNothing(t *testing.T) {
	for _, forEver := range []bool{false, true} {
		n := 1
		for ; ; n++ {
			b := newBreakable(t, n, forEver)
			end, err := b.Run(t.Context(), "")
			if !b.failed {
				break // there are no more operations
			}
			if b.result && err == nil {
				b.answer("so done")
				continue
			}
			if !errors.Is(err, errDisk) || end.Status != session.Interrupted || end.Reason != session.ReasonStorage || end.End.Error == nil {
				t.Errorf("operation %d: ended %s %s, %v", n, end.Status, end.Reason, err)
			}
			// A power cut now: what was durable must be enough to go on.
			b.reopen(b.log.durable)
			b.run("", session.Completed, "")
			b.answer("so done")
			if len(b.act.keys) > 1 {
				t.Errorf("operation %d: the effect happened %d times", n, len(b.act.keys))
			}
		}
		if n < 20 {
			t.Errorf("only %d operations were seen", n)
		}
	}
}

// A disk that failed once may bear the note that it did.
func TestAPassingFailureIsNotedInTheLog(t *testing.T) {
	b := newBreakable(t, 5, false)
	if _, err := b.Run(t.Context(), ""); err == nil {
		t.Fatal("no error")
	}
	status, reason := b.log.state.Status()
	check(t, "the status", status, session.Interrupted)
	check(t, "the reason", reason, session.ReasonStorage)
	check(t, "it being saved", b.log.saved(), true)
	b.run("", session.Completed, "")
}

func TestADiskThatFailsWhileToolsRunEndsThem(t *testing.T) {
	wait, quick := execute("wait"), execute("quick")
	ended, both := false, make(chan int)
	wait.do = func(ctx context.Context, _ tool.Call) tool.Result {
		both <- 1
		<-ctx.Done() // or this test hangs
		ended = errors.Is(context.Cause(ctx), errDisk)
		return tool.Result{Outcome: tool.Stopped}
	}
	r := newRig(t, plays("quick 0", "wait 1"), wait, quick)
	r.log.fail = func(op string, _ int) error {
		if strings.HasPrefix(op, "append") && len(data[*session.ToolCall](r.log)) > 0 {
			return errDisk
		}
		return nil
	}
	quick.do = func(context.Context, tool.Call) tool.Result { <-both; return tool.Success("swift") }
	end, err := r.Run(t.Context(), "")
	check(t, "the reason", end.Reason, session.ReasonStorage)
	if !errors.Is(err, errDisk) || !ended {
		t.Errorf("the run ended with %v, the tool saw its end: %v", err, ended)
	}
	for _, told := range []string{"0 (quick) ended: ok: swift", "1 (wait) was ended while it ran"} {
		if err == nil || !strings.Contains(err.Error(), told) {
			t.Errorf("%v does not tell that call %s", err, told)
		}
	}
}

// What had not begun, or only looked, leaves nothing to tell.
func TestCallsThatDidNothingAreNotToldWhenTheDiskFails(t *testing.T) {
	look, quick, late := read("look"), execute("quick"), execute("late")
	r := newRig(t, plays("quick 0", "look 1", "late 2"), look, quick, late)
	r.Parallel = 1
	r.log.fail = func(op string, _ int) error {
		if strings.HasPrefix(op, "append") && len(data[*session.ToolCall](r.log)) > 0 {
			return errDisk
		}
		return nil
	}
	hold := func(context.Context, tool.Call) tool.Result { return tool.Success("swift") }
	quick.do, late.do = hold, hold
	_, err := r.Run(t.Context(), "")
	if err == nil || strings.Contains(err.Error(), "look") || strings.Contains(err.Error(), "was ended while") {
		t.Errorf("the run ended with %v", err)
	}
	if told := strings.Count(fmt.Sprint(err), "not recorded"); told != len(quick.keys)+len(late.keys) {
		t.Errorf("%d calls ran, told is %v", len(quick.keys)+len(late.keys), err)
	}
}

// A reply that can't be stored is not worth waiting for.
func TestADiskThatFailsWhileAReplyStreamsEndsTheStream(t *testing.T) {
	r := newRig(t, model(func(ctx context.Context, _ provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		emit(text(5000))
		<-ctx.Done() // or this test hangs
		return provider.Reply{}, context.Cause(ctx)
	}))
	r.log.fail = func(string, int) error {
		if r.log.state.Main().InStep {
			return errDisk
		}
		return nil
	}
	if _, err := r.Run(t.Context(), ""); !errors.Is(err, errDisk) {
		t.Errorf("the run ended with %v", err)
	}
}

func TestAFailureWhileANewPromptIsTakenUpIsToldToo(t *testing.T) {
	for n := 1; n <= 6; n++ {
		r := inDoubt(t, plays("act a"), execute("act"))
		r.log.ops = 0
		r.log.fail = func(_ string, i int) error {
			if i == n {
				return errDisk
			}
			return nil
		}
		var end agent.Finish
		end, err := r.Run(t.Context(), "and now?")
		if !errors.Is(err, errDisk) || end.Reason != session.ReasonStorage {
			t.Errorf("operation %d: ended %s %s, %v", n, end.Status, end.Reason, err)
		}
	}
}
