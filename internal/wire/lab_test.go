package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kagent/pkg/provider/providertest"
)

// protocol is a way to the server, as a user takes it.
type protocol struct {
	name string // in the server's log
	as   string // the service of a model's name
	path string // of the base URL
}

func protocols() []protocol {
	return []protocol{
		{"chat", "openai", "/v1"},
		{"responses", "openai-responses", "/v1"},
		{"anthropic", "anthropic", ""},
		{"gemini", "gemini", ""},
		{"ollama", "ollama", ""},
	}
}

// full reports whether all is to be tried, and not only a sample.
func full() bool { return os.Getenv("KAGENT_WIRE") == "full" }

// programs are built once for all tests, into a directory that TestMain removes.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kagent-wire-")
	if err != nil {
		return "", err
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return dir, err
	}
	return dir, build(root, filepath.Join(dir, "kagent"))
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := programs(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func build(src, binary string) error {
	c := exec.Command("go", "build", "-o", binary, ".")
	c.Dir, c.Env = src, append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	if err != nil {
		return errors.New(string(out))
	}
	return nil
}

// server is the strict server with a scenario.
type server struct {
	bin, url, log string
}

// serve starts the server; it ends with the test. All its rules are on.
func serve(t *testing.T, scenario any) *server {
	t.Helper()
	src := providertest.Shared(t, "fakellm")
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{bin: filepath.Join(dir, "fakellm"), log: filepath.Join(t.TempDir(), "log.jsonl")}
	if _, err := os.Stat(s.bin); err != nil {
		if err := build(src, s.bin); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "scenario.json")
	raw, err := json.Marshal(scenario)
	if err != nil {
		t.Fatal(err)
	}
	put(t, file, string(raw))
	c := exec.Command(s.bin, "-scenario", file, "-log", s.log)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.url = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	return s
}

// request is a line of the server's log, as far as tests look at it.
type request struct {
	N        int
	Protocol string
	Model    string
	Body     map[string]any
	Rule     string
	Status   int
	Broken   []struct{ Rule, Message string } `json:"violations"`
}

// requests returns what the server has seen, in the order of arrival.
func (s *server) requests(t *testing.T) []request {
	t.Helper()
	raw, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	var all []request
	for line := range bytes.Lines(raw) {
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b request) int { return a.N - b.N })
	return all
}

// strict fails the test for each rule that a request has broken.
func (s *server) strict(t *testing.T) {
	t.Helper()
	for _, r := range s.requests(t) {
		for _, b := range r.Broken {
			body, _ := json.Marshal(r.Body)
			t.Errorf("%s: request %d breaks %s: %s\n%.2000s", r.Protocol, r.N, b.Rule, b.Message, body)
		}
	}
}

// ran is how a command ended.
type ran struct {
	code        int
	out, stderr string
}

// model is a model's name and the flags that lead to it.
func (p protocol) model(s *server, name string) []string {
	return []string{"--model", p.as + "/" + name, "--base-url", s.url + p.path}
}

// command is a call of the built program in dir.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(bin, "kagent"), args...)
	c.Dir = dir
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "KAGENT_STDIN=none",
		"OPENAI_API_KEY=test-openai", "ANTHROPIC_API_KEY=test-anthropic", "GEMINI_API_KEY=test-gemini",
	}
	return c
}

// kagent runs a command to its end, at most two minutes.
func kagent(t *testing.T, dir string, args ...string) ran {
	t.Helper()
	c := command(t, dir, args...)
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(2*time.Minute, func() { c.Process.Kill() })
	c.Wait()
	if !late.Stop() {
		t.Errorf("kagent %q did not end: %s", args, stderr.String())
	}
	return ran{c.ProcessState.ExitCode(), out.String(), stderr.String()}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// builtIn reads a scenario of the collection, with all rules on that hold for
// every protocol; change may bend it.
func builtIn(t *testing.T, name string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(providertest.Shared(t, "fakellm/scenarios"), name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	s["rules_on"] = rulesOn()
	return s
}

// rulesOn are the rules that are off by default.
func rulesOn() []string {
	return []string{"key_in_url", "reasoning_replay", "results_one_message", "roles_alternate", "thinking_required", "unknown_field"}
}
