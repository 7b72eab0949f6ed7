package providertest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// findings is what a comparison finds, one line each.
type findings []string

func (f *findings) Errorf(format string, args ...any) {
	*f = append(*f, fmt.Sprintf(format, args...))
}

// compare returns how a reply differs from what the collection expects.
func (a Adapter) compare(r recording, reply provider.Reply, err error) findings {
	var f findings
	a.compareTo(&f, r, reply, err)
	return f
}

func (a Adapter) compareTo(t *findings, r recording, reply provider.Reply, err error) {
	want := r.Expected
	sure := func(field string) bool {
		return slices.Contains(sure(a.Protocol), field) && unsure()[r.ID] != field || !slices.Contains(want.Ambiguous, field)
	}
	switch want.Outcome {
	case "http_error", "stream_error":
		t.unfit(err)
		return
	case "truncated":
		// No finish reason came. With [DONE] and content one may call that complete.
		if err == nil && !strings.Contains(r.Response.Body, "[DONE]") {
			t.Errorf("no terminal event, yet a reply: %v", reply)
		}
		return
	}
	if want.FinishReason == "error" || want.FinishReason == "other" { // unknown terminal states
		if err == nil && sure("finish_reason") {
			t.Errorf("an unknown end, yet a reply: %v", reply)
		}
		if err != nil {
			t.unfit(err)
			return
		}
	}
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	if got := textOf(reply); got != message.Clean(want.Text+want.Refusal) && sure("text") {
		t.Errorf("text %q, want %q", got, want.Text+want.Refusal)
	}
	if got := reasoningOf(reply); got != message.Clean(want.Reasoning) && sure("reasoning") {
		t.Errorf("reasoning %q, want %q", got, want.Reasoning)
	}
	if want.Model != "" && reply.Model != want.Model {
		t.Errorf("model %q, want %q", reply.Model, want.Model)
	}
	if sure("finish_reason") {
		checkStop(t, reply, want.FinishReason, want.Refusal)
	}
	checkSignatures(t, reply, want.Signatures)
	if want.Usage != nil {
		checkUsage(t, *want.Usage, reply.Usage)
	}
	if sure("tool_calls") {
		checkCalls(t, want.ToolCalls, callsOf(reply))
	}
}

// unfit says if err is no error that is fit to be shown.
func (f *findings) unfit(err error) {
	if _, problem := judged(err); problem != "" {
		f.Errorf("%s", problem)
	}
}

func checkStop(t *findings, reply provider.Reply, reason, refusal string) {
	want := message.StopReason(reason)
	switch {
	case reason == "pause": // the vendor wants to go on by itself: not an end
		if reply.Stop == message.StopEnd {
			t.Errorf("stop %q for a turn that is not over", reply.Stop)
		}
		return
	case refusal != "" && reason == "stop":
		want = message.StopRefusal
	case len(callsOf(reply)) > 0 && (reason == "stop" || reason == ""):
		want = message.StopCalls
	case reason == "": // null in a whole answer
		want = message.StopEnd
	}
	if reply.Stop != want {
		t.Errorf("stop %q, want %q", reply.Stop, want)
	}
}

// checkSignatures looks for each in the opaque data of some part.
func checkSignatures(t *findings, reply provider.Reply, want []string) {
	var kept strings.Builder
	for _, p := range reply.Parts {
		kept.Write(p.Opaque)
	}
	for _, s := range want {
		if !strings.Contains(kept.String(), literal(s)) {
			t.Errorf("signature %.40s… is lost", s)
		}
	}
}

// checkUsage compares in our terms: input includes what came from a cache,
// output includes reasoning, which some vendors count beside it.
func checkUsage(t *findings, u recordedUsage, got message.Usage) {
	want := message.Usage{
		Input: u.Input + u.ToolUse, Output: u.Output, Total: u.Total,
		CacheRead: u.Cached, CacheWrite: got.CacheWrite, Reasoning: u.Reasoning,
	}
	switch {
	case u.CacheRead != nil || u.CacheWrite != nil:
		for _, n := range []*int64{u.CacheRead, u.CacheWrite} {
			if n != nil {
				want.Input += *n
			}
		}
		want.CacheRead, want.CacheWrite = value(u.CacheRead), value(u.CacheWrite)
		want.Reasoning = got.Reasoning
	case u.OutputReasoning > 0:
		want.Output = u.OutputReasoning
	case got.Output == u.Output+u.Reasoning:
		want.Output = got.Output
	}
	if u.Total == 0 {
		want.Total = got.Input + got.Output
	}
	if got != want {
		t.Errorf("usage %+v, want %+v", got, want)
	}
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func checkCalls(t *findings, want []recordedCall, got []message.ToolCall) {
	if len(got) != len(want) {
		t.Errorf("calls %v, want %v", got, want)
		return
	}
	for i, w := range want {
		g := got[i]
		if g.ID != w.ID || g.Name != w.Name {
			t.Errorf("call %d is %q %q, want %q %q", i, g.ID, g.Name, w.ID, w.Name)
		}
		if !w.Valid {
			if w.Raw != nil && g.Arguments != *w.Raw {
				t.Errorf("arguments %q, want %q", g.Arguments, *w.Raw)
			}
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(g.Arguments), &v); err != nil {
			t.Errorf("arguments %q: %v", g.Arguments, err)
		}
		if w.Arguments != nil && !reflect.DeepEqual(v, w.Arguments) {
			t.Errorf("arguments %v, want %v", v, w.Arguments)
		}
	}
}
