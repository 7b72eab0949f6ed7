package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"kagent/pkg/agent"
	"kagent/pkg/message"
	"kagent/pkg/session"
)

// shownLine is a line of --output jsonl as far as it tells of attempts.
type shownLine struct {
	delta
	Data struct {
		Attempt int
		Parts   []message.Part
	}
}

// dropping reads as the README says: what earlier attempts have said of a step is
// dropped. It returns what was said of each step, and which models have spoken.
func dropping(t *testing.T, out string) (said map[string]string, models []string) {
	t.Helper()
	said = map[string]string{}
	attempts := map[string]int{} // of the step that each scope is at
	void := map[string]int{}     // attempts that the events have called void
	for line := range strings.Lines(out) {
		var l shownLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		step := fmt.Sprint(l.Scope, "/", l.Step)
		switch l.Type {
		case "assistant/delta":
			fits(t, "delta", []byte(line))
			if l.Attempt < attempts[step] || l.Attempt > void[l.Scope]+1 {
				t.Errorf("attempt %d of %s speaks where %d had spoken and %d are void", l.Attempt, step, attempts[step], void[l.Scope])
			}
			if l.Attempt > attempts[step] {
				attempts[step], said[step] = l.Attempt, ""
				models = append(models, filepath.Base(l.Model))
			}
			said[step] += l.Text
		case "request/retried":
			void[l.Scope] = l.Data.Attempt
		case "step/end":
			void[l.Scope] = 0
		case "assistant/message":
			said[l.Scope] = message.Message{Parts: l.Data.Parts}.Text()
		}
	}
	return said, models
}

func written(t *testing.T, dir, name, text string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "script:" + name
}

func TestAReaderOfJSONLinesKnowsWhichAttemptSpeaks(t *testing.T) {
	t.Setenv("KAGENT_RETRY_MAX_WAIT", "5ms")
	dir := t.TempDir()
	a := written(t, dir, "a.yaml", `replies: [{text: "半个旧的", pieces: 4, error: {kind: network}}]`)
	b := written(t, dir, "b.yaml", `replies: [{text: "全新的回答", pieces: 5}]`)
	run, out := kagentIn(t, dir, "run", "-q", "-s", "s", "-o", "jsonl", "--retries", "1", "-m", a+","+b, "hi")
	run.Stderr = nil
	if err := run.Run(); err != nil {
		t.Fatal(err)
	}
	said, models := dropping(t, out.String())
	if said["/1"] != "全新的回答" || said[""] != said["/1"] || fmt.Sprint(models) != "[a.yaml a.yaml b.yaml]" {
		t.Errorf("a reader has %q of %q", said, models)
	}

	run, _ = kagentIn(t, dir, "run", "-q", "-s", "r", "--retries", "2", "-m", a, "hi")
	if run.Run() == nil {
		t.Fatal("it should have failed")
	}
	resume, out := kagentIn(t, dir, "resume", "-q", "-o", "jsonl", "-m", b, "r")
	resume.Stderr = nil
	if err := resume.Run(); err != nil || !strings.Contains(out.String(), `"attempt":4,`) {
		t.Errorf("%v: the attempts of earlier processes are not counted: %s", err, out)
	}
}

func TestChildrenThatStreamTogetherKeepTheirAttemptsApart(t *testing.T) {
	t.Setenv("KAGENT_RETRY_MAX_WAIT", "5ms")
	dir := t.TempDir()
	m := written(t, dir, "o.yaml", `
replies:
  - when: {scope: "split*"}
    tool_calls: [{name: set_graph, arguments: {nodes: [{id: a, task: first}, {id: b, task: second}, {id: c, task: third}]}}]
  - {when: {scope: "node/*", attempt: {max: 2}}, text: "half of {{attempt}}", pieces: 4, piece_delay: 1ms, error: {kind: overloaded}}
  - {text: "the whole 部分", pieces: 5, piece_delay: 1ms}
`)
	run, out := kagentIn(t, dir, "run", "-q", "-a", "orchestrator", "-o", "jsonl", "-m", m, "hi")
	run.Stderr = nil
	run.Run()
	said, _ := dropping(t, out.String())
	for _, node := range []string{"node/a", "node/b", "node/c"} {
		if got := said[node+"/1"]; got != "the whole 部分" || said[node] != got {
			t.Errorf("of %s a reader has %q, its reply is %q", node, got, said[node])
		}
	}
}

