package script_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

func TestAReplyCarriesAllItsParts(t *testing.T) {
	s := parse(t, `
replies:
  - reasoning: Hmm.
    text: Both at once.
    tool_calls:
      - {name: read_file, arguments: {path: go.mod, limit: 3}}
      - {name: shell, id: mine, arguments: "{not json"}
      - {name: list_files, id: ""}
    usage: {input: 10, output: 5, cacheRead: 4, cacheWrite: 2, reasoning: 1}
`)
	reply, events, err := ask(t, s, labelled("", 3, 1))
	want := provider.Reply{
		Parts: []message.Part{
			{Type: message.TypeReasoning, Text: "Hmm."},
			message.Text("Both at once."),
			message.Call(message.ToolCall{ID: "script_3_1", Name: "read_file", Arguments: `{"path":"go.mod","limit":3}`}),
			message.Call(message.ToolCall{ID: "mine", Name: "shell", Arguments: "{not json"}),
			message.Call(message.ToolCall{Name: "list_files", Arguments: "{}"}),
		},
		Stop:  message.StopCalls,
		Usage: message.Usage{Input: 10, Output: 5, CacheRead: 4, CacheWrite: 2, Reasoning: 1, Total: 15},
		Model: "script",
	}
	if err != nil || !reflect.DeepEqual(reply, want) {
		t.Errorf("got  %+v, %v\nwant %+v", reply, err, want)
	}
	if want := []provider.Event{{Reasoning: "Hmm."}, {Text: "Both at once."}}; !reflect.DeepEqual(events, want) {
		t.Errorf("streamed %+v", events)
	}
}

func TestTheStopReasonIsDerivedOrGiven(t *testing.T) {
	for src, want := range map[string]message.StopReason{
		`{text: x}`:                   message.StopEnd,
		`{text: ""}`:                  message.StopEnd,
		`{tool_calls: [{name: x}]}`:   message.StopCalls,
		`{text: cut, stop: length}`:   message.StopLength,
		`{text: no, stop: refusal}`:   message.StopRefusal,
		`{stop: content_filter}`:      message.StopFilter,
		`{text: x, stop: tool_calls}`: message.StopCalls,
	} {
		reply, _, err := ask(t, parse(t, "replies: ["+src+"]"), request(user("hi")))
		if err != nil || reply.Stop != want {
			t.Errorf("%s: got %q, %v, want %q", src, reply.Stop, err, want)
		}
	}
}

func TestTextIsStreamedInPiecesOfWholeCharacters(t *testing.T) {
	const said = "héllo 🙂 世界!"
	for pieces, want := range map[string]int{"1": 1, "4": 4, "11": 11, "1000000": 11} {
		s := parse(t, "replies: [{text: "+said+", pieces: "+pieces+"}]")
		reply, events, err := ask(t, s, request(user("hi")))
		if err != nil || len(events) != want {
			t.Fatalf("pieces %s: %d events, %v", pieces, len(events), err)
		}
		var whole strings.Builder
		for _, e := range events {
			if e.Text == "" || strings.ContainsRune(e.Text, '\uFFFD') {
				t.Errorf("pieces %s: piece %q", pieces, e.Text)
			}
			whole.WriteString(e.Text)
		}
		if whole.String() != said || reply.Parts[0].Text != said {
			t.Errorf("pieces %s: %q", pieces, whole.String())
		}
	}
}

func TestAnErrorAfterTextIsACutStream(t *testing.T) {
	s := parse(t, `
replies:
  - text: half an ans
    pieces: 2
    error: {kind: rate_limit, message: "slow\n down", status: 429, retry_after: 1m30s}
`)
	_, events, err := ask(t, s, request(user("hi")))
	want := provider.Error{
		Kind: provider.RateLimit, Status: 429, RetryAfter: 90 * time.Second,
		Message: "slow down", Provider: "script",
	}
	var e *provider.Error
	if !errors.As(err, &e) || !reflect.DeepEqual(*e, want) {
		t.Errorf("got %+v, want %+v", err, want)
	}
	if len(events) != 2 || events[0].Text+events[1].Text != "half an ans" {
		t.Errorf("streamed %+v", events)
	}
	e.Message = "changed by the caller"
	if _, _, err := ask(t, s, request(user("hi"))); !strings.HasSuffix(err.Error(), "slow down") {
		t.Errorf("the script changed: %v", err)
	}
}

