package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// What kagent writes fits the schemas that it prints.
func TestOutputsFitTheirSchemas(t *testing.T) {
	dir := t.TempDir()
	script := "replies:\n  - when: {tool_results: 0}\n    tool_calls: [{name: list_files, arguments: {path: .}}, {name: shell, arguments: {command: ls}}]\n  - text: done\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	run, out := kagentIn(t, dir, "run", "-q", "-s", "s", "-o", "jsonl", "--model", "script:s.yaml", "hi")
	run.Stderr = nil
	if err := run.Run(); err != nil {
		t.Fatal(err, out)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	seen := 0
	for _, line := range lines[:len(lines)-1] {
		if strings.Contains(line, `"assistant/delta"`) {
			continue
		}
		seen++
		fits(t, "event", []byte(line))
	}
	if seen < 10 {
		t.Errorf("only %d events in %s", seen, out)
	}
	fits(t, "result", []byte(lines[len(lines)-1]))
	checkpoint, err := os.ReadFile(filepath.Join(dir, ".kagent-sessions", "s.json"))
	if err != nil {
		t.Fatal(err)
	}
	fits(t, "checkpoint", checkpoint)

	var steps []json.RawMessage
	if err := json.Unmarshal([]byte(kagentSays(t, dir, "show", "s", "--steps", "-o", "json")), &steps); err != nil || len(steps) != 4 {
		t.Fatalf("%v, %d steps", err, len(steps))
	}
	for _, step := range steps {
		fits(t, "step", step)
	}

	bad, out := kagentIn(t, dir, "run", "-o", "json", "--nonsense")
	bad.Stderr = nil
	bad.Run()
	fits(t, "result", out.Bytes())
}

func fits(t *testing.T, name string, instance []byte) {
	t.Helper()
	var schema jsonschema.Schema
	b, err := schemaFiles.ReadFile("schemas/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	schema.ID = "" // a name, no address
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(instance, &v); err != nil {
		t.Fatalf("%v: %s", err, instance)
	}
	if err := resolved.Validate(v); err != nil {
		t.Errorf("%s: %v\n%s", name, err, instance)
	}
	if schema.Properties != nil {
		for key := range v.(map[string]any) {
			if schema.Properties[key] == nil {
				t.Errorf("%s: the schema does not know %q", name, key)
			}
		}
	}
}
