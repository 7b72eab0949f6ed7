package providertest

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
)

// RecordedErrors checks that each recorded error of the protocol gets the kind
// that the collection's makers saw in it, but for those in a.Differs.
func RecordedErrors(t *testing.T, a Adapter) {
	file, err := os.Open(Shared(t, "wire/errors.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		var e struct {
			ID, Protocol, Body, Kind string
			Status                   int
			Headers                  map[string]string
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Protocol != a.Protocol {
			continue
		}
		count++
		if kind, ok := a.Differs[e.ID]; ok {
			e.Kind = string(kind)
		}
		header := http.Header{}
		for k, v := range e.Headers {
			header.Set(k, v)
		}
		_, err := a.ask(t, Options{HTTPClient: canned(e.Status, header, strings.NewReader(e.Body))})
		if got := failed(t, err); string(got.Kind) != e.Kind {
			t.Errorf("%s: kind %s, want %s: %v", e.ID, got.Kind, e.Kind, got)
		}
	}
	if err := lines.Err(); err != nil || count == 0 {
		t.Errorf("%d errors of %s, %v", count, a.Protocol, err)
	}
}
