package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/secret"
)

// spellings are what the key may look like where it has leaked.
func spellings() []string {
	quoted, _ := json.Marshal(echoed)
	return []string{
		echoed, strings.Trim(string(quoted), `"`), quotedHalf, everyEscaped(echoed), html.EscapeString(echoed),
		url.QueryEscape(echoed), url.PathEscape(echoed), base64.StdEncoding.EncodeToString([]byte("user:" + echoed)),
	}
}

// clean fails the test if a text holds the key, however it is spelt.
func clean(t *testing.T, where, text string) {
	t.Helper()
	var keys secret.Keys
	keys.Add("", echoed)
	for _, s := range spellings() {
		if strings.Contains(text, s) {
			t.Errorf("%s holds the key as %s:\n%.1500s", where, s, text)
			return
		}
	}
	if keys.In(text) {
		t.Errorf("%s holds the key:\n%.1500s", where, text)
	}
}

// cleanFiles looks at every file below dir.
func cleanFiles(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		clean(t, path, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// asks runs a command whose key is in a variable that does not look like one.
func asks(t *testing.T, dir string, args ...string) ran {
	t.Helper()
	return asksWith(t, dir, "GATEWAY="+echoed+"\n", args...)
}

// asksWith does so with a variable.
func asksWith(t *testing.T, dir, variable string, args ...string) ran {
	t.Helper()
	c := command(t, dir, args...)
	c.Env = append(c.Env, variable)
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	c.Run()
	return ran{c.ProcessState.ExitCode(), out.String(), stderr.String()}
}

const keySchema = `{"type":"object","properties":{"key":{"type":"string"}},"required":["key"],"additionalProperties":false}`

func (p protocol) toEcho(e *echo, model string) []string {
	return []string{"run", "-s", "s", "--model", p.as + "/m-" + model, "--base-url", e.URL + p.path, "--api-key-env", "GATEWAY", "--retries", "1"}
}

func TestAKeyThatAServiceEchoesGetsNowhere(t *testing.T) {
	for _, p := range protocols() {
		for i, escaped := range []string{"", "events", "texts"} {
			for j, format := range []string{"text", "json", "jsonl"} {
				if !full() && i != j {
					continue
				}
				t.Run(p.name+"/"+escaped+"/"+format, func(t *testing.T) {
					t.Parallel()
					dir, e := t.TempDir(), newEcho(t, escaped)
					put(t, filepath.Join(dir, "schema.json"), keySchema)
					args := append(p.toEcho(e, "good"), "-o", format, "--allow", "write", "-v", "--record", "rec.json", "--log-file", "log", "--output-schema", "schema.json")
					if format == "text" {
						args = append(args, "--stream")
					}
					r := asks(t, dir, append(args, "go")...)
					if r.code != 0 || !strings.Contains(r.out, "[masked GATEWAY]") {
						t.Errorf("exit %d: %s\n%s", r.code, r.out, r.stderr)
					}
					clean(t, "stdout", r.out)
					clean(t, "stderr", r.stderr)
					cleanFiles(t, dir)
					if format == "jsonl" {
						cleanShown(t, dir)
					}
					if _, err := os.Stat(filepath.Join(dir, "key.txt")); err == nil {
						t.Error("a call with a mask in its arguments was run")
					}
					sentBack(t, p, e)
				})
			}
		}
	}
}

// cleanShown looks at what commands tell of a session.
func cleanShown(t *testing.T, dir string) {
	t.Helper()
	for _, show := range [][]string{
		{"show", "s"},
		{"show", "s", "--events"},
		{"show", "s", "--steps"},
		{"show", "s", "--messages"},
		{"show", "s", "-o", "json"},
		{"export", "s"},
		{"list", "-o", "json"},
		{"verify", "s"},
	} {
		r := asks(t, dir, show...)
		clean(t, strings.Join(show, " "), r.out+r.stderr)
		if r.code != 0 {
			t.Errorf("%q: exit %d: %s", show, r.code, r.stderr)
		}
	}
}

// sentBack looks at what went back to the service with the results: no key, and of
// what was signed nothing.
func sentBack(t *testing.T, p protocol, e *echo) {
	t.Helper()
	bodies := e.seen()
	if len(bodies) != 2 {
		t.Fatalf("%d requests", len(bodies))
	}
	clean(t, "the second request", bodies[1])
	if strings.Contains(bodies[1], sealed) {
		t.Errorf("a signature went back without what it has signed: %s", bodies[1])
	}
	unsigned := p.name == "chat" || p.name == "ollama"
	if got := strings.Contains(bodies[1], "hm [masked GATEWAY] it is"); got != unsigned {
		t.Errorf("the thought went back: %v, want %v: %s", got, unsigned, bodies[1])
	}
	if p.name == "gemini" && !strings.Contains(bodies[1], "skip_thought_signature_validator") {
		t.Errorf("a call without its signature has nothing in its place: %s", bodies[1])
	}
}

func TestAKeyInARefusalGetsNowhere(t *testing.T) {
	for _, p := range protocols() {
		for model := range refusals() {
			if !full() && p.name != "chat" && !slices.Contains([]string{"json", "page", "stream", "whole", "odd"}, model) {
				continue // the same code for all
			}
			t.Run(p.name+"/"+model, func(t *testing.T) {
				t.Parallel()
				dir, e := t.TempDir(), newEcho(t, "")
				r := asks(t, dir, append(p.toEcho(e, model), "-o", "jsonl", "-v", "--log-file", "log", "--record", "rec.json", "go")...)
				if r.code == 0 || r.code == 2 {
					t.Errorf("exit %d: %s\n%s", r.code, r.out, r.stderr)
				}
				clean(t, "stdout", r.out)
				clean(t, "stderr", r.stderr)
				cleanFiles(t, dir)
			})
		}
	}
}

// Whatever word a service ends its reply with: it is one that nobody knows.
func TestAKeyInTheEndOfAReplyGetsNowhere(t *testing.T) {
	for _, p := range protocols() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			dir, e := t.TempDir(), newEcho(t, "")
			r := asks(t, dir, append(p.toEcho(e, "ended"), "-o", "jsonl", "-v", "--log-file", "log", "--record", "rec.json", "go")...)
			clean(t, "stdout", r.out)
			clean(t, "stderr", r.stderr)
			cleanFiles(t, dir)
		})
	}
}

