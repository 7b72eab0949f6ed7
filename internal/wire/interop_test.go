//go:build interop

package wire

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Servers that nobody here wrote. aimock is fetched by npm into a temporary
// directory; llama.cpp's server is used where the machine has one, and
// KAGENT_LLAMA_MODEL names a model that calls tools.

// fixtures of aimock: two calls at once, then an answer if both results came.
const aimockFixtures = `{"fixtures": [
  {"match": {"userMessage": "look", "hasToolResult": false}, "response": {"content": "I look. ", "toolCalls": [
    {"name": "read_file", "arguments": {"path": "1"}}, {"name": "read_file", "arguments": {"path": "2"}}]}},
  {"match": {"userMessage": "look", "toolResultContains": "text of two"}, "response": {"content": "Grüße 😀, both were read."}},
  {"match": {"userMessage": "think"}, "response": {"content": "thought", "reasoning": "hm, hm"}},
  {"match": {"userMessage": "busy"}, "response": {"error": {"message": "rate limit: m1", "type": "rate_limit_error"}, "status": 429}}
]}`

func TestInteropWithAimock(t *testing.T) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("needs npm")
	}
	dir := t.TempDir()
	if out, err := exec.Command(npm, "install", "--no-audit", "--no-fund", "--prefix", dir, "@copilotkit/aimock").CombinedOutput(); err != nil {
		t.Skipf("aimock could not be fetched: %v\n%s", err, out)
	}
	put(t, filepath.Join(dir, "fixtures.json"), aimockFixtures)
	s := &teller{url: started(t, filepath.Join(dir, "node_modules/.bin/llmock"), "-f", filepath.Join(dir, "fixtures.json"), "--strict", "-c", "3", "-p")}
	for _, p := range protocols() {
		for prompt, want := range map[string]ran{
			"look":  {0, "Grüße 😀, both were read.\n", ""},
			"think": {0, "thought\n", ""},
			"busy":  {75, "", "m1"},
		} {
			t.Run(p.name+" "+prompt, func(t *testing.T) {
				work := inFiles(t)
				got := kagent(t, work, slices.Concat([]string{"run", "-s", "x", "--retries", "0", prompt}, s.model(p))...)
				if got.code != want.code || got.out != want.out || !strings.Contains(got.stderr, want.stderr) {
					t.Errorf("exit %d, %q: %s", got.code, got.out, got.stderr)
				}
				if again := kagent(t, work, "resume", "x", "-q", "think"); again.code != 0 || again.out != "thought\n" {
					t.Errorf("gone on with: exit %d, %q: %s", again.code, again.out, again.stderr)
				}
			})
		}
	}
}

func TestInteropWithLlamaCpp(t *testing.T) {
	llama, err := exec.LookPath("llama-server")
	model := os.Getenv("KAGENT_LLAMA_MODEL")
	if err != nil || model == "" {
		t.Skip("needs llama-server in PATH and the file of a model in KAGENT_LLAMA_MODEL")
	}
	s := &teller{url: started(t, llama, "-m", model, "--jinja", "-c", "4096", "--port")}
	for _, name := range []string{"chat", "responses", "anthropic"} {
		t.Run(name, func(t *testing.T) {
			got := kagent(t, inFiles(t), slices.Concat([]string{"run", "-q", "Read the file named 1 and repeat what it says."}, s.model(of(name)))...)
			if got.code != 0 || !strings.Contains(got.out, "text of one") {
				t.Errorf("exit %d, %q: %s", got.code, got.out, got.stderr)
			}
			long := strings.Repeat("long ", 20_000)
			got = kagent(t, inFiles(t), slices.Concat([]string{"run", "-q", "--tools", "none", long}, s.model(of(name)))...)
			if got.code != 6 || !strings.Contains(got.stderr, "context_length") {
				t.Errorf("a prompt that is too long: exit %d, %q: %s", got.code, got.out, got.stderr)
			}
		})
	}
}

// started runs a server whose last argument is a port, until the test ends.
func started(t *testing.T, name string, args ...string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	var said bytes.Buffer
	c := exec.Command(name, append(args, fmt.Sprint(port))...)
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	for range 600 { // models take their time
		if r, err := http.Get(url + "/health"); err == nil {
			r.Body.Close()
			if r.StatusCode < 500 {
				return url
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s does not answer: %s", name, said.String())
	return ""
}
