package anthropic

import (
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func result(id, text string, isError bool) message.Message {
	return providertest.ResultMessage(id, "read_file", text, isError)
}

// Everything a conversation can hold, good and bad, in one request.
func conversation() provider.Request {
	foreign := say(message.Assistant, providertest.ThoughtPart("secret thoughts", `{"type":"thinking","signature":"theirs=="}`), message.Text("from another model"),
		providertest.CallPart("c9", "pwd", "{}", `{"caller":{"type":"no"}}`))
	foreign.Model = "openai/m"
	thoughtOnly := say(message.Assistant, providertest.ThoughtPart("foreign and nothing else", `{"type":"thinking","signature":"theirs=="}`))
	thoughtOnly.Model = "openai/m"
	cited := message.Text("cited")
	cited.Opaque = json.RawMessage(`{"citations":[{"type":"web_search_result_location","encrypted_index":"e=="}]}`)
	temperature := 1.5
	return provider.Request{
		System: "You are <kind> & brief.",
		Messages: []message.Message{
			say(message.Assistant, message.Text("trimmed: nobody asked")),
			say(message.User, message.Text("review this"), message.Text(" \n"), message.Text("attached\x00 \xff")),
			say(message.User, message.Text("and that")),
			say(message.Assistant, providertest.ThoughtPart("let <me> see", `{"type":"thinking","signature":"sig+/=="}`), providertest.ThoughtPart("", `{"type":"redacted_thinking","data":"secret+/=="}`),
				message.Text("Two at once.\n"), message.Text("\n"),
				providertest.CallPart("toolu_1", "read_file", `{"path":"a","n":9223372036854775807,"text":"\ud83d\u0000\ud83d\ude00"}`, ``),
				providertest.CallPart("toolu_2", "read file!", `{"path":`, ``), providertest.CallPart("toolu_3", strings.Repeat("x", 70), `[1]`, ``), providertest.CallPart("toolu_4", "", ``, `{"caller":{"type":"code_execution_20260120","tool_id":"srvtoolu_1"}}`)),
			result("toolu_1", "content", false),
			result("toolu_2", "error: arguments are no JSON", true),
			result("toolu_3", "", false),
			result("toolu_4", " \n", true),
			say(message.User, message.Text("by the way")),
			say(message.Assistant, providertest.ThoughtPart("cut off", `{"type":"thinking"}`), providertest.ThoughtPart("", `{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}}`),
				providertest.ThoughtPart("", `{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","encrypted_content":"e=="}]}`),
				cited, providertest.ThoughtPart("", `{"type":"server_tool_use","id":"s2","name":"web_search","input":{}}`), providertest.ThoughtPart("", `{"type":"fallback","to":{}}`), providertest.ThoughtPart("no opaque", ``)),
			say(message.User, message.Text("")),
			thoughtOnly,
			say(message.User, message.Text("go on 😀")),
			foreign,
			result("c9", "/", false),
		},
		Note: "Step 2 of 3 is next.",
		Tools: []message.ToolSpec{
			{Name: "read_file", Description: "Reads <a> file.", Schema: json.RawMessage(`{"type": "object", "properties": {"path": {"type": "string"}}}`)},
			{Name: "pwd"},
		},
		Choice:  "read_file",
		Output:  json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`),
		Options: provider.Options{MaxOutput: 5000, Temperature: &temperature, Effort: "high"},
	}
}

func TestTheRequestIsAsRecorded(t *testing.T) {
	for name, o := range map[string]Options{
		"claude-haiku-4-5": {Model: "claude-haiku-4-5", APIKey: " test-key\n", Header: map[string]string{"X-Title": "kagent"}},
		"claude-opus-5-5":  {Model: "claude-opus-5-5", APIKey: "test-key", BaseURL: "https://gateway.test/anthropic/v1/?a=b", Header: map[string]string{"anthropic-beta": "mine"}},
	} {
		conv := conversation()
		for i := range conv.Messages {
			conv.Messages[i].Model = strings.Replace(conv.Messages[i].Model, "anthropic/m", "anthropic/"+o.Model, 1)
		}
		req, body := sent(t, o, conv)
		providertest.GoldenRequest(t, name, *update, req, body)
	}
}

func TestAnEmptyRequestHasNoEmptyLists(t *testing.T) {
	req, body := sent(t, Options{}, hello())
	want := `{"model":"m","max_tokens":8192,"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}],"stream":true}`
	if body != want {
		t.Errorf("body %s, want %s", body, want)
	}
	if _, there := req.Header["X-Api-Key"]; there {
		t.Error("a key is sent though there is none")
	}
}

func TestBaseURLsAreJoined(t *testing.T) {
	for base, want := range map[string]string{
		"":                              "https://api.anthropic.com/v1/messages",
		"http://h:1":                    "http://h:1/v1/messages",
		"http://h:1/v1/":                "http://h:1/v1/messages",
		" http://h/api/anthropic ":      "http://h/api/anthropic/v1/messages",
		"https://h/a%20b/v1?version=1":  "https://h/a%20b/v1/messages?version=1",
		"https://h/v1/messages":         "https://h/v1/messages",
		"https://h/x/v1/messages/#part": "https://h/x/v1/messages/",
	} {
		p, err := New(Options{Model: "m", BaseURL: base})
		if err != nil || p.(*client).http.Address != want {
			t.Errorf("%q: %v, %v; want %q", base, p, err, want)
		}
	}
	if _, err := New(Options{}); err == nil || !strings.HasPrefix(err.Error(), "anthropic: ") {
		t.Errorf("no model: %v", err)
	}
}

// At most four marks, and none on what changes with the next request.
func TestTheStablePrefixIsMarked(t *testing.T) {
	req := provider.Request{
		System: "s", Note: "now",
		Tools: []message.ToolSpec{{Name: "a"}, {Name: "b"}},
		Messages: []message.Message{
			say(message.User, message.Text("one")),
			say(message.Assistant, providertest.CallPart("c1", "a", "{}", "")), result("c1", "r1", false),
			say(message.Assistant, providertest.CallPart("c2", "a", "{}", ""), providertest.CallPart("c3", "a", "{}", "")), result("c2", "r2", false), result("c3", "r3", false),
		},
	}
	marked := func(req provider.Request) string {
		_, body := sent(t, Options{}, req)
		var all []string
		for _, part := range strings.Split(body, `,"cache_control"`)[:strings.Count(body, "cache_control")] {
			all = append(all, part[strings.LastIndex(part, "{"):])
		}
		return strings.Join(all, " ")
	}
	last := `{"type":"tool_result","tool_use_id":"c1","content":"r1" {}` // the end of the call c3: the note follows the results
	if got, want := marked(req), `{"type":"text","text":"s" `+last; got != want {
		t.Errorf("with a note, marked %s, want %s", got, want)
	}
	req.Note = ""
	last = `{"type":"tool_result","tool_use_id":"c1","content":"r1" {"type":"tool_result","tool_use_id":"c3","content":"r3"`
	if got, want := marked(req), `{"type":"text","text":"s" `+last; got != want {
		t.Errorf("marked %s, want %s", got, want)
	}
	req.System = ""
	if got, want := marked(req), `{}} `+last; got != want { // the end of the last tool
		t.Errorf("marked %s, want %s", got, want)
	}
}
