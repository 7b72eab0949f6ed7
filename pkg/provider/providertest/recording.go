package providertest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// recording is a case of the collection; see the README there.
type recording struct {
	ID       string
	Stream   bool
	Cluster  string
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
		ToolCalls                         []recordedCall `json:"tool_calls"`
		Usage                             *recordedUsage
	}
}

type recordedCall struct {
	ID, Name  string
	Arguments any
	Raw       *string `json:"arguments_raw"`
	Valid     bool    `json:"arguments_valid"`
}

type recordedUsage struct {
	Input           int64  `json:"input_tokens"`
	Output          int64  `json:"output_tokens"`
	OutputReasoning int64  `json:"output_tokens_incl_reasoning"` // Gemini
	Total           int64  `json:"total_tokens"`
	Cached          int64  `json:"cached_input_tokens"`
	Reasoning       int64  `json:"reasoning_tokens"`
	ToolUse         int64  `json:"tool_use_prompt_tokens"`      // Gemini
	CacheRead       *int64 `json:"cache_read_input_tokens"`     // Anthropic, beside the input
	CacheWrite      *int64 `json:"cache_creation_input_tokens"` // Anthropic, beside the input
}

// recordings returns the cases of the adapter's protocol.
func (a Adapter) recordings(t testing.TB) []recording {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(Shared(t, "wire/cases"), a.Protocol+".*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases of %s: %v", a.Protocol, err)
	}
	var list []recording
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r recording
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(path, err)
		}
		list = append(list, r)
	}
	return list
}

// replay serves recordings: the one with number n below the path /n.
func replay(t testing.TB, list []recording) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		n, err := strconv.Atoi(first)
		if err != nil || n >= len(list) || r.Method != http.MethodPost || strings.Contains(r.URL.String(), key) {
			t.Errorf("unexpected request: %s %s", r.Method, r.URL)
			return
		}
		for k, v := range list[n].Response.Headers {
			w.Header().Set(k, v)
		}
		w.WriteHeader(list[n].Response.Status)
		io.WriteString(w, list[n].Response.Body)
	}))
	t.Cleanup(server.Close)
	return server
}

// Tally is how many recorded answers there are, how many of them are listed as
// wrong, and how many agree with what the collection expects, by the size of reads.
type Tally struct{ Cases, Wrong, Whole, Ones, Sevens int }

// Recorded replays each recorded answer over HTTP, whole and in reads of 1 and
// of 7 bytes, and compares the replies with what the collection expects,
// except in the fields that it calls ambiguous.
func Recorded(t *testing.T, a Adapter) Tally {
	list := a.recordings(t)
	server := replay(t, list)
	tally := Tally{Cases: len(list)}
	for _, r := range list {
		if wrongCases()[r.ID] != "" {
			tally.Wrong++
		}
	}
	for n, agree := range map[int]*int{0: &tally.Whole, 1: &tally.Ones, 7: &tally.Sevens} {
		client := dripping(t, n)
		for i, r := range list {
			if hurry && n == 1 && len(r.Response.Body) > 50_000 {
				continue
			}
			reply, err := a.ask(t, Options{BaseURL: server.URL + "/" + strconv.Itoa(i), HTTPClient: client})
			if a.agrees(t, r, n, a.compare(r, reply, err)) {
				*agree++
			}
		}
	}
	t.Logf("%s: of %d cases agree %d whole, %d in reads of 1 byte, %d of 7 bytes; %d are listed as wrong",
		a.Protocol, tally.Cases, tally.Whole, tally.Ones, tally.Sevens, tally.Wrong)
	return tally
}

// agrees reports whether nothing was found, and complains where something was,
// or where nothing was in a case that is listed as wrong.
func (a Adapter) agrees(t *testing.T, r recording, n int, found findings) bool {
	shows, listed := wrongCases()[r.ID]
	switch {
	case listed && len(found) == 0:
		t.Errorf("%s is listed as wrong, but agrees", r.ID)
	case listed && !strings.Contains(r.Response.Body, shows):
		t.Errorf("%s is listed as wrong, but doesn't hold %s", r.ID, shows)
	case listed:
	case len(found) > 0:
		t.Errorf("%s, in reads of %d bytes (0: whole): %s", r.ID, n, strings.Join(found, "; "))
	}
	return len(found) == 0
}