// cutStreams breaks off the first stream and then answers, in two protocols.
func cutStreams() http.HandlerFunc {
	var asked atomic.Int32
	piece := map[string]func(string) string{
		"/v1/chat/completions": func(s string) string {
			return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", s)
		},
		"/v1/messages": func(s string) string {
			return fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%q}}\n\n", s)
		},
	}
	begin := map[string]string{
		"/v1/messages": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
	}
	end := map[string]string{
		"/v1/chat/completions": "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"/v1/messages": "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	}
	return func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(pieces ...string) {
			fmt.Fprint(w, begin[r.URL.Path])
			for _, s := range pieces {
				fmt.Fprint(w, piece[r.URL.Path](s))
			}
		}
		switch n {
		case 1:
			say("旧", "的回答") // and no end
		case 2:
			say("旧的", "回答，") // the same again, and more
		default:
			say("新", "的 👋", "！")
			fmt.Fprint(w, end[r.URL.Path])
		}
	}
}

func TestAStreamThatIsCutIsNotMixedWithTheNext(t *testing.T) {
	t.Setenv("KAGENT_RETRY_MAX_WAIT", "5ms")
	t.Setenv("OPENAI_API_KEY", "sk-very-secret-key")
	t.Setenv("ANTHROPIC_API_KEY", "sk-very-secret-key")
	for model, void := range map[string]string{
		"openai/m": "it begins again", "anthropic/m": "it begins again", "openai/a,anthropic/b": "anthropic/b answers from the beginning",
	} {
		for _, format := range []string{"text", "jsonl"} {
			s := httptest.NewServer(cutStreams())
			t.Setenv("OPENAI_BASE_URL", s.URL+"/v1")
			t.Setenv("ANTHROPIC_BASE_URL", s.URL)
			retries := "2"
			if strings.Contains(model, ",") {
				retries = "1"
			}
			run, out := kagentIn(t, t.TempDir(), "run", "-q", "--stream", "-o", format, "--retries", retries, "-m", model, "hi")
			var stderr bytes.Buffer
			run.Stderr = &stderr
			if err := run.Run(); err != nil {
				t.Errorf("%s: %v: %s", model, err, &stderr)
			}
			s.Close()
			if format == "text" {
				if got := out.String(); got != "旧的回答\n新的 👋！\n" || strings.Count(stderr.String(), "is void, "+void+"\n") != 1 {
					t.Errorf("%s: %q is shown, and said %q", model, got, &stderr)
				}
				continue
			}
			said, models := dropping(t, out.String())
			if said["/1"] != "新的 👋！" || said[""] != said["/1"] || models[2] != model[len(model)-1:] {
				t.Errorf("%s: a reader has %q of %q", model, said, models)
			}
		}
	}
}

// On a terminal the line that says what failed has cut through the text.
func TestOnATerminalAReplyBeginsAgainOnItsOwnLine(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, size: func() (int, int) { return 80, 24 }, live: func(int) []string { return []string{"live"} }}
	l := &liveText{state: &session.State{}, fresh: s.fresh, lined: true, warn: func(f string, a ...any) { fmt.Fprintf(s, f+"\n", a...) }}
	l.write = func(text string) { s.text(text, func() { out.WriteString(text) }) }
	say := func(texts ...string) {
		for _, text := range texts {
			l.add(agent.Delta{Text: text, Model: "m"})
		}
	}
	l.observe("", &session.StepStart{})
	say("你好", "，世")
	l.observe("", &session.RequestRetried{})
	l.observe("child", &session.RequestRetried{})
	fmt.Fprintln(s, "attempt 1 failed")
	say("你好", "，世界")
	l.observe("", &session.AssistantMessage{Parts: []message.Part{message.Text("你好，世界")}, Model: "m"})
	answer := "你好，世界"
	l.end(&answer)
	s.clear()
	want := []string{"你好，世", "attempt 1 failed", "warning: the reply shown so far is void, it begins again", "你好，世界", ""}
	if got := terminal(out.String()); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("a person sees %q, want %q", got, want)
	}
}

// Whatever was streamed, the answer stands on stdout at the end.
func TestAnAnswerThatWasNotStreamedIsShownAtTheEnd(t *testing.T) {
	var out strings.Builder
	l := &liveText{state: &session.State{}, write: func(s string) { out.WriteString(s) }}
	l.fresh = func() bool { return strings.HasSuffix(out.String(), "\n") }
	l.observe("", &session.StepStart{})
	l.add(agent.Delta{Text: "let me see\n"})
	l.observe("", &session.AssistantMessage{Parts: []message.Part{message.Text("let me see\n")}})
	l.observe("", &session.StepStart{})
	l.observe("", &session.AssistantMessage{Parts: []message.Part{message.Text("in one piece")}})
	adopted := "a child's"
	l.end(&adopted)
	if got, want := out.String(), "let me see\nin one piece\na child's\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