func TestWaitsHappenBeforeTheReplyAndBetweenPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := parse(t, "replies: [{text: abc, delay: 10s, pieces: 3, piece_delay: 1s}]")
		start := time.Now()
		var at []time.Duration
		_, err := s.Stream(t.Context(), request(user("hi")), func(provider.Event) { at = append(at, time.Since(start)) })
		if want := []time.Duration{10 * time.Second, 11 * time.Second, 12 * time.Second}; err != nil || !reflect.DeepEqual(at, want) {
			t.Errorf("got %v, %v", at, err)
		}
	})
}

func TestACancelledRequestReturnsItsCause(t *testing.T) {
	for name, src := range map[string]string{
		"during the delay":        "{text: abc, delay: 1h}",
		"between pieces":          "{text: abc, pieces: 3, piece_delay: 1h}",
		"during an error's delay": "{error: {kind: server}, delay: 1h}",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := errors.New("the user has gone")
				ctx, cancel := context.WithCancelCause(t.Context())
				go func() {
					time.Sleep(time.Minute) // of the bubble's clock
					cancel(gone)
				}()
				_, err := parse(t, "replies: ["+src+"]").Stream(ctx, request(user("hi")), func(provider.Event) {})
				if err != gone {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestCancellingInsideTheStreamEndsIt(t *testing.T) {
	gone := errors.New("the user has gone")
	for _, src := range []string{"{text: abc, pieces: 3}", "{text: abc}", "{text: abc, error: {kind: network}}"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		n := 0
		_, err := parse(t, "replies: ["+src+"]").Stream(ctx, request(user("hi")), func(provider.Event) {
			n++
			cancel(gone)
		})
		if err != gone || n != 1 {
			t.Errorf("%s: %d pieces, %v", src, n, err)
		}
		if _, err := parse(t, "replies: ["+src+"]").Stream(ctx, request(user("hi")), nil); err != gone {
			t.Errorf("%s: begun although cancelled: %v", src, err)
		}
	}
}

func TestTheSameRequestAlwaysGetsTheSameReply(t *testing.T) {
	s := parse(t, `
replies:
  - {when: {tool_results: 0}, tool_calls: [{name: a, arguments: {z: 1, y: {b: "{{last_user}}", a: 2}}}, {name: b}]}
  - {text: "{{tool_result}} {{ordinal}}", pieces: 2}
`)
	for _, req := range []provider.Request{request(user("hi")), request(user("hi"), result("r"))} {
		first, _, _ := ask(t, s, req)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				again, err := s.Stream(t.Context(), req, func(provider.Event) {})
				if err != nil || !reflect.DeepEqual(again, first) {
					t.Errorf("got %+v, %v, then %+v", first, err, again)
				}
			})
		}
		group.Wait()
	}
}

func TestUsageIsEstimatedFromSizes(t *testing.T) {
	s := parse(t, `replies: [{reasoning: "12345678", text: "1234", tool_calls: [{name: "1234", arguments: "1234"}]}]`)
	req := request(user("12345678"), result("1234"))
	req.System = "1234"
	req.Tools = []message.ToolSpec{{Name: "1234", Description: "12345678", Schema: []byte("{  }")}}
	reply, _, err := ask(t, s, req)
	if want := (message.Usage{Input: 8, Output: 5, Reasoning: 2, Total: 13}); err != nil || reply.Usage != want {
		t.Errorf("got %+v, %v", reply.Usage, err)
	}
	req.Messages[0].Time = time.Unix(1, 0)
	if again, _, _ := ask(t, s, req); again.Usage != reply.Usage {
		t.Errorf("depends on the time: %+v", again.Usage)
	}
}
