package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// keys returns the keys of a JSON object in their order.
func keys(t tb, b []byte) []string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	_, err := dec.Token()
	check(t, err)
	var out []string
	for dec.More() {
		k, err := dec.Token()
		check(t, err)
		out = append(out, k.(string))
		check(t, dec.Decode(new(json.RawMessage)))
	}
	return out
}

func fields(t tb, b []byte) map[string]json.RawMessage {
	t.Helper()
	m := map[string]json.RawMessage{}
	check(t, json.Unmarshal(b, &m))
	return m
}

// The order is a promise: a list reads up to metadata, and what may grow stands
// behind it.
func TestFieldsOfTheCheckpoint(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	toolStep(t, j, "I look.", "a\nb", 1)
	b := slurp(t, j.paths.checkpoint)
	want := []string{
		"schema", "sessionId", "agentType", "status", "reason", "owner", "usage", "costUSD", "error", "attempts", "retryAt",
		"log", "omitted", "metadata", "settings", "answer", "agentState", "pending", "systemPrompt", "messages",
	}
	if got := keys(t, b); !slices.Equal(got, want) {
		t.Errorf("fields %v\nwant   %v", got, want)
	}
	f := fields(t, b)
	for name, want := range map[string][]string{
		"owner": {"pid", "host", "bootId", "startedAt"}, "usage": {"input", "output", "cacheRead", "cacheWrite", "reasoning", "total"},
		"settings": {"model", "workdir", "tools", "limits"}, "log": {"seq", "offset", "crc"}, "omitted": {"turns", "beforeSeq"},
		"metadata": {"createdAt", "updatedAt", "iterations", "toolCalls", "tokenUsage", "input"},
	} {
		if got := keys(t, f[name]); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	at := fmt.Sprintf(`{"seq":%d,"offset":%d,"crc":"%s"}`, j.State().Seq, len(slurp(t, j.paths.log)), crcText(j.crc))
	for name, want := range map[string]string{
		"schema": `"kagent/checkpoint/v1"`, "sessionId": `"s"`, "agentType": `"react"`, "status": `"active"`, "reason": `""`, "costUSD": `null`,
		"error": `null`, "attempts": `0`, "retryAt": `null`, "log": at, "answer": `null`, "agentState": `{}`, "pending": `[]`, "systemPrompt": `"You are an agent."`,
		"messages": fmt.Sprintf(`[{"role":"user","content":"what is in this directory?","timestamp":%d},`, j.State().Main().Entries[0].Time.UnixMilli()) +
			`{"role":"assistant","content":"I look.","tool_calls":[{"id":"call_1_0","type":"function","function":{"name":"shell","arguments":"{\"command\":\"ls\"}"}}]},` +
			`{"role":"tool","tool_call_id":"call_1_0","name":"shell","content":"a\nb"}]`,
	} {
		if string(f[name]) != want {
			t.Errorf("%s: %s\nwant %s", name, f[name], want)
		}
	}
	answer(t, j, "Two <files>.")
	check(t, j.Close())
	f = fields(t, slurp(t, j.paths.checkpoint))
	if string(f["answer"]) != `"Two <files>."` || string(f["status"]) != `"completed"` || string(f["owner"]) != `{"pid":0,"host":"","bootId":"","startedAt":""}` {
		t.Errorf("at the end: answer %s, status %s, owner %s", f["answer"], f["status"], f["owner"])
	}
}

// What has left is said, and what is sent in its place.
func TestTheCheckpointSaysWhatIsOmitted(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	toolStep(t, j, "I look.", strings.Repeat("a.go\n", 100), 2)
	answer(t, j, "Two files.")
	check(t, j.Append("", &session.ContextCompacted{Turns: 1, Before: j.State().Seq, Summary: "There are two files."}))
	check(t, j.Commit())
	f := fields(t, slurp(t, j.paths.checkpoint))
	for name, want := range map[string]string{
		"omitted": fmt.Sprintf(`{"turns":1,"beforeSeq":%d}`, j.State().Seq-1), "messages": "[]", "answer": `"Two files."`, "status": `"completed"`,
		"systemPrompt": `"You are an agent."`, "contextNote": `"[Summary of the earlier conversation]\nThere are two files.\n\n[What the user asked for, word for word]\nwhat is in this directory?"`,
	} {
		if string(f[name]) != want {
			t.Errorf("%s: %s, want %s", name, f[name], want)
		}
	}
}

func TestPendingCallsWaitOrAreUnknown(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	ask(t, j, "I look.", 3)
	p := j.State().Main().Pending()
	check(t, j.Append("", &session.ToolCall{Call: p[0].ID, Tool: "shell", Attempt: 1}, &session.ToolCall{Call: p[1].ID, Tool: "shell", Attempt: 1}))
	check(t, j.Append("", &session.ToolResult{Call: p[1].ID, Outcome: session.OutcomeOK}))
	check(t, j.Commit())
	want := fmt.Sprintf(`[{"call":"%s","tool":"shell","state":"unknown"},{"call":"%s","tool":"shell","state":"waiting"}]`, p[0].ID, p[2].ID)
	if got := fields(t, slurp(t, j.paths.checkpoint))["pending"]; string(got) != want {
		t.Errorf("pending %s\nwant    %s", got, want)
	}
}

func TestUnfinishedEndsAreShown(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	check(t, j.Append("", &session.StepStart{Step: 1}, &session.AssistantChunk{Text: "Two "}, &session.AssistantChunk{Text: "fil"}))
	retry := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	check(t, j.Append("", &session.TurnEnd{
		Turn: 1, Status: session.Interrupted, Reason: session.ReasonRateLimit, RetryAt: retry,
		Error: &session.Failure{Kind: "rate_limit", Message: "slow down", Status: 429},
	}))
	check(t, j.Commit())
	check(t, j.Close())
	f := fields(t, slurp(t, j.paths.checkpoint))
	for name, want := range map[string]string{
		"status": `"interrupted"`, "reason": `"rate_limit"`, "partial": `"Two fil"`, "answer": `null`, "attempts": `1`,
		"retryAt": `"2026-01-02T00:00:00Z"`, "error": `{"kind":"rate_limit","message":"slow down","status":429}`,
	} {
		if string(f[name]) != want {
			t.Errorf("%s: %s, want %s", name, f[name], want)
		}
	}
}

// metadata.input is cut at 200 characters, never inside one, and whatever a
// prompt, a host or an error holds, metadata stands in what a list reads.
func TestHeadIsSmallWhateverTheSessionHolds(t *testing.T) {
	for name, text := range map[string]string{
		"long": strings.Repeat("x", 1<<20), "chinese": strings.Repeat("读", 5000), "controls": strings.Repeat("\x01", 5000),
		"emoji": strings.Repeat("👩‍👩‍👧‍👦", 500), "invalid": strings.Repeat("\xff", 500), "short": "读", "empty": "", "199": strings.Repeat("é", 199), "200": strings.Repeat("é", 200), "201": strings.Repeat("é", 201),
	} {
		s, _ := newTestStore(t.TempDir())
		c := task
		c.Task, c.Settings.System = text, text
		j, err := s.Create(strings.Repeat("s", 128), c)
		check(t, err)
		check(t, j.Append("", &session.TurnStart{Turn: 1}, &session.TurnEnd{
			Turn: 1, Status: session.Failed, Reason: session.ReasonInternal, Error: &session.Failure{Kind: "internal", Message: text},
		}))
		check(t, j.Commit())
		check(t, j.Close())
		b := slurp(t, j.paths.checkpoint)
		if !utf8.Valid(b) || !json.Valid(b) {
			t.Errorf("%s: the checkpoint is not valid", name)
		}
		h, err := parseHead(b[:min(len(b), headSize)])
		check(t, err)
		runes := []rune(text)
		want := strings.ToValidUTF8(string(runes[:min(len(runes), 200)]), "\ufffd")
		if h.Metadata.Input != want {
			t.Errorf("%s: input %.40q… of %d characters", name, h.Metadata.Input, utf8.RuneCountInString(h.Metadata.Input))
		}
	}
}

// What a vendor needs back travels in extra fields, unchanged.
func TestVendorDataIsInTheMessages(t *testing.T) {
	s, _ := newTestStore(t.TempDir())
	j := create(t, s, "s")
	defer j.Close()
	check(t, j.Append("", &session.AssistantMessage{Parts: []message.Part{
		{Type: message.TypeReasoning, Text: "hm", Opaque: json.RawMessage(`{"signature":"a<b=="}`)},
		{Type: message.TypeCall, Call: &message.ToolCall{ID: "x", Name: "shell", Arguments: "{}"}, Opaque: json.RawMessage(`"thought"`)},
	}}))
	check(t, j.Commit())
	b := slurp(t, j.paths.checkpoint)
	for _, want := range []string{
		`"reasoning":[{"type":"reasoning","text":"hm","opaque":{"signature":"a<b=="}}]`,
		`"tool_calls":[{"id":"x","type":"function","function":{"name":"shell","arguments":"{}"},"opaque":"thought"}]`,
	} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
}

// Messages are encoded once; the checkpoint is the same as one made from
// scratch, by the owner and by a reader.
func TestCheckpointDoesNotDependOnItsHistory(t *testing.T) {
	eachWithDir(t, func(t *rapid.T, dir string) {
		s, _ := newTestStore(dir)
		j := create(t, s, "s")
		defer func() { j.Close() }()
		for range rapid.IntRange(1, 8).Draw(t, "operations") {
			text := rapid.String().Draw(t, "text")
			sc := j.State().Main()
			switch op := rapid.IntRange(0, 7).Draw(t, "operation"); {
			case op == 0 && len(sc.Pending()) == 0:
				check(t, j.Append("", said(text)))
			case op <= 2 && len(sc.Pending()) == 0:
				ask(t, j, text, rapid.IntRange(0, 3).Draw(t, "calls"))
			case op == 1:
				begin(t, j)
			case op <= 3 && len(sc.Pending()) > 0:
				c := rapid.SampledFrom(sc.Pending()).Draw(t, "call")
				check(t, j.Append("", &session.ToolResult{Call: c.ID, Outcome: session.OutcomeOK, Text: text}))
			case op == 4:
				check(t, j.Close())
				j, _ = reopen(t, s, "s")
			case op == 5:
				if d := j.State().Trim("", session.Budget{Chars: 100, Hard: true}); d != nil {
					check(t, j.Append("", d))
				}
			case op == 6:
				check(t, j.Append("", &session.ContextCompacted{Before: sc.Past(0).Before, Summary: text}))
			}
			if rapid.Bool().Draw(t, "commit") {
				check(t, j.Commit())
			}
		}
		check(t, j.Commit())
		got := slurp(t, j.paths.checkpoint)
		var scratch image
		want, err := scratch.encode(j.State(), promise{Seq: j.State().Seq, Offset: j.end, CRC: crcText(j.crc)}, true)
		check(t, err)
		if !bytes.Equal(got, want) {
			t.Fatalf("step by step %s\nfrom scratch %s", got, want)
		}
		v, err := s.Read("s")
		check(t, err)
		read, err := v.Image()
		check(t, err)
		if !bytes.Equal(got, read) {
			t.Fatalf("owner  %s\nreader %s", got, read)
		}
		var c struct {
			Messages []json.RawMessage `json:"messages"`
		}
		check(t, json.Unmarshal(got, &c))
		if n := len(j.State().Main().Messages()); len(c.Messages) != n {
			t.Fatalf("%d messages of %d", len(c.Messages), n)
		}
		if h, err := readHead(OS{}, j.paths.checkpoint); err != nil || !reflect.DeepEqual(h.Log, v.at) {
			t.Fatalf("head %+v, %v", h.Log, err)
		}
	})
}
