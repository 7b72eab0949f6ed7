//go:build soak

package soak

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// dice is what happens to a request.
func (m *model) dice() (of100 int, pace time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.random.IntN(100), time.Duration(m.random.IntN(12)) * time.Millisecond
}

// outage reports whether nobody is there: for a second and a half in twenty.
func (m *model) outage() bool {
	return time.Since(m.world.began)%(20*time.Second) > 18500*time.Millisecond
}

func (m *model) serve(w http.ResponseWriter, r *http.Request, s said) {
	n, pace := m.dice()
	if !m.world.disturbing() {
		n = 100
	}
	fail := func(what string, status int) {
		m.world.count(what)
		w.Header().Set("Retry-After", "0")
		http.Error(w, `{"error":{"message":"not now"}}`, status)
	}
	switch {
	case n < 100 && m.outage(), n < 3:
		m.world.count("connection reset")
		panic(http.ErrAbortHandler)
	case n < 5:
		fail("status 500", http.StatusInternalServerError)
	case n < 7:
		fail("status 503", http.StatusServiceUnavailable)
	case n < 9:
		fail("status 429", http.StatusTooManyRequests)
	case n < 10:
		m.world.count("silence")
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	default:
		m.stream(w, s, pace, n < 15)
	}
}

// stream says it piece by piece, not to its end if it is cut.
func (m *model) stream(w http.ResponseWriter, s said, pace time.Duration, cut bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]any, finish any) {
		raw, _ := json.Marshal(map[string]any{
			"id": "soak", "object": "chat.completion.chunk", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		fmt.Fprintf(w, "data: %s\n\n", raw)
		w.(http.Flusher).Flush()
		time.Sleep(pace)
	}
	deltas := s.deltas()
	for i, delta := range deltas {
		if cut && i == len(deltas)/2 {
			m.world.count("stream cut")
			panic(http.ErrAbortHandler)
		}
		send(delta, nil)
	}
	finish := "stop"
	if len(s.calls) > 0 {
		finish = "tool_calls"
	}
	send(map[string]any{}, finish)
	fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15}}\n\ndata: [DONE]\n\n")
}

func (s said) deltas() []map[string]any {
	all := []map[string]any{{"role": "assistant", "content": ""}}
	for _, piece := range pieces(s.text) {
		all = append(all, map[string]any{"content": piece})
	}
	for i, c := range s.calls {
		piece := func(call map[string]any) { all = append(all, map[string]any{"tool_calls": []any{call}}) }
		piece(map[string]any{"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function", "function": map[string]any{"name": c.Function.Name, "arguments": ""}})
		for _, part := range pieces(c.Function.Arguments) {
			piece(map[string]any{"index": i, "function": map[string]any{"arguments": part}})
		}
	}
	return all
}

// pieces cuts a text into three.
func pieces(text string) []string {
	third := len(text)/3 + 1
	var all []string
	for text != "" {
		n := min(third, len(text))
		all, text = append(all, text[:n]), text[n:]
	}
	return all
}
