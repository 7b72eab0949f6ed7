package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Streams as the handed faults (F061 to F089) have them, replayed to the built
// program.

// F061, F064, F066, F068, F069: the answer, however its bytes come.
func TestTextsOfTheHandedFaults(t *testing.T) {
	type one struct {
		name string
		p    protocol
		told told
		want string
	}
	const text = `"Grüße äöü 😀"`
	var list []one
	for _, p := range protocols() {
		whole := says(p, text)
		list = append(list,
			one{"F066 byte by byte", p, told{body: whole, pieces: 1}, "Grüße äöü 😀"},
			one{"F066 at once", p, told{body: whole}, "Grüße äöü 😀"})
		if p.name != "ollama" {
			list = append(list,
				one{"F061 no space", p, told{body: strings.NewReplacer("data: ", "data:", "event: ", "event:").Replace(says(p, `"hi"`))}, "hi"},
				one{"F061 two spaces", p, told{body: strings.ReplaceAll(says(p, `" hi"`), "data: ", "data:  ")}, " hi"})
		}
		list = append(list, one{"F069 stays open", p, told{body: says(p, `"hi"`), end: stalls}, "hi"})
	}
	chat := of("chat")
	list = append(list,
		one{"F064 several lines", chat, told{body: "data: {\"choices\":[\ndata:   {\"index\":0,\"delta\":{\"content\":\"hi\"},\ndata: \"finish_reason\":null}\ndata: ]}\n\ndata: [DONE]\n\n"}, "hi"},
		one{"F068 no [DONE]", chat, told{body: strings.TrimSuffix(says(chat, `"hi"`), "data: [DONE]\n\n")}, "hi"})
	for _, c := range list {
		t.Run(c.name+" "+c.p.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, c.told)
			got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "--tools", "none", "go"}, s.model(c.p))...)
			if got.code != 0 || got.out != c.want+"\n" || len(s.requests()) != 1 {
				t.Errorf("exit %d, %q after %d requests: %s", got.code, got.out, len(s.requests()), got.stderr)
			}
		})
	}
}

// F065: lines longer than any buffer, as text, as arguments and in one piece of
// JSON, in each protocol by itself.
func TestLongLinesOfTheHandedFaults(t *testing.T) {
	for _, size := range []int{65_537, 1_048_577, 8 << 20} {
		text := strings.Repeat("a", size)
		for _, p := range protocols() {
			s := tell(t, told{body: says(p, `"`+text+`"`)})
			got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "--tools", "none", "go"}, s.model(p))...)
			if got.code != 0 || len(got.out) != size+1 {
				t.Errorf("%s, %d bytes: exit %d, %d bytes, %.300s", p.name, size, got.code, len(got.out), got.stderr)
			}
		}
		chat := of("chat")
		args := deltas(`"tool_calls"`, calls(`{"index":0,"id":"a","function":{"name":"write_file","arguments":"{\"path\":\"out\",\"content\":\"`+text+`\"}"}}`))
		dir := t.TempDir()
		s := tell(t, told{body: args}, told{body: says(chat, `"done"`)})
		got := kagent(t, dir, slices.Concat([]string{"run", "-q", "--allow", "write", "go"}, s.model(chat))...)
		if info, err := os.Stat(filepath.Join(dir, "out")); got.code != 0 || err != nil || info.Size() != int64(size) {
			t.Errorf("arguments, %d bytes: exit %d, %v, %.300s", size, got.code, err, got.stderr)
		}
		s = tell(t, told{header: "application/json", body: `{"choices":[{"message":{"content":"` + text + `"},"finish_reason":"stop"}]}`})
		if got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "go"}, s.model(chat))...); len(got.out) != size+1 {
			t.Errorf("in one piece, %d bytes: exit %d, %d bytes, %.300s", size, got.code, len(got.out), got.stderr)
		}
	}
}

