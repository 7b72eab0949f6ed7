package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// fake starts the strict fake server with a scenario and returns its address
// and a function that stops it and says which strict rules were broken.
func fake(t *testing.T, scenario []byte) (address string, check func() string) {
	t.Helper()
	source := shared(t, "fakellm")
	dir := t.TempDir()
	bin, file, log := filepath.Join(dir, "fakellm"), filepath.Join(dir, "scenario.json"), filepath.Join(dir, "log.jsonl")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("the fake server does not build: %v\n%s", err, out)
	}
	if err := os.WriteFile(file, scenario, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-scenario", file, "-log", log)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on ")), func() string {
		out, err := exec.Command(bin, "check", "-log", log).CombinedOutput()
		if err != nil {
			return string(out)
		}
		return ""
	}
}

// quirkErrors are the quirks that are no answer, and the kind of their errors.
var quirkErrors = map[string]provider.Kind{
	"cut_reset": provider.Network, "cut_fin": provider.Network, "cut_clean": provider.Network,
	"cut_length": provider.Network, "cut_close": provider.Network, "cut_call": provider.Network,
	"cut_gzip": provider.Network, "cut_before_body": provider.Network,
	"stall": provider.Timeout, "stall_before_headers": provider.Timeout,
	"error_in_stream": provider.Overloaded, "error_first": provider.Quota,
	"html200": provider.Server, "html502": provider.Server,
	"empty_body": provider.Network, "comment_body": provider.Network, "only_done": provider.Server,
	"json_error_200": provider.RateLimit, "malformed_function_call": provider.Server,
}

// Each quirk of the fake server gives the plain answer, two turns that the
// strict server accepts, or the right error (F021, F049 to F089).
func TestEveryQuirkOfTheFakeServer(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(shared(t, "fakellm"), "scenarios", "every-quirk.json"))
	if err != nil {
		t.Fatal(err)
	}
	var scenario map[string]any
	if err := json.Unmarshal(raw, &scenario); err != nil {
		t.Fatal(err)
	}
	scenario["rules_on"] = []string{"reasoning_replay", "unknown_field"}
	raw, err = json.Marshal(scenario)
	if err != nil {
		t.Fatal(err)
	}
	address, check := fake(t, raw)
	for _, rule := range scenario["rules"].([]any) {
		rule := rule.(map[string]any)
		name := rule["name"].(string)
		if name == "after the tools" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			o := Options{Model: "m", BaseURL: address + "/v1/", APIKey: "test-key"}
			if strings.HasPrefix(name, "stall") {
				o.IdleTimeout = 200 * time.Millisecond
			}
			quirk(t, open(t, o), name, rule)
		})
	}
	if broken := check(); broken != "" {
		t.Errorf("strict rules were broken:\n%s", broken)
	}
}

func quirk(t *testing.T, p provider.Provider, name string, rule map[string]any) {
	req := provider.Request{
		System:   "Be brief.",
		Messages: []message.Message{{Role: message.User, Parts: []message.Part{message.Text("quirk:" + name + ";")}}},
		Tools:    []message.ToolSpec{{Name: "read_file", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
	}
	var h heard
	reply, err := p.Stream(context.Background(), req, h.emit)
	if want := quirkErrors[name]; want != "" {
		if got := failed(t, err); got.Kind != want {
			t.Errorf("kind %s, want %s: %v", got.Kind, want, got)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if h.text.String() != textOf(reply) || h.reasoning.String() != reasoningOf(reply) {
		t.Errorf("emitted %q and %q, replied %v", h.text.String(), h.reasoning.String(), reply)
	}
	if want, _ := rule["reply"].(map[string]any); want != nil {
		checkQuirk(t, reply, want)
	}
	if len(callsOf(reply)) == 0 {
		return
	}
	// The second turn: ids made legal, as the sessions do it, unless they are.
	said := message.Message{Role: message.Assistant, Parts: reply.Parts, Model: "openai/m"}
	req.Messages = append(req.Messages, said)
	seen := map[string]bool{"": true}
	for i, c := range said.Calls() {
		if seen[c.ID] {
			c.ID = fmt.Sprintf("call_%d", i)
		}
		seen[c.ID] = true
		said.Parts[len(said.Parts)-len(said.Calls())+i].Call.ID = c.ID
		req.Messages = append(req.Messages, message.Message{Role: message.Tool, Parts: []message.Part{
			message.Result(message.ToolResult{ID: c.ID, Name: c.Name, Text: "result"}),
		}})
	}
	reply, err = p.Stream(context.Background(), req, h.emit)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(textOf(reply), "Got ") || reply.Stop != message.StopEnd {
		t.Errorf("second turn: %v", reply)
	}
}

func checkQuirk(t *testing.T, reply provider.Reply, want map[string]any) {
	if text, ok := want["text"].(string); ok && !strings.Contains(text, "{{") && textOf(reply) != text {
		t.Errorf("text %q, want %q", textOf(reply), text)
	}
	if r, ok := want["reasoning"].(string); ok && reasoningOf(reply) != r {
		t.Errorf("reasoning %q, want %q", reasoningOf(reply), r)
	}
	calls, _ := want["tool_calls"].([]any)
	if got := callsOf(reply); len(got) != len(calls) {
		t.Fatalf("%d calls, want %d: %v", len(got), len(calls), got)
	}
	for i, c := range callsOf(reply) {
		want := calls[i].(map[string]any)
		if c.Name != message.Clean(want["name"].(string)) {
			t.Errorf("name %q, want %q", c.Name, want["name"])
		}
		switch args := want["args"].(type) {
		case string:
			if args != "" && c.Arguments != args {
				t.Errorf("arguments %q, want %q", c.Arguments, args)
			}
		case map[string]any:
			if path, ok := args["path"]; ok && c.Arguments != fmt.Sprintf(`{"path":%q}`, path) && c.Arguments != fmt.Sprintf(`{"path": %q}`, path) {
				t.Errorf("arguments %q, want %v", c.Arguments, args)
			}
		}
	}
	if stop, ok := want["finish_reason"].(string); ok && string(reply.Stop) != stop {
		t.Errorf("stop %q, want %q", reply.Stop, stop)
	}
	if _, ok := want["refusal"]; ok && (reply.Stop != message.StopRefusal || textOf(reply) == "") {
		t.Errorf("a refusal became %v", reply)
	}
}
