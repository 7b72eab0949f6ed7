package wire

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/provider"
)

// Every quirk of the wire, from the prompt to the exit code. A sample asks one
// protocol for each, in turn.
func TestEveryQuirkEndsAsItShould(t *testing.T) {
	scenario := builtIn(t, "every-quirk")
	rules := scenario["rules"].([]any)
	plainly := map[string]any{"when": map[string]any{"last_user_contains": "something else"}, "reply": map[string]any{"text": "Something else."}}
	scenario["rules"] = append([]any{plainly}, rules...)
	s := serve(t, scenario)
	t.Run("all", func(t *testing.T) {
		for i, r := range rules {
			rule := r.(map[string]any)
			name := rule["name"].(string)
			for n, p := range protocols() {
				if name == "after the tools" || !full() && n != i%len(protocols()) {
					continue
				}
				t.Run(name+" "+p.name, func(t *testing.T) {
					t.Parallel()
					quirk(t, s, p, name, rule)
				})
			}
		}
	})
	s.strict(t)
}

func quirk(t *testing.T, s *server, p protocol, name string, rule map[string]any) {
	dir := t.TempDir()
	for _, f := range []string{"1", "2"} {
		put(t, filepath.Join(dir, f), "text of "+f)
	}
	idle := "30s"
	if strings.HasPrefix(name, "stall") {
		idle = "300ms"
	}
	got := kagent(t, dir, slices.Concat([]string{
		"run", "-q", "-s", "q", "--retries", "0", "--idle-timeout", idle, "--allow", "write", "--tools", "read_file,write_file", "quirk:" + name + ";",
	}, p.model(s, "m"))...)
	want, code := expected(p.name, name, rule)
	switch {
	case got.code != code:
		t.Errorf("exit %d, want %d: %s", got.code, code, got.stderr)
	case code != 0 && got.out != "":
		t.Errorf("an unfinished run printed %q", got.out)
	case code == 0 && !strings.HasPrefix(got.out, want):
		t.Errorf("answer %q, want %q", got.out, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "out.txt")); err == nil {
		t.Error("a call that was cut has run")
	}
	// Whatever it was, the session can be gone on with.
	if again := kagent(t, dir, "resume", "q", "-q", "something else"); again.code != 0 || again.out != "Something else.\n" {
		t.Errorf("another prompt: exit %d, %q, %s", again.code, again.out, again.stderr)
	}
}

// expected returns what the answer begins with, or the exit code without one.
func expected(protocol, name string, rule map[string]any) (answer string, code int) {
	if kind, ok := failures(protocol)[name]; ok {
		return "", kind.Means().Exit
	}
	switch name {
	case "plain":
		return "No quirk named.\n", 0
	case "finish_length": // cut at the limit, gone on with, joined
		return "The answer isNo quirk named.\n", 0
	case "length_in_call":
		return "Got 1 results: invalid arguments for write_file: they are not valid JSON: they end too early", 0
	case "reasoning_only":
		return "", 6 // max_output, again and again
	case "refusal", "content_filter":
		if protocol == "ollama" && name == "refusal" { // a refusal is a text there
			return "I cannot help with that.\n", 0
		}
		return "", 1
	case "empty_answer", "blank_answer", "finish_tool_calls_without_calls", "malformed_function_call": // the last two where the protocol has no word for them
		return "", 1 // incomplete
	case "text_controls":
		return "x", 0
	case "text_surrogate", "text_nul", "text_bad_utf8":
		return "x\uFFFDy\n", 0
	}
	reply := rule["reply"].(map[string]any)
	calls, _ := reply["tool_calls"].([]any)
	if text := reply["text"]; len(calls) == 0 {
		return text.(string) + "\n", 0
	}
	last := calls[len(calls)-1].(map[string]any)
	args, fits := last["args"].(map[string]any)
	switch {
	case last["name"] == "read_file" && fits:
		return "Got " + string(rune('0'+len(calls))) + " results: text of " + args["path"].(string) + "\n", 0
	case last["name"] == "read_file":
		return "Got 1 results: invalid arguments for read_file", 0
	}
	return "Got 1 results: there is no tool named ", 0
}

// failures are the quirks that are no answer.
func failures(protocol string) map[string]provider.Kind {
	kinds := map[string]provider.Kind{
		"cut_reset": provider.Network, "cut_fin": provider.Network, "cut_clean": provider.Network,
		"cut_length": provider.Network, "cut_close": provider.Network, "cut_call": provider.Network,
		"cut_gzip": provider.Network, "cut_before_body": provider.Network,
		"stall": provider.Timeout, "stall_before_headers": provider.Timeout,
		"error_in_stream": provider.Overloaded, "error_first": provider.Quota,
		"html200": provider.Server, "html502": provider.Server, "json_error_200": provider.RateLimit,
		"empty_body": provider.Network, "comment_body": provider.Network, "only_done": provider.Network,
		"malformed_function_call": provider.Server, "finish_tool_calls_without_calls": provider.Server,
	}
	switch protocol {
	case "responses":
		delete(kinds, "malformed_function_call") // these arrive as a response that is completed
		delete(kinds, "finish_tool_calls_without_calls")
	case "anthropic":
		kinds["no_done"] = provider.Network // no message_stop
	case "gemini":
		kinds["finish_null"], kinds["finish_empty"] = provider.Network, provider.Network // no terminal event
		delete(kinds, "cut_call")                                                        // a call is one event: the cut comes too late
	case "ollama":
		delete(kinds, "cut_call")
	}
	return kinds
}