// F067: half an answer, or half a call, is none, however it breaks off.
func TestBrokenOffStreamsOfTheHandedFaults(t *testing.T) {
	for _, p := range protocols() {
		whole := says(p, `"The answer is 4"`)
		half := whole[:strings.Index(whole, "answer is 4")+len(`answer is 4"`)]
		half = whole[:len(half)+strings.Index(whole[len(half):], "\n")] + "\n\n"
		switch p.name { // the end is in the same event
		case "chat":
			half = strings.Replace(half, `,"finish_reason":"stop"`, "", 1)
		case "gemini":
			half = strings.Replace(half, `,"finishReason":"STOP"`, "", 1)
		}
		for _, end := range []string{"", closes, resets, tooShort} {
			t.Run(p.name+" "+end, func(t *testing.T) {
				t.Parallel()
				s := tell(t, told{body: half, end: end})
				dir := t.TempDir()
				got := kagent(t, dir, slices.Concat([]string{"run", "-s", "x", "--retries", "0", "go"}, s.model(p))...)
				if got.code != 75 || got.out != "" || !strings.Contains(got.stderr, "interrupted: network") {
					t.Errorf("exit %d, %q: %s", got.code, got.out, got.stderr)
				}
				if shown := kagent(t, dir, "show", "x", "--messages"); strings.Contains(shown.out, "The answer is 4") {
					t.Errorf("half an answer is a message: %s", shown.out)
				}
			})
		}
	}
	chat := of("chat")
	call := deltas(`null`, calls(`{"index":0,"id":"a","function":{"name":"write_file","arguments":"{\"path\":\"out\",\"content\":\"x\"}"}}`))
	dir := t.TempDir()
	s := tell(t, told{body: call[:strings.Index(call, "\n\n")+2]})
	got := kagent(t, dir, slices.Concat([]string{"run", "-q", "--allow", "write", "--retries", "0", "go"}, s.model(chat))...)
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil || got.code != 75 {
		t.Errorf("a call of a stream that broke off: exit %d, %v", got.code, err)
	}
}

// F070, F071, F077, F081, F082, F087: what is no answer is none, and is said.
func TestWhatIsNoAnswerOfTheHandedFaults(t *testing.T) {
	const done = "data: [DONE]\n\n"
	const half = `data: {"choices":[{"index":0,"delta":{"content":"so far"}}]}` + "\n\n"
	const used = `{"message":"credit used up","code":429}`
	const page = "<html><body>Login\x1b[2J" + "</body></html>"
	busy := "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}` + "\n\n"
	incomplete := event("response.output_item.done", `"output_index":0,"item":{"type":"function_call","id":"f","status":"incomplete","call_id":"c1","name":"write_file","arguments":"{\"pa"}`) +
		event("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`)
	for name, c := range map[string]struct {
		protocol string
		told     told
		code     int
		says     string
		requests int
	}{
		"F070 object":             {"chat", told{body: "data: {\"error\":" + used + "}\n\n" + done}, 75, "credit used up", 2},
		"F070 text":               {"chat", told{body: "data: {\"error\":\"credit used up\"}\n\n" + done}, 75, "credit used up", 2},
		"F070 beside choices":     {"chat", told{body: "data: {\"choices\":[],\"error\":" + used + "}\n\n"}, 75, "credit used up", 2},
		"F070 in a choice":        {"chat", told{body: `data: {"choices":[{"index":0,"delta":{},"error":` + used + `,"finish_reason":"error"}]}` + "\n\n"}, 75, "credit used up", 2},
		"F070 after text":         {"chat", told{body: half + "data: {\"error\":" + used + "}\n\n"}, 75, "credit used up", 2},
		"F070 no stream":          {"chat", told{header: "application/json", body: `{"error":` + used + `}`}, 75, "credit used up", 2},
		"F071 overloaded":         {"anthropic", told{body: messageStart + busy}, 75, "busy", 2},
		"F077 a page":             {"chat", told{header: "text/html", body: page}, 75, "an HTML page (Login", 2},
		"F077 a page as JSON":     {"anthropic", told{header: "application/json", body: page}, 75, "an HTML page (Login", 2},
		"F077 a page, 502":        {"gemini", told{status: 502, header: "text/html", body: page}, 75, "HTTP 502", 2},
		"F081 thoughts, cut":      {"chat", told{body: deltas(`"length"`, `{"reasoning_content":"hm"}`)}, 6, "paused", 0},
		"F081 thoughts, no end":   {"chat", told{body: `data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}` + "\n\n"}, 75, "before its end", 2},
		"F082 silent":             {"chat", told{body: half, end: stalls}, 75, "sent nothing for", 2},
		"F082 not even a head":    {"responses", told{end: silent}, 75, "sent nothing for", 2},
		"F087 failed":             {"responses", told{body: event("response.failed", `"response":{"status":"failed","error":{"code":"server_error","message":"m1"}}`)}, 75, "m1", 2},
		"F087 filtered":           {"responses", told{body: event("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}`)}, 1, "content_filter", 1},
		"F087 an incomplete call": {"responses", told{body: incomplete}, 6, "paused", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, c.told)
			dir := t.TempDir()
			got := kagent(t, dir, slices.Concat([]string{"run", "--allow", "write", "--retries", "1", "--max-steps", "6", "--idle-timeout", "1s", "go"}, s.model(of(c.protocol)))...)
			if got.code != c.code || got.out != "" || !strings.Contains(got.stderr, c.says) {
				t.Errorf("exit %d, want %d; %q: %s", got.code, c.code, got.out, got.stderr)
			}
			if n := len(s.requests()); c.requests > 0 && n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
			if strings.Contains(got.stderr, "\x1b") || len(got.stderr) > 4<<10 {
				t.Errorf("stderr is not fit to be read: %q", got.stderr)
			}
			if strings.HasPrefix(name, "F077") && !strings.Contains(got.stderr, "127.0.0.1") {
				t.Errorf("the host is not named: %s", got.stderr)
			}
		})
	}
}

// F071: what a stream said before it failed is void.
func TestAfterAnErrorOnlyTheGoodAnswerCounts(t *testing.T) {
	p := of("anthropic")
	broken := strings.Split(says(p, `"bad "`), "event: content_block_stop")[0] +
		"event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}` + "\n\n"
	s := tell(t, told{body: "event: news\ndata: {\"type\":\"news\"}\n\n" + broken}, told{body: says(p, `"good"`)})
	got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "--retries", "1", "go"}, s.model(p))...)
	if got.code != 0 || got.out != "good\n" {
		t.Errorf("exit %d, %q: %s", got.code, got.out, got.stderr)
	}
}

