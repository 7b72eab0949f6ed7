package openai

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// shared returns a directory of the collection of recordings and fakes that
// is kept outside of the repository; without it the test is skipped.
func shared(t testing.TB, dir string) string {
	t.Helper()
	root := os.Getenv("KAGENT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared")
	}
	path := filepath.Join(root, dir)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs %s of the shared test collection; set KAGENT_SHARED to its directory", dir)
	}
	return path
}

// recording is a case of the collection; see the README there.
type recording struct {
	ID       string
	Protocol string
	Response struct {
		Status  int
		Headers map[string]string
		Body    string
	}
	Expected struct {
		Outcome, Text, Reasoning, Refusal string
		FinishReason                      string `json:"finish_reason"`
		Signatures, Ambiguous             []string
		Model                             string
		ToolCalls                         []struct {
			ID, Name, Kind string
			Arguments      any
			Raw            *string `json:"arguments_raw"`
			Valid          bool    `json:"arguments_valid"`
		} `json:"tool_calls"`
		Usage *struct {
			Input     int64 `json:"input_tokens"`
			Output    int64 `json:"output_tokens"`
			Total     int64 `json:"total_tokens"`
			Cached    int64 `json:"cached_input_tokens"`
			Reasoning int64 `json:"reasoning_tokens"`
		}
	}
}

func TestRecordedAnswersAreUnderstood(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(shared(t, "wire/cases"), "openai-chat.*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r recording
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(path, err)
		}
		t.Run(r.ID, func(t *testing.T) { checkRecording(t, r) })
	}
}

func checkRecording(t *testing.T, r recording) {
	header := http.Header{}
	for k, v := range r.Response.Headers {
		header.Set(k, v)
	}
	reply, err := decodeAll(t, r.Response.Status, header, strings.NewReader(r.Response.Body))
	want := r.Expected
	switch want.Outcome {
	case "http_error", "stream_error":
		failed(t, err)
		return
	case "truncated":
		// No finish reason came. With [DONE] and content we call that complete.
		if err == nil && !strings.Contains(r.Response.Body, "[DONE]") {
			t.Errorf("no terminal event, yet a reply: %v", reply)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := textOf(reply); got != message.Clean(want.Text+want.Refusal) {
		t.Errorf("text %q, want %q", got, want.Text+want.Refusal)
	}
	if got := reasoningOf(reply); got != want.Reasoning && !slices.Contains(want.Ambiguous, "reasoning") {
		t.Errorf("reasoning %q, want %q", got, want.Reasoning)
	}
	if want.Model != "" && reply.Model != want.Model {
		t.Errorf("model %q, want %q", reply.Model, want.Model)
	}
	checkStop(t, reply, want.FinishReason, want.Refusal)
	checkSignatures(t, reply, want.Signatures)
	checkUsage(t, r, reply.Usage)
	if !slices.Contains(want.Ambiguous, "tool_calls") {
		checkCalls(t, r, callsOf(reply))
	}
}

func checkStop(t *testing.T, reply provider.Reply, reason, refusal string) {
	want := message.StopReason(reason)
	switch {
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

func checkSignatures(t *testing.T, reply provider.Reply, want []string) {
	var kept strings.Builder
	for _, p := range reply.Parts {
		kept.Write(p.Opaque)
	}
	for _, s := range want {
		quoted, _ := json.Marshal(s)
		if !strings.Contains(kept.String(), string(quoted)) {
			t.Errorf("signature %.40s… is lost", s)
		}
	}
}

func checkUsage(t *testing.T, r recording, got message.Usage) {
	want := r.Expected.Usage
	if want == nil {
		return
	}
	output := want.Output
	if got.Output == want.Output+want.Reasoning { // the vendor counts it beside
		output = got.Output
	}
	total := want.Total
	if total == 0 {
		total = got.Total
	}
	cmp := message.Usage{Input: want.Input, Output: output, CacheRead: want.Cached, CacheWrite: got.CacheWrite, Reasoning: want.Reasoning, Total: total}
	if got != cmp {
		t.Errorf("usage %+v, want %+v", got, cmp)
	}
}

func checkCalls(t *testing.T, r recording, got []message.ToolCall) {
	want := r.Expected.ToolCalls
	if len(got) != len(want) {
		t.Fatalf("calls %v, want %v", got, want)
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

// The kinds in the collection are its makers' judgement; ours differ in few,
// which are listed.
func TestRecordedErrorsAreClassified(t *testing.T) {
	file, err := os.Open(shared(t, "wire/errors.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	differs := map[string]string{
		"err-041": "permission", // 403 Forbidden, without a word about the key
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			ID, Protocol, Body, Kind string
			Status                   int
			Headers                  map[string]string
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Protocol != "openai-chat" {
			continue
		}
		if d := differs[e.ID]; d != "" {
			e.Kind = d
		}
		_, err := decodeAll(t, e.Status, nil, strings.NewReader(e.Body))
		if got := failed(t, err); string(got.Kind) != e.Kind {
			t.Errorf("%s: kind %s, want %s: %v", e.ID, got.Kind, e.Kind, got)
		}
	}
}
