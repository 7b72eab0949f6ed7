package agent_test

import (
	"context"
	"testing"

	"kagent/pkg/session"
)

// A summary that was there when its Compact was stopped is not paid for again.
func TestAStoppedSummaryIsPaidForOnce(t *testing.T) {
	for _, at := range []session.Type{"assistant/message", "turn/end"} {
		r := newRig(t, working(2, soFar), read("look"))
		r.run("", session.Completed, "")
		ctx, stop := context.WithCancel(t.Context())
		r.Observe = func(scope string, d session.Data) {
			if scope != "" && d.Type() == at {
				stop()
			}
		}
		r.asked = nil
		end, err := r.Compact(ctx, "")
		if err != nil || end.Status != session.Interrupted || len(compacted(r.log)) != 0 {
			t.Fatalf("stopped after its %s: %+v, %v, %d summaries", at, end, err, len(compacted(r.log)))
		}
		said := r.log.state.View("").Messages
		check(t, "the last message after it", said[len(said)-1].Text(), "the answer")
		end, err = r.Compact(t.Context(), "")
		if err != nil || end.Status != session.Completed || len(compacted(r.log)) != 1 {
			t.Errorf("after its %s, again: %+v, %v, %d summaries", at, end, err, len(compacted(r.log)))
		}
		check(t, "requests in all", len(r.asked), 1)
		r.run("second", session.Completed, "")
	}
}
