package catalogue

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"kagent/pkg/message"
)

func built(t *testing.T, user string) *Catalogue {
	t.Helper()
	c, err := New("models.yaml", []byte(user))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestModelsAreMadeFromTheirSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir+"/source", os.DirFS("source")); err != nil {
		t.Fatal(err)
	}
	bin := dir + "/make"
	if out, err := exec.Command("go", "build", "-o", bin, "./make").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(bin)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made, err := os.ReadFile(dir + "/models.json")
	if err != nil || !bytes.Equal(made, modelData) {
		t.Errorf("models.json is not what `go generate` makes: %v", err)
	}
}

func TestEveryServiceHasAProtocolAndEveryModelAService(t *testing.T) {
	c := built(t, "")
	for _, s := range c.Services() {
		if !slices.Contains(Protocols(), s.Protocol) || s.Base == "" && s.BaseEnv == "" && s.Name != "openai-compatible" {
			t.Errorf("%+v", s)
		}
	}
	if n := len(c.Models()); n < 300 {
		t.Errorf("only %d models", n)
	}
	for _, m := range c.Models() {
		name, _, _ := strings.Cut(m.Name, "/")
		if _, ok := c.Service(name); !ok || m.Window <= 0 {
			t.Errorf("%+v", m)
		}
	}
}

