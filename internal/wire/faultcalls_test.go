package wire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tool calls as the handed faults (F049 to F060, F088) have them on the wire.
// Each is replayed to the built program, which runs the tools.

// wireCase is what a server tells, and what the next request has to hold.
type wireCase struct {
	protocol string
	told     string
	want     []string // in the request that follows
	not      []string // nor on disk, for a file's name
}

const (
	callA = `"id":"a","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"1\"}"}`
	callB = `"id":"b","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"2\"}"}`
)

func calls(list string) string { return `{"tool_calls":[` + list + `]}` }

func callCases() map[string]wireCase {
	both := []string{"text of one", "text of two", `"tool_call_id":"a"`, `"tool_call_id":"b"`}
	first := []string{"text of one"}
	cut := `{"index":0,"id":"a","function":{"name":"write_file","arguments":"{\"path\":\"out.txt\",\"content\":\"line1\\nline2"}}`
	args := func(raw string) string {
		return deltas(`"tool_calls"`, calls(`{"index":0,"id":"a","function":{"name":"glob","arguments":`+raw+`}}`))
	}
	list := map[string]wireCase{
		"F049 no index":          {"chat", deltas(`"tool_calls"`, calls(`{`+callA+`},{`+callB+`}`)), both, nil},
		"F049 null index":        {"chat", deltas(`"tool_calls"`, calls(`{"index":null,`+callA+`},{"index":null,`+callB+`}`)), both, nil},
		"F049 one a chunk":       {"chat", deltas(`"tool_calls"`, calls(`{`+callA+`}`), calls(`{`+callB+`}`)), both, nil},
		"F050 index again":       {"chat", deltas(`"tool_calls"`, calls(`{"index":0,`+callA+`}`), calls(`{"index":0,`+callB+`}`)), both, nil},
		"F051 index 7":           {"chat", deltas(`"tool_calls"`, calls(`{"index":7,`+callA+`}`)), first, nil},
		"F051 index far off":     {"chat", deltas(`"tool_calls"`, calls(`{"index":2000000000,`+callA+`}`)), first, nil},
		"F051 index below 0":     {"chat", deltas(`"tool_calls"`, calls(`{"index":-1,`+callA+`}`)), first, nil},
		"F053 interleaved":       {"chat", deltas(`"tool_calls"`, calls(`{"index":0,"id":"a","function":{"name":"read_file","arguments":null}}`), calls(`{"index":1,"id":"b","function":{"name":"read_file","arguments":""}}`), calls(`{"index":0,"function":{"arguments":"{\"path\":"}}`), calls(`{"index":1,"function":{"arguments":"{\"path\":"}}`), calls(`{"index":0,"function":{"arguments":"\"1\"}"}}`), calls(`{"index":1,"function":{"arguments":"\"2\"}"}}`)), both, nil},
		"F054 empty":             {"chat", args(`""`), []string{`"arguments":"{}"`}, []string{"not valid JSON"}},
		"F054 null":              {"chat", args(`null`), []string{`"arguments":"{}"`}, []string{"not valid JSON"}},
		"F054 blank":             {"chat", args(`"  "`), []string{`"arguments":"{}"`}, []string{"not valid JSON"}},
		"F054 missing":           {"chat", deltas(`"tool_calls"`, calls(`{"index":0,"id":"a","function":{"name":"glob"}}`)), []string{`"arguments":"{}"`}, []string{"not valid JSON"}},
		"F055 an object":         {"chat", args(`{"pattern":"1"}`), []string{`"content":"1`}, nil},
		"F056 a text":            {"ollama", `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read_file","arguments":"{\"path\":\"1\"}"}}]},"done":false}` + "\n" + ollamaEnd("stop"), []string{"text of one", `"arguments":{"path":"1"}`}, nil},
		"F060 cut":               {"chat", deltas(`"length"`, calls(cut)), []string{"they end too early"}, []string{"out.txt"}},
		"F060 cut, called whole": {"chat", deltas(`"tool_calls"`, calls(cut)), []string{"they end too early"}, []string{"out.txt"}},
		"F060 Anthropic": {"anthropic", messageStart + event("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"a","name":"write_file","input":{}}`) +
			event("content_block_delta", `"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"out.txt\",\"content\":\"l1"}`) + messageEnd("max_tokens"), []string{"they end too early"}, []string{"out.txt"}},
		"F060 Ollama":            {"ollama", `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"write_file","arguments":"{\"path\":\"out.txt\",\"content\":\"l1"}}]},"done":false}` + "\n" + ollamaEnd("length"), []string{"they end too early"}, []string{"out.txt"}},
		"F078 null beside calls": {"chat", deltas(`"tool_calls"`, calls(`{"index":0,`+callA+`}`)), []string{`{"role":"assistant","content":null,"tool_calls":[`}, nil},
	}
	for _, finish := range []string{`"stop"`, `"end_turn"`, `""`, `null`} {
		list["F058 finish "+finish] = wireCase{"chat", deltas(finish, calls(`{"index":0,`+callA+`}`)), first, nil}
	}
	item := func(arguments string) string {
		return `{"type":"function_call","id":"f","call_id":"c1","name":"read_file","arguments":"` + arguments + `"}`
	}
	begun, whole := item(""), item(`{\"path\":\"1\"}`)
	added := event("response.output_item.added", `"output_index":0,"item":`+begun)
	done := event("response.output_item.done", `"output_index":0,"item":`+whole)
	piece := event("response.function_call_arguments.delta", `"output_index":0,"item_id":"f","delta":"{\"path\":"`) +
		event("response.function_call_arguments.delta", `"output_index":0,"item_id":"f","delta":"\"1\"}"`)
	final := func(items string) string {
		return event("response.completed", `"response":{"status":"completed","output":[`+items+`]}`)
	}
	for name, stream := range map[string]string{
		"a, arguments.done alone": added + event("response.function_call_arguments.done", `"output_index":0,"item_id":"f","arguments":"{\"path\":\"1\"}"`) + final(whole),
		"a, and nothing in it":    added + event("response.function_call_arguments.done", `"output_index":0,"item_id":"f","arguments":"{\"path\":\"1\"}"`) + final(""),
		"b, item.done alone":      done + final(""),
		"c, completed alone":      final(whole),
		"d, no item.done":         added + piece + final(whole),
	} {
		list["F088 "+name] = wireCase{"responses", stream, []string{"text of one", `"call_id":"c1"`, `"arguments":"{\"path\":\"1\"}"`}, nil}
	}
	return list
}

func TestCallsOfTheHandedFaults(t *testing.T) {
	for name, c := range callCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := of(c.protocol)
			s := tell(t, told{body: c.told}, told{body: says(p, `"done"`)})
			dir := inFiles(t)
			got := kagent(t, dir, slices.Concat([]string{"run", "-q", "--allow", "write", "--context-chars", "100000", "go"}, s.model(p))...)
			heard := s.requests()
			if got.code != 0 || got.out != "done\n" || len(heard) != 2 {
				t.Fatalf("exit %d, %q after %d requests: %s", got.code, got.out, len(heard), got.stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(heard[1], want) {
					t.Errorf("%s is not in %s", want, heard[1])
				}
			}
			for _, not := range c.not {
				if _, err := os.Stat(filepath.Join(dir, not)); err == nil || not != "out.txt" && strings.Contains(heard[1], not) {
					t.Errorf("%s is there: %s", not, heard[1])
				}
			}
			legalArguments(t, heard[1])
			if n := strings.Count(heard[1], "text of one"); slices.Contains(c.want, "text of one") && n != 1 {
				t.Errorf("the file was read %d times", n)
			}
		})
	}
}

// inFiles makes a directory with two files to be read.
func inFiles(t *testing.T) string {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "1"), "text of one\n")
	put(t, filepath.Join(dir, "2"), "text of two\n")
	return dir
}

// legalArguments fails the test for arguments that a strict service refuses.
func legalArguments(t *testing.T, body string) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if text, ok := v["arguments"].(string); ok {
				var object map[string]any
				if json.Unmarshal([]byte(text), &object) != nil || object == nil {
					t.Errorf("the arguments %q are sent back", text)
				}
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	walk(v)
}