// F089: what can't pass is asked once; what may pass, as often as allowed.
func TestRetriesOfTheHandedFaults(t *testing.T) {
	quota := `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"m2"}}`
	for name, c := range map[string]struct {
		told     told
		code     int
		requests int
		says     string
	}{
		"401":   {told{status: 401, body: `{"error":{"message":"m2"}}`}, 8, 1, "m2"},
		"404":   {told{status: 404, body: `{"error":{"message":"model m2 not found"}}`}, 1, 1, "m2"},
		"400":   {told{status: 400, body: `{"error":{"message":"m2"}}`}, 1, 1, "m2"},
		"quota": {told{status: 429, body: quota}, 8, 1, "m2"},
		"429":   {told{status: 429, body: `{"error":{"message":"rate limit: m2"}}`}, 75, 2, "m2"},
		"500":   {told{status: 500, body: "m2"}, 75, 2, "m2"}, "502": {told{status: 502, body: "m2"}, 75, 2, "m2"},
		"503": {told{status: 503, body: "m2"}, 75, 2, "m2"}, "529": {told{status: 529, body: "m2"}, 75, 2, "m2"},
		"reset": {told{end: resets}, 75, 2, "network"},
	} {
		c.told.header = "application/json"
		for _, p := range protocols() {
			t.Run(fmt.Sprint(name, " ", p.name), func(t *testing.T) {
				t.Parallel()
				s := tell(t, c.told)
				got := kagent(t, t.TempDir(), slices.Concat([]string{"run", "-q", "--retries", "1", "go"}, s.model(p))...)
				if n := len(s.requests()); got.code != c.code || n != c.requests || !strings.Contains(got.stderr, c.says) {
					t.Errorf("exit %d, want %d, after %d requests, want %d: %s", got.code, c.code, n, c.requests, got.stderr)
				}
			})
		}
	}
}