func TestCostCountsWhatTheCacheGave(t *testing.T) {
	c := built(t, `{models: {x/m: {window: 10, price: {input: 10, output: 50, cache_read: 1, cache_write: 12.5}}, x/n: {price: {input: 2, output: 4}}, x/o: {window: 5}, x/free: {price: {input: 0, output: 0}}}}`)
	u := message.Usage{Input: 1000, CacheRead: 500, CacheWrite: 200, Output: 100, Reasoning: 60}
	for name, want := range map[string]float64{"x/m": 0.003 + 0.0005 + 0.0025 + 0.005, "x/n": 0.002 + 0.0004, "x/free": 0} {
		if got := c.Cost(name, u); got == nil || math.Abs(*got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, unknown := range []string{"x/o", "x/nothing", "demo", "", "script:a/b"} {
		if got := c.Cost(unknown, u); got != nil {
			t.Errorf("%q costs %v, and nobody knows it", unknown, *got)
		}
	}
}

func TestABareNameIsLookedFor(t *testing.T) {
	c := built(t, `{models: {deepseek/twice: {}, xai/twice: {}}}`)
	one := c.Models()[0].Name
	_, bare, _ := strings.Cut(one, "/")
	if got := c.Resolve(bare); !slices.Equal(got, []string{one}) {
		t.Errorf("%s is %q, want %s", bare, got, one)
	}
	if got := c.Resolve("twice"); !slices.Equal(got, []string{"deepseek/twice", "xai/twice"}) {
		t.Errorf("twice: %q", got)
	}
}

func TestTheResponsesProtocolHasTheSameModels(t *testing.T) {
	c := built(t, "")
	for _, m := range c.Models() {
		if rest, ok := strings.CutPrefix(m.Name, "openai/"); ok {
			got, ok := c.Model("openai-responses/" + rest)
			if !ok || got.Window != m.Window {
				t.Errorf("%s: %+v", rest, got)
			}
		}
	}
}

func TestAUsersFileAddsAndOverrides(t *testing.T) {
	c := built(t, `
services: {mine: {protocol: anthropic, base: "http://localhost:9/x", keys: [MY_KEY]}, groq: {protocol: openai-chat, base: "http://localhost:1"}}
models: {mine/模型: {window: 7, max_output: 3}, anthropic/claude-fable-5: {price: {input: 1, output: 2}}}`)
	if s, ok := c.Service("mine"); !ok || s.Keyless || s.Keys[0] != "MY_KEY" {
		t.Errorf("%+v", s)
	}
	if s, _ := c.Service("groq"); s.Base != "http://localhost:1" || !s.Keyless {
		t.Errorf("%+v", s)
	}
	if m, ok := c.Model("mine/模型"); !ok || m.Window != 7 || m.Price != nil {
		t.Errorf("%+v", m)
	}
	if m, _ := c.Model("anthropic/claude-fable-5"); m.Price.Input != 1 || m.Price.Output != 2 || m.Window < 100000 {
		t.Errorf("%+v", m)
	}
}

// Each field that a user does not give is the built-in one; where there is none, the
// price is not known, and never 0.
func TestAPartOfAPriceLeavesTheRestAsItIs(t *testing.T) {
	const name = "openai/gpt-5"
	known, _ := built(t, "").Model(name)
	for text, want := range map[string]Price{
		"{}":                         *known.Price,
		"{input: 0.5}":               {0.5, known.Price.Output, known.Price.CacheRead, known.Price.CacheWrite},
		"{output: 3}":                {known.Price.Input, 3, known.Price.CacheRead, known.Price.CacheWrite},
		"{output: 0, cache_read: 0}": {known.Price.Input, 0, 0, known.Price.CacheWrite},
		"{input: 0}":                 {0, known.Price.Output, known.Price.CacheRead, known.Price.CacheWrite},
		"{input: 1, output: null}":   {1, known.Price.Output, known.Price.CacheRead, known.Price.CacheWrite},
	} {
		c := built(t, "models: {"+name+": {window: 7, price: "+text+"}}")
		m, _ := c.Model(name)
		if *m.Price != want || m.Window != 7 || m.MaxOutput != known.MaxOutput || c.Lacks(name) != "" {
			t.Errorf("%s: %+v %+v, want %+v", text, m, *m.Price, want)
		}
		if as, _ := c.Model("openai-responses/gpt-5"); as.Window != 7 || *as.Price != want {
			t.Errorf("%s: the other way to it: %+v", text, as)
		}
	}
	const same = "openrouter/openai/gpt-5" // writing to its cache costs what input does
	if m, _ := built(t, "models: {"+same+": {price: {input: 0.5}}}").Model(same); m.Price.CacheWrite != 0.5 || m.Price.CacheRead != 0.125 {
		t.Errorf("%+v", m.Price)
	}
	for text, lacks := range map[string]string{"{}": "input", "{input: 1}": "output", "{output: 1}": "input", "{cache_read: 1}": "input", "{input: 0, output: 0}": ""} {
		c := built(t, "models: {x/new: {price: "+text+"}}")
		if m, _ := c.Model("x/new"); (m.Price == nil) != (lacks != "") || c.Lacks("x/new") != lacks || (c.Cost("x/new", message.Usage{Output: 1}) == nil) != (lacks != "") {
			t.Errorf("%s: %+v, lacks %q, want %q", text, m, c.Lacks("x/new"), lacks)
		}
	}
}

func TestAWrongUsersFileIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"models: [":                             "models.yaml",
		"modells: {}":                           "modells",
		"models: {a/b: {windw: 1}}":             "windw",
		"models: {a/b: {window: many}}":         "line 1: models.a/b.window: want a whole number, not a text",
		"models: {a/b: {window: -1}}":           "at least 0",
		"models: {a/b: {price: {input: -1}}}":   "no price",
		"models: {ab: {}}":                      "service/model",
		"services: {a/b: {protocol: gemini}}":   "no slash",
		"services: {a: {protocol: x, base: y}}": "protocol",
		"services: {a: {protocol: gemini}}":     "no base",
	} {
		_, err := New("models.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Each field of the file, with a value of each wrong kind: line, field, what is wanted.
func TestEachFieldOfAUsersFileSaysWhatItTakes(t *testing.T) {
	const model, service = "models:\n  a/b:\n    ", "services:\n  a:\n    protocol: gemini\n    base: http://h\n    "
	for field, want := range map[string]string{
		"services:":                          "names with their values",
		"models:":                            "names with their values",
		"models:\n  a/b:":                    "fields (window, max_output, price)",
		"services:\n  a:":                    "fields (protocol, base, keys, keyless)",
		model + "window:":                    "a whole number",
		model + "max_output:":                "a whole number",
		model + "price:":                     "fields (input, output, cache_read, cache_write)",
		model + "price:\n      input:":       "a number",
		model + "price:\n      output:":      "a number",
		model + "price:\n      cache_read:":  "a number",
		model + "price:\n      cache_write:": "a number",
		service + "keys:":                    "a list",
		service + "keyless:":                 "true or false",
		"services:\n  a:\n    protocol:":     "a text",
		"services:\n  a:\n    base:":         "a text",
	} {
		wrong := []string{"[[SECRET]]", "SECRET", "{}"}
		switch {
		case want == "a list":
			wrong[0] = "5"
		case want == "a text":
			wrong[1] = "[]"
		case strings.HasPrefix(want, "fields"), strings.HasPrefix(want, "names"):
			wrong[2] = "true"
		}
		line := fmt.Sprintf("models.yaml: line %d: ", 1+strings.Count(field, "\n"))
		for _, value := range wrong {
			_, err := New("models.yaml", []byte(field+" "+value+"\n"))
			if err == nil || !strings.HasPrefix(err.Error(), line) || !strings.Contains(err.Error(), ": want "+want+", not ") || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s %s: %v, want %s…%s", field, value, err, line, want)
			}
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for range b.N {
		if _, err := New("", nil); err != nil {
			b.Fatal(err)
		}
	}
}
