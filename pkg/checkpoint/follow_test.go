package checkpoint

import (
	"context"
	"errors"
	"slices"
	"testing"

	"kagent/pkg/session"
)

// A log that is being written is followed to the moment its owner lets go.
func TestEventsFollowTheOwnerToItsEnd(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	var seen []int64
	steps := 0
	err := s.Events(t.Context(), "s", true, func(e session.Event) {
		seen = append(seen, e.Seq)
		// The next lines are written when the last one was seen.
		if e.Seq != j.State().Seq {
			return
		}
		if steps++; steps > 3 {
			check(t, j.Close())
			return
		}
		toolStep(t, j, "go", "result", 1)
	})
	check(t, err)
	var want []int64
	for n := int64(1); n <= j.State().Seq; n++ {
		want = append(want, n)
	}
	if steps != 4 || !slices.Equal(seen, want) {
		t.Errorf("%d steps, events %v, want each of %d once", steps, seen, len(want))
	}
}

func TestFollowingEndsWithItsContext(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := s.Events(ctx, "s", true, func(session.Event) { cancel(why) })
	if !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
}

// A log of any size is read without being kept.
func TestEventsKeepNothing(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	toolStep(t, j, "go", "result", 1)
	count := func() (n int) {
		check(t, s.Events(t.Context(), "s", false, func(session.Event) { n++ }))
		return n
	}
	if got := count(); int64(got) != j.State().Seq {
		t.Errorf("%d events, want %d", got, j.State().Seq)
	}
}