// Plans, routes, graphs, verdicts and summaries are made of what a model said.
func TestAKeyThatIsEchoedToAnyAgentGetsNowhere(t *testing.T) {
	for _, agent := range []string{"react", "plan-solve", "fusion", "orchestrator"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			dir, e := t.TempDir(), newEcho(t, "")
			p := protocols()[0]
			for _, args := range [][]string{
				append(p.toEcho(e, "good"), "-a", agent, "--max-steps", "4", "-o", "jsonl", "-v", "--log-file", "log", "go on"),
				{"resume", "s", "and " + echoed, "-v"},
				{"compact", "s", "--instructions", "keep " + echoed},
				{"show", "s", "--plan"},
				{"list"},
			} {
				r := asks(t, dir, args...)
				clean(t, args[0], r.out+r.stderr)
			}
			cleanFiles(t, dir)
		})
	}
}

// What was shown of a stream that is cut in the middle of the key does not end with
// most of it.
func TestHalfAKeyInACutStreamIsMasked(t *testing.T) {
	dir, e := t.TempDir(), newEcho(t, "")
	r := asks(t, dir, append(protocols()[0].toEcho(e, "half"), "--retries", "0", "--stream", "--allow-partial", "go")...)
	log, err := os.ReadFile(filepath.Join(dir, ".kagent-sessions", "s", "events.jsonl"))
	if err != nil || r.code != 75 || r.out != "said [masked GATEWAY]\n" {
		t.Errorf("exit %d: %q %s %v", r.code, r.out, r.stderr, err)
	}
	if text := r.out + r.stderr + string(log); strings.Contains(text, "hunter2+") || !strings.Contains(string(log), "said [masked GATEWAY]") {
		t.Errorf("half of the key is told: %s", text)
	}
}

// A key that is sent in another way is one all the same.
func TestAKeyInAHeaderOrAnAddressGetsNowhere(t *testing.T) {
	for name, way := range map[string]func(e *echo) (variable string, args []string){
		"header": func(e *echo) (string, []string) {
			return "GATEWAY=" + echoed, []string{"-m", "openai/m-x", "--base-url", e.URL + "/v1", "--header", "X-Way: $GATEWAY"}
		},
		"scheme": func(e *echo) (string, []string) {
			return "GATEWAY=Bearer " + echoed, []string{"-m", "openai/m-x", "--base-url", e.URL + "/v1", "--header", "X-Way: $GATEWAY"}
		},
		"basic": func(e *echo) (string, []string) {
			basic := base64.StdEncoding.EncodeToString([]byte("user:" + echoed))
			return "GATEWAY=Basic " + basic, []string{"-m", "openai/m-x", "--base-url", e.URL + "/v1", "--header", "X-Way: $GATEWAY"}
		},
		"address": func(e *echo) (string, []string) {
			u, _ := url.Parse(e.URL)
			u.User = url.UserPassword("user", echoed)
			return "OLLAMA_HOST=" + u.String(), []string{"-m", "ollama/m-x"}
		},
		"query": func(e *echo) (string, []string) {
			return "OLLAMA_HOST=" + e.URL + "?key=" + url.QueryEscape(echoed), []string{"-m", "ollama/m-x"}
		},
		"chain": func(e *echo) (string, []string) {
			return "OPENAI_API_KEY=" + echoed, []string{"-m", "ollama/m-x,openai/m-y", "--base-url", e.URL}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, model := range []string{"m-x", "m-json"} {
				dir, e := t.TempDir(), newEcho(t, "")
				variable, args := way(e)
				for i := range args {
					args[i] = strings.Replace(args[i], "m-x", model, 1)
				}
				args = append([]string{"run", "-s", "s", "-o", "jsonl", "-v", "--retries", "0", "--log-file", "log", "--allow", "write"}, args...)
				r := asksWith(t, dir, variable, append(args, "go")...)
				if r.code == 2 || model == "m-x" && r.code != 0 {
					t.Errorf("exit %d: %s", r.code, r.stderr)
				}
				clean(t, "stdout", r.out)
				clean(t, "stderr", r.stderr)
				cleanFiles(t, dir)
			}
		})
	}
}
