package checkpoint

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"kagent/pkg/session"
)

// Whatever a file holds, it is refused or becomes a sound log, and a conversation
// that a service takes.
func FuzzImportKagentTS(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(tsFiles, "*.json"))
	if err != nil || len(files) < 20 {
		f.Fatal(err, len(files))
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.ReplaceAll(b, []byte("You are a test assistant. Use the tools to answer. "), nil)) // small ones are changed faster
	}
	f.Add([]byte(ts("fusion", "active", `{"routingResult":{"complexity":"complex"},"completedSteps":[1e9,-1],"reflectionHistory":[{"ok":true}]}`, asked)))
	f.Add([]byte(ts("orchestrator", "completed", `{"taskGraph":{"nodes":[{"id":"a","startedAt":1e300,"durationMs":-1}]},"completedNodes":[["a","b"]]}`, asked)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if told, err := understand(b); err == nil {
			soundTale(t, told)
		}
		if told, lost, err := salvageTS(b); err == nil {
			soundTale(t, told)
			if lost[0].Offset < 0 || lost[0].Bytes < 0 {
				t.Fatalf("lost %+v of %d bytes", lost, len(b))
			}
		}
	})
}

func FuzzImportCheckpoint(f *testing.F) {
	s, _ := newTestStore(f.TempDir())
	twoTurns(f, s, true)
	check(f, orchestrate(f, s, "o", "do a").Close())
	finished(f, s, "f")
	for _, id := range []string{"s", "o", "f"} {
		f.Add(slurp(f, s.Path(id)))
	}
	f.Add([]byte(`{"schema":"kagent/checkpoint/v1","status":"completed","metadata":{"createdAt":"2026-01-01T00:00:00Z","updatedAt":"9999-12-31T23:59:59Z"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if told, err := understand(b); err == nil {
			soundTale(t, told)
		}
	})
}

// soundTale writes what a file tells as lines of a log, and looks at them as
// Verify does.
func soundTale(t *testing.T, file teller) {
	t.Helper()
	a := told(file, "s", "v1")
	v := &verification{store: &Store{}, id: "s", refs: map[string]int64{}, report: Report{OK: true}}
	var prev uint32
	for _, e := range a.events {
		var line bytes.Buffer
		crc, err := appendLine(&line, record{Event: e, prev: prev})
		if err != nil {
			t.Fatalf("event %d (%s): %v", e.Seq, e.Type, err)
		}
		rec, err := decodeLine(line.Bytes())
		if err != nil {
			t.Fatalf("event %d reads as %v: %s", e.Seq, err, line.Bytes())
		}
		prev = crc
		v.line(rec, 0, 0)
	}
	if len(v.report.Problems) > 0 {
		t.Fatalf("%+v", v.report.Problems)
	}
	paired(t, v.state.Main())
	if got, want := v.state.Main().Messages(), a.state.Main().Messages(); !reflect.DeepEqual(got, want) {
		t.Fatalf("read again it says\n%v\nnot\n%v", got, want)
	}
	if status, _ := v.state.Status(); status == session.Active {
		t.Fatal("it is active")
	}
	var im image
	if _, err := im.encode(&v.state, promise{}, false); err != nil {
		t.Fatal(err)
	}
}
