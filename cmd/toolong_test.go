package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A service that refuses bodies beyond a limit, in words of its own.
type narrow struct {
	limit  int // bytes; 0 for none
	status int
	refuse string

	mu                sync.Mutex
	refused, answered int
	bodies            []string
}

func (n *narrow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bodies = append(n.bodies, string(b))
	if n.limit > 0 && len(b) > n.limit {
		n.refused++
		if n.status == 200 {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(n.status)
		io.WriteString(w, n.refuse)
		return
	}
	n.answered++
	text := strings.Repeat("a long answer. ", 800)
	if strings.Contains(string(b), "You summarise the earlier part") {
		text = "in short"
	}
	piece, _ := json.Marshal(text)
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", piece)
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n")
}

// narrowTo gives the service another limit, and counts anew.
func (n *narrow) narrowTo(limit int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.limit, n.refused, n.answered = limit, 0, 0
}

// counted returns how many requests were refused and answered, and the last.
func (n *narrow) counted() (refused, answered int, last string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refused, n.answered, n.bodies[len(n.bodies)-1]
}

// F129: whatever words a service has for it, a request that is too long is cut
// and sent once more; any other refusal is not taken for it.
func TestATooLongRequestIsKnownInEveryShape(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		refuse  string
		another bool
	}{
		"openai":    {400, `{"error":{"message":"too much","type":"invalid_request_error","code":"context_length_exceeded"}}`, true},
		"vllm":      {400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","code":400}`, true},
		"llama.cpp": {400, `{"error":{"code":400,"message":"the request exceeds it","type":"exceed_context_size_error","n_ctx":4096}}`, true},
		"anthropic": {400, `{"error":{"type":"invalid_request_error","message":"prompt is too long: 5000 tokens > 4096 maximum"}}`, true},
		"gemini":    {400, `{"error":{"code":400,"message":"The input token count (5000) exceeds the maximum number of tokens allowed (4096).","status":"INVALID_ARGUMENT"}}`, true},
		"a proxy":   {413, "<html><title>413 Request Entity Too Large</title></html>", true},
		"a stream":  {200, "data: {\"error\":{\"message\":\"prompt is too long\",\"code\":\"context_length_exceeded\"}}\n\n", true},
		"another":   {400, `{"error":{"message":"messages: wrong","type":"invalid_request_error"}}`, false},
	} {
		n := &narrow{status: c.status, refuse: c.refuse}
		server := httptest.NewServer(n)
		defer server.Close()
		dir := t.TempDir()
		kagent(t, dir, 0, "run", "-q", "-s", "s", "--tools", "none", "--retries", "0", "-m", "openai-compatible/m", "--base-url", server.URL, "first")
		n.narrowTo(9000)
		if !c.another {
			kagent(t, dir, exitFailed, "resume", "-q", "s", "second")
			if refused, answered, _ := n.counted(); refused != 1 || answered != 0 {
				t.Errorf("%s: %d requests refused, %d answered", name, refused, answered)
			}
			continue
		}
		kagent(t, dir, 0, "resume", "-q", "s", "second")
		refused, answered, last := n.counted()
		if refused != 1 || answered != 2 { // a summary, and the answer
			t.Errorf("%s: %d requests refused, %d answered", name, refused, answered)
		}
		if !strings.Contains(last, "in short") || !strings.Contains(last, `"second"`) || strings.Contains(last, "a long answer") {
			t.Errorf("%s: the last request is %.2000s", name, last)
		}
	}
}

// F127: a session of three windows is summarised, and goes on.
func TestASessionOfThreeWindowsIsCompacted(t *testing.T) {
	n := &narrow{status: 400, refuse: `{"error":{"message":"too much","code":"context_length_exceeded"}}`}
	server := httptest.NewServer(n)
	defer server.Close()
	dir := t.TempDir()
	kagent(t, dir, 0, "run", "-q", "-s", "s", "--tools", "none", "-m", "openai-compatible/m", "--base-url", server.URL, "first")
	kagent(t, dir, 0, "resume", "-q", "s", "second")
	n.narrowTo(9000)
	if out := kagent(t, dir, 0, "compact", "s", "-o", "json"); out != "{\"turns\":2,\"chars\":8}\n" {
		t.Errorf("printed %s", out)
	}
	if refused, _, _ := n.counted(); refused > 3 {
		t.Errorf("%d requests were refused", refused)
	}
	n.narrowTo(9000)
	kagent(t, dir, 0, "resume", "-q", "s", "third")
	if refused, _, _ := n.counted(); refused > 0 {
		t.Errorf("%d requests were refused after it", refused)
	}
}
